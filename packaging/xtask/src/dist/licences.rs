//! The licences of everything in the executables, in one text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::dependencies::Dependency;

/// How files with a licence, or with what a licence asks to be passed on, begin; letters in any case.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];
/// One more, which stands for itself.
const UNLICENSE: &str = "UNLICENSE";

/// The whole text: first each package with its licence, then each distinct licence text with the packages that it
/// came with.
///
/// # Errors
/// When a package comes without a licence text, or a file cannot be read.
pub(crate) fn text(dependencies: &[Dependency], compiler: &str) -> Result<String> {
    let compiler = compiler.lines().next().unwrap_or_default();
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dependency in dependencies.iter().filter(|dependency| !dependency.is_own()) {
        let at = dependency.repository.as_deref().unwrap_or("-");
        writeln!(list, "{} {}\n    {}\n    {at}", dependency.name, dependency.version, dependency.licence)?;
        for text in licence_texts(dependency)? {
            texts.entry(text).or_default().push(format!("{} {}", dependency.name, dependency.version));
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, users)| (users, text)).collect();
    texts.sort();
    let mut page = format!(
        "Licences of what is in Stepstone's executables\n\
         ==============================================\n\n\
         Stepstone itself is under the MIT licence; see LICENSE. Its executables contain the packages below, each\n\
         under the licence named beneath it, and the Rust standard library ({compiler}; MIT OR Apache-2.0;\n\
         https://github.com/rust-lang/rust). The texts that the packages came with follow.\n\n{list}"
    );
    for (users, text) in texts {
        write!(page, "\n{}\n{}\n{}\n\n{text}\n", "-".repeat(72), wrapped(&users), "-".repeat(72))?;
    }
    Ok(page)
}

/// The licence texts in a package's own directory, in the order of the files' names.
fn licence_texts(dependency: &Dependency) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(&dependency.directory)? {
        let path = entry?.path();
        if path.is_file() && is_licence(&path) {
            let bytes = fs_err::read(&path)?;
            let text =
                String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", path.display()))?;
            found.push((path, trimmed(&text)));
        }
    }
    ensure!(
        !found.is_empty(),
        "{} comes without a licence text ({}): it cannot be passed on",
        dependency.key(),
        dependency.directory.display()
    );
    found.sort();
    Ok(found.into_iter().map(|(_, text)| text).collect())
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    name.starts_with(UNLICENSE) || NAMES.iter().any(|begin| name.starts_with(begin))
}

/// Without what does not make another text: line ends, blanks at line ends, blank lines around it.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

fn wrapped(words: &[String]) -> String {
    let mut lines = vec![String::new()];
    for (index, word) in words.iter().enumerate() {
        let word = if index + 1 < words.len() { format!("{word},") } else { word.clone() };
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = word,
            Some(line) if line.len() + 1 + word.len() <= 72 => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines.join("\n")
}
