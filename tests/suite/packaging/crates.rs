//! What `cargo publish` would send, and `cargo install` would find.

use std::path::Path;
use std::process::{Command, Stdio};

use stepstone_tests::{Sandbox, workspace_root};

use super::{VERSION, contents, unpack};

/// The crates with the programs, and what those need; each only needs those before it.
const CRATES: [&str; 5] =
    ["stepstone-proto", "stepstone-client", "stepstone-daemon", "stepstone-mcp", "stepstone"];

#[test]
fn every_crate_can_be_packed_with_its_papers_and_says_what_it_is() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut package = Command::new(cargo);
    package.current_dir(workspace_root()).args([
        "package",
        "--quiet",
        "--offline",
        "--no-verify",
        "--allow-dirty",
    ]);
    package.args(CRATES.iter().flat_map(|name| ["-p", name])).arg("--target-dir").arg(&target);
    let output = package.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let sandbox = Sandbox::without_repository();
    for name in CRATES {
        let archive = target.join(format!("package/{name}-{VERSION}.crate"));
        let unpacked = sandbox.base().join(name);
        unpack(&sandbox, &archive, &unpacked, &["--strip-components=1"]);
        let files = contents(&unpacked);
        let read = |file: &str| String::from_utf8(files[file].clone()).unwrap();
        assert!(read("LICENSE").starts_with("MIT License"), "{name}");
        assert!(read("README.md").starts_with("# Stepstone"), "{name}");
        let manifest = read("Cargo.toml");
        let fields = [
            "description",
            "license",
            "repository",
            "homepage",
            "readme",
            "keywords",
            "categories",
            "rust-version",
        ];
        for field in fields {
            assert!(manifest.contains(&format!("\n{field} = ")), "{name} has no {field}");
        }
        // A dependency by path alone would be lost on the way.
        for other in CRATES.iter().filter(|other| manifest.contains(&format!("[dependencies.{other}]"))) {
            let version = format!("[dependencies.{other}]\nversion = \"={VERSION}\"");
            assert!(manifest.contains(&version), "{name} asks for another {other}");
        }
    }
}
