//! The npm packages: one with the launcher, and one with the programs of each platform.

use anyhow::Result;
use serde_json::{Map, Value, json};
use stepstone_tests::{Executables, workspace_root};

use super::platform::Platform;
use super::tree::Tree;
use super::{DESCRIPTION, KEYWORDS, REPOSITORY};

/// Where the launcher's package is, below the workspace.
pub(crate) const LAUNCHER: &str = "packaging/npm/stepstone";

/// The launcher's files, beside its manifest.
const LAUNCHER_FILES: &[(&str, bool)] = &[
    ("README.md", false),
    ("bin/stepstone.js", true),
    ("bin/stepstone-mcp.js", true),
    ("lib/launch.js", false),
];

/// The name of a package's tarball, as `npm pack` gives it.
pub(crate) fn packed_name(package: &str, version: &str) -> String {
    format!("{}-{version}.tgz", package.trim_start_matches('@').replace('/', "-"))
}

/// `package.json` of the package `stepstone`. It has no scripts: nothing is run when it is installed.
pub(crate) fn launcher_manifest(version: &str) -> String {
    let platforms: Map<String, Value> =
        Platform::all().iter().map(|platform| (platform.npm_package(), json!(version))).collect();
    let manifest = json!({
        "name": "stepstone",
        "version": version,
        "description": DESCRIPTION,
        "keywords": KEYWORDS,
        "homepage": format!("{REPOSITORY}#readme"),
        "bugs": format!("{REPOSITORY}/issues"),
        "repository": { "type": "git", "url": format!("git+{REPOSITORY}.git"), "directory": LAUNCHER },
        "license": "MIT",
        "type": "commonjs",
        "bin": { "stepstone": "bin/stepstone.js", "stepstone-mcp": "bin/stepstone-mcp.js" },
        "files": ["bin", "lib"],
        "engines": { "node": ">=20" },
        "optionalDependencies": platforms,
    });
    format!("{manifest:#}\n")
}

/// The package `stepstone`, as it is packed.
///
/// # Errors
/// When one of its files cannot be read.
pub(crate) fn launcher(version: &str) -> Result<Tree> {
    let mut tree = Tree::default();
    tree.add("package.json", launcher_manifest(version));
    tree.add("LICENSE", fs_err::read(workspace_root().join("LICENSE"))?);
    for (path, executable) in LAUNCHER_FILES {
        let bytes = fs_err::read(workspace_root().join(LAUNCHER).join(path))?;
        if *executable {
            tree.add_program(*path, bytes);
        } else {
            tree.add(*path, bytes);
        }
    }
    Ok(tree)
}

/// The package with the programs for one platform.
///
/// # Errors
/// When a program cannot be read.
pub(crate) fn programs(
    platform: Platform,
    version: &str,
    executables: &Executables,
    licences: &str,
) -> Result<Tree> {
    let name = platform.npm_package();
    let mut manifest = json!({
        "name": name,
        "version": version,
        "description": format!("The native programs of stepstone for {} on {}", platform.os, platform.cpu),
        "homepage": format!("{REPOSITORY}#readme"),
        "repository": { "type": "git", "url": format!("git+{REPOSITORY}.git") },
        "license": "MIT",
        "files": ["bin", "THIRD-PARTY-LICENSES.txt"],
        "os": [platform.os],
        "cpu": [platform.cpu],
        // Package managers that keep packages zipped must not do so with programs.
        "preferUnplugged": true,
    });
    if platform.os == "linux" {
        manifest["libc"] = json!(["glibc"]);
    }
    let mut tree = Tree::default();
    tree.add("package.json", format!("{manifest:#}\n"));
    tree.add(
        "README.md",
        format!(
            "# {name}\n\nThe native programs of the package `stepstone` for {} on {}.\n\
             Install that one, which brings this one along.\n",
            platform.os, platform.cpu
        ),
    );
    tree.add("LICENSE", fs_err::read(workspace_root().join("LICENSE"))?);
    tree.add("THIRD-PARTY-LICENSES.txt", licences);
    for (name, path) in [
        ("stepstone", &executables.cli),
        ("stepstone-mcp", &executables.mcp),
        ("stepstoned", &executables.daemon),
    ] {
        tree.add_program(format!("bin/{name}"), fs_err::read(path)?);
    }
    Ok(tree)
}
