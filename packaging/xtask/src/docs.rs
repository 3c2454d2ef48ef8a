//! The pages that are rendered from the contract.

use anyhow::{Result, ensure};
use stepstone_tests::workspace_root;

use crate::say;

/// A page: where it is, below the workspace, and its whole text.
struct Page {
    path: String,
    text: String,
}

fn pages() -> Vec<Page> {
    crate::dist::pages().into_iter().map(|(path, text)| Page { path, text }).collect()
}

/// Writes the pages that differ, or with `check` only names them.
///
/// # Errors
/// When a page differs and only checking was asked for, or a page cannot be written.
pub(crate) fn run(check: bool) -> Result<()> {
    let pages = pages();
    let mut differing = Vec::new();
    for page in &pages {
        let path = workspace_root().join(&page.path);
        if fs_err::read(&path).ok().as_deref() == Some(page.text.as_bytes()) {
            continue;
        }
        differing.push(page.path.as_str());
        if !check {
            if let Some(directory) = path.parent() {
                fs_err::create_dir_all(directory)?;
            }
            fs_err::write(&path, &page.text)?;
            say::line(format!("wrote {}", page.path));
        }
    }
    ensure!(
        !check || differing.is_empty(),
        "not as the contract renders them: {}\nrun `cargo xtask docs` and commit the result",
        differing.join(", ")
    );
    say::line(format!("{} rendered pages are current", pages.len()));
    Ok(())
}
