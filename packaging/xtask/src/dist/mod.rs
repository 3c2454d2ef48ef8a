//! Everything that a release has for this platform, in one folder, with the same bytes each time.

mod archive;
mod clock;
mod contents;
mod debian;
mod dependencies;
mod licences;
mod npm;
mod platform;
mod plugin;
mod sbom;
mod tree;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use stepstone_proto::protocol::VERSION;
use stepstone_tests::{Executables, workspace_root};

use crate::{build, say};

pub(crate) use contents::{RECORD, SKILL, installation, record};
use platform::Platform;

/// One line about the project, for package lists.
const DESCRIPTION: &str = "A repository's roadmap inside the repository, for people and coding agents";
/// Words that it is found by.
const KEYWORDS: [&str; 5] = ["roadmap", "goals", "planning", "mcp", "cli"];
/// Where the project is.
const REPOSITORY: &str = "https://github.com/stepstone-dev/stepstone";
/// Who made it.
const AUTHORS: &str = "The Stepstone authors";
/// The checksums of everything else in the folder; its being there marks a folder as one of ours.
const SUMS: &str = "SHA256SUMS";

/// Builds for release, or takes the executables of the directory `from`, and fills the folder `out`; what an earlier
/// run left there is replaced.
///
/// # Errors
/// When the build fails, a dependency has no licence text, `out` holds something else, or the system refuses a file.
pub(crate) fn run(from: Option<&Path>, out: Option<&Path>) -> Result<()> {
    let out = std::path::absolute(out.unwrap_or(&workspace_root().join("target/dist")))?;
    ensure_replaceable(&out)?;
    let executables = executables(from)?;
    let artifacts = artifacts(Platform::host()?, &executables, clock::epoch()?)?;
    let parent = out.parent().context("the folder lies in a directory")?;
    fs_err::create_dir_all(parent)?;
    // Whole or not at all: filled beside its place.
    let fresh = tempfile::Builder::new().prefix(".dist-").tempdir_in(parent)?;
    let mut sums = String::new();
    for (name, bytes) in &artifacts {
        fs_err::write(fresh.path().join(name), bytes)?;
        writeln!(sums, "{}  {name}", hex(&Sha256::digest(bytes)))?;
    }
    fs_err::write(fresh.path().join(SUMS), &sums)?;
    if out.exists() {
        fs_err::remove_dir_all(&out)?;
    }
    fs_err::rename(fresh.keep(), &out)?;
    say::line(format!("{}:\n{}", out.display(), sums.trim_end()));
    Ok(())
}

/// The executables in a directory, or else fresh ones, built for release.
///
/// # Errors
/// When one is missing, or the build fails.
pub(crate) fn executables(from: Option<&Path>) -> Result<Executables> {
    let Some(from) = from else { return build::release() };
    let found = Executables::within(&std::path::absolute(from)?);
    for path in [&found.cli, &found.mcp, &found.daemon] {
        ensure!(path.is_file(), "{} is missing", path.display());
    }
    Ok(found)
}

/// Pages in the repository that are rendered from the contract or the version: where they are, below the workspace,
/// and their whole text.
pub(crate) fn pages() -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let plugin = plugin::folder(VERSION);
    let mut pages: Vec<_> = plugin
        .files()
        .map(|(path, file)| (format!("{}/{path}", plugin::FOLDER), text(&file.bytes)))
        .collect();
    pages.push((".claude-plugin/marketplace.json".to_owned(), plugin::repository_marketplace(VERSION)));
    pages.push((format!("{}/package.json", npm::LAUNCHER), npm::launcher_manifest(VERSION)));
    pages
}

/// Every artifact for a platform by its file name.
fn artifacts(platform: Platform, executables: &Executables, epoch: u64) -> Result<BTreeMap<String, Vec<u8>>> {
    let compiler = platform::compiler()?;
    let dependencies = dependencies::all(platform.triple)?;
    let licences = licences::text(&dependencies, &compiler)?;
    let sbom = sbom::document(&dependencies, VERSION, platform.triple, &compiler, epoch)?;
    let installation = installation(executables)?;
    let named = format!("stepstone-{VERSION}-{}", platform.triple);

    let mut artifacts = BTreeMap::new();
    let mut put = |name: String, bytes: Vec<u8>| artifacts.insert(name, bytes);
    if let Some(architecture) = platform.debian {
        let package = debian::package(architecture, VERSION, &installation, &licences, epoch)?;
        put(format!("stepstone_{VERSION}_{architecture}.deb"), package);
    }
    let npm_package = |tree| archive::tar_gz(&tree, "package/", false, epoch);
    put(npm::packed_name("stepstone", VERSION), npm_package(npm::launcher(VERSION)?)?);
    put(
        npm::packed_name(&platform.npm_package(), VERSION),
        npm_package(npm::programs(platform, VERSION, executables, &licences)?)?,
    );
    let plugin = format!("stepstone-claude-code-{VERSION}");
    put(
        format!("{plugin}.tar.gz"),
        archive::tar_gz(&plugin::folder(VERSION), &format!("{plugin}/"), true, epoch)?,
    );
    let mut whole = installation;
    whole.add("share/doc/stepstone/THIRD-PARTY-LICENSES.txt", licences.as_str());
    whole.add("share/doc/stepstone/sbom.cdx.json", sbom.as_str());
    // So that what was unpacked below a prefix can be removed again.
    whole.add(RECORD, "");
    whole.add(RECORD, record(&whole));
    put(format!("{named}.tar.gz"), archive::tar_gz(&whole, &format!("{named}/"), true, epoch)?);
    put(format!("{named}-licenses.txt"), licences.into_bytes());
    put(format!("{named}.cdx.json"), sbom.into_bytes());
    Ok(artifacts)
}

/// An empty or missing folder, or one that an earlier run filled.
fn ensure_replaceable(out: &Path) -> Result<()> {
    let is_free = match fs_err::read_dir(out) {
        Ok(mut entries) => entries.next().is_none() || out.join(SUMS).is_file(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(error.into()),
    };
    ensure!(is_free, "{} holds something else: name another folder with --out", out.display());
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
