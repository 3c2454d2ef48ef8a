//! `cargo xtask dist`: the folder as a whole, and the archive for a prefix.

use std::os::unix::fs::PermissionsExt;

use stepstone_tests::{Executables, Run, Sandbox, workspace_root};

use super::{VERSION, artifact, contents, is_here, pack, release, small_executables, unpack, xtask};

#[test]
fn the_same_source_gives_the_same_bytes_again_elsewhere() {
    let first = contents(release());
    let sandbox = Sandbox::without_repository();
    let out = sandbox.base().join("somewhere/else");
    let from = small_executables(&sandbox.base().join("from"));
    // What must not matter: the place, the time zone, the language, the mask for new files.
    let mut again = pack(&sandbox, &from, &out).env("TZ", "Asia/Kathmandu").env("LC_ALL", "tr_TR.UTF-8");
    let program = again.command().get_program().to_owned();
    let arguments: Vec<_> = again.command().get_args().map(ToOwned::to_owned).collect();
    let mut masked = Run::new(sandbox.command("/bin/sh"));
    for (name, value) in again.command().get_envs() {
        masked = masked.env(name, value.unwrap_or_default());
    }
    masked
        .within(sandbox.base())
        .args(["-c", "umask 077; exec \"$0\" \"$@\""])
        .arg(program)
        .args(arguments)
        .finish()
        .ended(0);
    let second = contents(&out);
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (name, bytes) in &first {
        assert!(second[name] == *bytes, "{name} has other bytes");
    }
}

#[test]
fn a_folder_with_something_else_in_it_is_not_replaced() {
    let sandbox = Sandbox::without_repository();
    let out = sandbox.base().join("precious");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("notes"), "mine").unwrap();
    let refused = pack(&sandbox, release(), &out).finish();
    refused.ended(1);
    assert!(refused.err().contains("precious") && refused.err().contains("--out"), "{}", refused.err());
    assert_eq!(contents(&out).len(), 1);
}

#[test]
fn every_file_is_in_the_checksums_and_they_hold() {
    let sums = std::fs::read_to_string(release().join("SHA256SUMS")).unwrap();
    let mut listed: Vec<&str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
    listed.push("SHA256SUMS");
    listed.sort_unstable();
    assert_eq!(contents(release()).keys().map(String::as_str).collect::<Vec<_>>(), listed);
    if is_here("checksums", "sha256sum") {
        let sandbox = Sandbox::without_repository();
        let check = Run::new(sandbox.command("sha256sum")).within(release());
        check.args(["--check", "--strict", "SHA256SUMS"]).finish().ended(0);
    }
}

#[test]
fn the_archive_unpacked_below_a_prefix_is_an_installation() {
    let sandbox = Sandbox::new();
    let prefix = sandbox.base().join("prefix");
    unpack(&sandbox, &artifact("gnu.tar.gz"), &prefix, &["--strip-components=1"]);
    let files = contents(&prefix);
    let record = String::from_utf8(files["share/stepstone/installed-files"].clone()).unwrap();
    assert_eq!(files.keys().map(String::as_str).collect::<Vec<_>>(), record.lines().collect::<Vec<_>>());
    for program in ["stepstone", "stepstone-mcp", "stepstoned"] {
        let mode = std::fs::metadata(prefix.join("bin").join(program)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{program}");
    }
    for paper in ["LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY-LICENSES.txt", "sbom.cdx.json"] {
        assert!(files.contains_key(&format!("share/doc/stepstone/{paper}")), "{paper} is missing");
    }

    let sandbox = sandbox.with_executables(Executables::within(&prefix.join("bin")));
    assert_eq!(sandbox.cli(["--version"]).finish().ended(0).trim(), format!("stepstone {VERSION}"));
    sandbox.cli(["add", "From the archive"]).finish().ended(0);
    assert_eq!(sandbox.mcp().read("stepstone://worklist/next").id(), "from-the-archive");
    sandbox.cli(["daemon", "stop"]).finish().ended(0);

    xtask(&sandbox, &["uninstall", "--prefix"]).arg(&prefix).finish().ended(0);
    assert_eq!(std::fs::read_dir(&prefix).unwrap().count(), 0);
}

#[test]
fn the_release_workflows_own_try_of_the_folder_holds() {
    let sandbox = Sandbox::without_repository();
    let smoke = Run::new(sandbox.command(workspace_root().join("packaging/smoke.sh"))).arg(release());
    assert!(smoke.finish().ended(0).contains("everything was as expected"));
}
