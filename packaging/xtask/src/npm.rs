//! The npm packages: a launcher, and the native programs of one platform.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use stepstone_tests::{Executables, workspace_root};

use crate::say;

/// The platforms that there is a package for: Node's names for system and processor, and the C library where it
/// matters.
const PLATFORMS: [(&str, &str, Option<&str>); 4] = [
    ("linux", "x64", Some("glibc")),
    ("linux", "arm64", Some("glibc")),
    ("darwin", "x64", None),
    ("darwin", "arm64", None),
];

/// What the launcher package holds beside its manifest.
const LAUNCHER: [&str; 4] = ["launch.js", "bin/stepstone.js", "bin/stepstone-mcp.js", "README.md"];

/// Lays out the launcher and this platform's package below `out`, with these executables.
///
/// # Errors
/// When there is no package for this platform, or the system refuses a file.
pub(crate) fn lay_out(built: &Executables, out: &Path) -> Result<()> {
    let version = stepstone_proto::protocol::VERSION;
    let launcher = out.join("stepstone");
    for name in LAUNCHER {
        copy(&workspace_root().join("packaging/npm").join(name), &launcher.join(name))?;
    }
    write_manifest(&launcher, &launcher_manifest(version))?;

    let (system, processor) = this_platform()?;
    let platform = out.join(format!("{system}-{processor}"));
    for path in [&built.cli, &built.mcp, &built.daemon] {
        let place = platform.join("bin").join(path.file_name().context("an executable has a name")?);
        copy(path, &place)?;
        fs_err::set_permissions(&place, std::fs::Permissions::from_mode(0o755))?;
    }
    write_manifest(&platform, &platform_manifest(version, system, processor))?;
    for directory in [&launcher, &platform] {
        copy(&workspace_root().join("LICENSE"), &directory.join("LICENSE"))?;
        say::line(format!("laid out {}", directory.display()));
    }
    Ok(())
}

fn launcher_manifest(version: &str) -> Value {
    let natives: serde_json::Map<String, Value> = PLATFORMS
        .iter()
        .map(|(system, processor, _)| (format!("@stepstone-dev/{system}-{processor}"), version.into()))
        .collect();
    let mut manifest =
        common("stepstone", version, "A repository's roadmap at the command line and over MCP");
    manifest["bin"] = json!({ "stepstone": "bin/stepstone.js", "stepstone-mcp": "bin/stepstone-mcp.js" });
    manifest["engines"] = json!({ "node": ">=20" });
    manifest["optionalDependencies"] = natives.into();
    manifest
}

fn platform_manifest(version: &str, system: &str, processor: &str) -> Value {
    let name = format!("@stepstone-dev/{system}-{processor}");
    let mut manifest =
        common(&name, version, &format!("Stepstone's native programs for {system} on {processor}"));
    manifest["os"] = json!([system]);
    manifest["cpu"] = json!([processor]);
    let libc = PLATFORMS.iter().find(|(s, p, _)| *s == system && *p == processor).and_then(|found| found.2);
    if let Some(libc) = libc {
        manifest["libc"] = json!([libc]);
    }
    manifest
}

fn common(name: &str, version: &str, description: &str) -> Value {
    let repository = env!("CARGO_PKG_REPOSITORY");
    json!({
        "name": name,
        "version": version,
        "description": description,
        "license": "MIT",
        "repository": { "type": "git", "url": format!("git+{repository}.git") },
    })
}

/// Node's names for the platform that this was built for.
fn this_platform() -> Result<(&'static str, &'static str)> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => bail!("there is no package for {other}"),
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("there is no package for {other}"),
    };
    Ok((system, processor))
}

fn write_manifest(directory: &Path, manifest: &Value) -> Result<()> {
    Ok(fs_err::write(directory.join("package.json"), format!("{manifest:#}\n"))?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to.parent().context("a file lies in a directory")?)?;
    fs_err::copy(from, to)?;
    Ok(())
}
