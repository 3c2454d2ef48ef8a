//! Any working directory, and one worklist however it is spelled.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use stepstone_tests::{Goal, Run, Sandbox, skipped, worklist};

use super::served_by_the_daemon;

/// What a command line in `directory` answers after `before` was run there.
fn in_shell(sandbox: &Sandbox, before: &str, arguments: &[&str]) -> stepstone_tests::Finished {
    let mut shell = sandbox.command("sh");
    shell.args(["-c", &format!("{before}\nexec \"$CLI\" \"$@\""), "sh"]).args(arguments);
    shell.env("CLI", &sandbox.executables().cli);
    Run::new(shell).finish()
}

#[test]
fn a_deleted_directory_is_named_and_nothing_is_made() {
    let sandbox = Sandbox::new();
    for daemon in [false, true] {
        if daemon {
            served_by_the_daemon(&sandbox);
        }
        let gone = sandbox.path("gone");
        std::fs::create_dir(&gone).unwrap();
        let run = in_shell(&sandbox, "cd gone && rmdir ../gone", &["list", "--json"]);
        let answer = run.envelope();
        let details = answer.refused_with("UNAVAILABLE", "provide-existing-directory");
        assert!(details.to_string().contains("gone") || answer.0.to_string().contains("gone"), "{details}");
        let run =
            in_shell(&sandbox, "mkdir gone && cd gone && rmdir ../gone", &["daemon", "status", "--json"]);
        assert_eq!(run.envelope().result()["running"], true);
    }
}

#[test]
fn a_directory_that_was_made_again_at_the_same_place_is_the_new_one() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let before = "mkdir again && cd again && rmdir ../again && mkdir ../again";
    let run = in_shell(&sandbox, before, &["list", "--json"]);
    assert_eq!(run.envelope().ids(), ["one"]);
}

#[test]
fn the_root_directory_and_a_home_without_a_repository_say_what_to_do() {
    let sandbox = Sandbox::without_repository();
    for directory in [std::path::Path::new("/"), &sandbox.home()] {
        let answer = sandbox.cli(["add", "One"]).within(directory).json();
        answer.refused_with("UNAVAILABLE", "run-inside-git-repository");
        assert!(!directory.join(".worklist").exists());
        let answer = sandbox.session().within(directory).start().call("add", json!({"title": "One"}));
        answer.refused_with("UNAVAILABLE", "run-inside-git-repository");
    }
    served_by_the_daemon(&Sandbox::new());
}

#[test]
fn an_unreadable_directory_is_worked_in_as_far_as_git_can() {
    if !rustix::process::geteuid().is_root() {
        return skipped("an unreadable directory", "only root can become another user");
    }
    let user = 61_235;
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let run = Run::new(sandbox.command("chown"));
    run.args(["-R", &format!("{user}:{user}")]).arg(sandbox.base()).finish().ended(0);
    let closed = sandbox.path("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o311)).unwrap();
    let as_user = |arguments: &[&str]| {
        let mut command = sandbox.command("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
        command.arg(&sandbox.executables().cli).args(arguments).current_dir(&closed);
        Run::new(command).finish()
    };
    let list = as_user(&["list", "--json"]);
    if list.err().contains("setpriv") {
        return skipped("an unreadable directory", &list.err());
    }
    assert_eq!(list.envelope().ids(), ["one"]);
    as_user(&["daemon", "stop"]).ended(0);
}

#[test]
fn a_repository_removed_and_made_again_under_the_daemon_is_the_new_one() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let mut session = sandbox.mcp();
    assert_eq!(sandbox.cli(["add", "Old"]).json().id(), "old");
    for round in 0..3 {
        std::fs::remove_dir_all(sandbox.root()).unwrap();
        let answer = sandbox.cli(["list"]).within(sandbox.base()).json();
        answer.refused_with("UNAVAILABLE", "run-inside-git-repository");
        std::fs::create_dir(sandbox.root()).unwrap();
        sandbox.git(["init", "-q", "-b", "main"]);
        assert_eq!(sandbox.cli(["list"]).json().ids(), [""; 0], "{round}");
        assert_eq!(sandbox.cli(["add", "New"]).json().id(), "new");
        assert_eq!(session.read("stepstone://worklist/list").ids(), ["new"]);
    }
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn every_spelling_of_a_directory_leads_to_one_worklist() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    std::fs::create_dir_all(sandbox.path("deep/down")).unwrap();
    let link = sandbox.base().join("link");
    std::os::unix::fs::symlink(sandbox.root(), &link).unwrap();
    let into = sandbox.base().join("into");
    std::os::unix::fs::symlink(sandbox.path("deep/down"), &into).unwrap();
    let spellings = [
        sandbox.root(),
        sandbox.path("deep/../deep/./down"),
        sandbox.base().join("home/../repo//deep"),
        link.clone(),
        link.join("deep/down/.."),
        into,
    ];
    for spelling in &spellings {
        assert_eq!(sandbox.cli(["list"]).within(spelling).json().ids(), ["one"]);
        let answer = sandbox.cli(["list", "--cwd"]).arg(spelling).within("/").json();
        assert_eq!(answer.ids(), ["one"], "{}", spelling.display());
    }
    let status = sandbox.cli(["daemon", "status"]).json();
    let open = status.result()["worklists"].as_array().unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
}

#[test]
fn a_bind_mounted_repository_is_the_same_worklist() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("one")]));
    let mounted = sandbox.base().join("mounted");
    std::fs::create_dir(&mounted).unwrap();
    // The daemon sees the mount too: all of this runs in one mount namespace.
    let script = "mount --bind \"$ROOT\" \"$MOUNTED\" || exit 77\n\
                  \"$CLI\" list --json --cwd \"$ROOT\" >/dev/null && \"$CLI\" add Two --json --cwd \"$MOUNTED\" >/dev/null\n\
                  \"$CLI\" list --json --cwd \"$ROOT\" && \"$CLI\" daemon status --json && \"$CLI\" daemon stop >/dev/null";
    let mut command = sandbox.command("unshare");
    command.args(["--mount", "sh", "-c", script]).env("CLI", &sandbox.executables().cli);
    command.env("ROOT", sandbox.root()).env("MOUNTED", &mounted);
    let run = Run::new(command).finish();
    if run.code == Some(77) || run.err().contains("unshare") {
        return skipped("a bind mount", &run.err());
    }
    let shown = run.ended(0);
    let mut values = serde_json::Deserializer::from_str(&shown).into_iter::<serde_json::Value>();
    let list = stepstone_tests::Answer(values.next().unwrap().unwrap());
    assert_eq!(list.ids(), ["one", "two"]);
    let status = values.next().unwrap().unwrap();
    assert_eq!(status["result"]["worklists"].as_array().unwrap().len(), 1, "{status:#}");
}
