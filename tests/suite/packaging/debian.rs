//! The Debian package, installed and removed in a root of its own.

use std::path::PathBuf;

use stepstone_tests::{Executables, Run, Sandbox};

use super::{artifact, contents, is_here};

/// A root with an empty package database. Nothing of the system's own database is read or written.
fn root(sandbox: &Sandbox) -> PathBuf {
    let root = sandbox.base().join("root");
    for directory in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/log"] {
        std::fs::create_dir_all(root.join(directory)).unwrap();
    }
    std::fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    std::fs::write(root.join("var/lib/dpkg/available"), "").unwrap();
    root
}

fn dpkg(sandbox: &Sandbox, root: &std::path::Path, arguments: &[&str]) -> Run {
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    Run::new(sandbox.command("dpkg"))
        .env("PATH", path)
        .args(["--force-not-root", "--force-script-chrootless", "--force-depends"])
        .arg("--root")
        .arg(root)
        .arg("--log")
        .arg(root.join("var/log/dpkg.log"))
        .args(arguments)
}

/// What the package brought into the root.
fn brought(root: &std::path::Path) -> Vec<String> {
    contents(root).into_keys().filter(|name| !name.starts_with("var/")).collect()
}

#[test]
fn the_package_is_installed_runs_and_is_removed_without_a_trace() {
    if !is_here("debian", "dpkg") {
        return;
    }
    let sandbox = Sandbox::new();
    let package = artifact(".deb");
    let root = root(&sandbox);
    dpkg(&sandbox, &root, &["--install"]).arg(&package).finish().ended(0);
    let expected = [
        "usr/bin/stepstone",
        "usr/bin/stepstone-mcp",
        "usr/bin/stepstoned",
        "usr/share/bash-completion/completions/stepstone",
        "usr/share/doc/stepstone/THIRD-PARTY-LICENSES.txt.gz",
        "usr/share/doc/stepstone/changelog.gz",
        "usr/share/doc/stepstone/copyright",
        "usr/share/fish/vendor_completions.d/stepstone.fish",
        "usr/share/man/man1/stepstone-mcp.1.gz",
        "usr/share/man/man1/stepstone.1.gz",
        "usr/share/man/man1/stepstoned.1.gz",
        "usr/share/stepstone/skills/stepstone/SKILL.md",
        "usr/share/zsh/vendor-completions/_stepstone",
    ];
    assert_eq!(brought(&root), expected);
    let verified = dpkg(&sandbox, &root, &["--verify", "stepstone"]).finish();
    assert_eq!(verified.ended(0), "");

    let sandbox = sandbox.with_executables(Executables::within(&root.join("usr/bin")));
    sandbox.cli(["add", "From the package"]).finish().ended(0);
    assert_eq!(sandbox.mcp().read("stepstone://worklist/next").id(), "from-the-package");
    sandbox.cli(["daemon", "stop"]).finish().ended(0);

    dpkg(&sandbox, &root, &["--purge", "stepstone"]).finish().ended(0);
    assert_eq!(brought(&root), Vec::<String>::new());
}

#[test]
fn the_package_says_what_it_is_and_what_it_needs() {
    if !is_here("debian", "dpkg-deb") {
        return;
    }
    let sandbox = Sandbox::without_repository();
    let field = |name: &str| {
        let run = Run::new(sandbox.command("dpkg-deb")).arg("--field").arg(artifact(".deb"));
        run.arg(name).finish().ended(0).trim().to_owned()
    };
    assert_eq!(field("Package"), "stepstone");
    assert_eq!(field("Version"), super::VERSION);
    assert!(["amd64", "arm64"].contains(&field("Architecture").as_str()));
    let needs = field("Depends");
    assert!(needs.contains("git") && needs.contains("libc6 (>= 2."), "{needs}");
    let listed =
        Run::new(sandbox.command("dpkg-deb")).arg("--contents").arg(artifact(".deb")).finish().ended(0);
    assert!(listed.lines().all(|line| line.contains(" 0/0 ") || line.contains("root/root")), "{listed}");
}
