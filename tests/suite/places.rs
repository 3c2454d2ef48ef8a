//! Which roadmap a directory has: linked worktrees, bare repositories, nested ones, overrides, no repository at all.

use std::path::Path;

use serde_json::{Value, json};
use stepstone_tests::{Goal, Sandbox, worklist};

/// The ids that both interfaces show in this directory, after checking that they show the same.
#[track_caller]
fn ids(sandbox: &Sandbox, directory: &Path) -> Vec<String> {
    let shell = sandbox.cli(["list"]).within(directory).json();
    let session = sandbox.session().within(directory).start().read("stepstone://worklist/list");
    assert_eq!(shell.ids(), session.ids());
    assert_eq!(shell.meta().get("worklistPath"), session.meta().get("worklistPath"));
    shell.ids()
}

#[test]
fn linked_worktrees_share_the_main_worktrees_roadmap() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("shared")]));
    sandbox.commit_all("one");
    let linked = sandbox.worktree("linked");
    sandbox.write_worklist(worklist(2, [Goal::open("shared"), Goal::open("newer")]));
    std::fs::create_dir_all(linked.join("deep/down")).unwrap();
    for directory in [&linked, &linked.join("deep/down")] {
        assert_eq!(ids(&sandbox, directory), ["shared", "newer"]);
        let answer = sandbox.cli(["list"]).within(directory).json();
        assert_eq!(answer.meta()["worklistPath"], json!(sandbox.worklist_path()));
    }
    let before = std::fs::read(linked.join(".worklist/worklist.json")).unwrap();
    let added = sandbox.cli(["add", "From the side"]).within(&linked).json();
    assert_eq!(added.revision(), Some(3));
    assert_eq!(std::fs::read(linked.join(".worklist/worklist.json")).unwrap(), before);
    assert_eq!(ids(&sandbox, &sandbox.root()), ["shared", "newer", "from-the-side"]);
    let own = sandbox.cli(["list"]).json();
    assert_eq!(own.meta().get("worklistPath"), None, "the canonical file is no news");
    let taken = sandbox.cli(["start"]).within(&linked).json();
    assert_eq!(taken.text("branch"), "linked", "the branch is the caller's own");
}

#[test]
fn a_bare_repositorys_worktrees_share_the_roadmap_of_its_head_branch() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("shared")]));
    sandbox.commit_all("one");
    let bare = sandbox.base().join("project.git");
    let path = |path: &Path| path.to_string_lossy().into_owned();
    sandbox.git(["clone", "-q", "--bare", ".", &path(&bare)]);
    let (main, side) = (sandbox.base().join("main-tree"), sandbox.base().join("side-tree"));
    sandbox.git_in(&bare, ["worktree", "add", "-q", "-b", "side", &path(&side)]);

    // Nobody has the HEAD branch checked out: the worktree's own roadmap.
    assert_eq!(ids(&sandbox, &side), ["shared"]);
    let own = sandbox.cli(["add", "Of the side"]).within(&side).json();
    assert_eq!(own.meta().get("worklistPath"), None);
    assert!(std::fs::read_to_string(side.join(".worklist/worklist.json")).unwrap().contains("of-the-side"));

    // Now somebody has.
    sandbox.git_in(&bare, ["worktree", "add", "-q", &path(&main), "main"]);
    let shared = sandbox.cli(["add", "Of everybody"]).within(&side).json();
    assert_eq!(shared.meta()["worklistPath"], json!(main.join(".worklist/worklist.json")));
    assert_eq!(ids(&sandbox, &main), ["shared", "of-everybody"]);
    assert_eq!(ids(&sandbox, &side), ["shared", "of-everybody"]);

    // From inside the bare repository it is the same one.
    assert_eq!(ids(&sandbox, &bare), ["shared", "of-everybody"]);
}

#[test]
fn without_a_work_tree_there_is_no_roadmap_and_nothing_is_created() {
    let sandbox = Sandbox::without_repository();
    let bare = sandbox.path("bare.git");
    sandbox.git(["init", "-q", "--bare", "bare.git"]);
    for directory in [sandbox.root(), bare.clone()] {
        let before = tree(&sandbox.root());
        let mut session = sandbox.session().within(&directory).start();
        let answers = [
            session.read("stepstone://worklist/list"),
            session.call("add", json!({ "title": "Lost" })),
            sandbox.cli(["add", "Lost"]).within(&directory).json(),
            sandbox.cli(["list"]).within(&directory).json(),
            sandbox.cli(["add", "Lost", "--file", "mine.json"]).within(&directory).json(),
        ];
        for answer in answers {
            answer.refused_with("UNAVAILABLE", "run-inside-git-repository");
        }
        assert_eq!(tree(&sandbox.root()), before);
    }
}

/// Every path below a directory.
fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.display().to_string());
        if path.is_dir() && !path.is_symlink() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn a_repository_inside_another_has_its_own_roadmap() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("outer")]));
    let inner = sandbox.path("vendor/inner");
    std::fs::create_dir_all(&inner).unwrap();
    assert_eq!(ids(&sandbox, &inner), ["outer"]);
    sandbox.git_in(&inner, ["init", "-q"]);
    assert_eq!(ids(&sandbox, &inner), [""; 0]);
    sandbox.cli(["add", "Inner"]).within(&inner).json().goal();
    assert_eq!(ids(&sandbox, &inner), ["inner"]);
    std::fs::remove_dir_all(inner.join(".git")).unwrap();
    assert_eq!(ids(&sandbox, &inner), ["outer"]);
}

#[test]
fn every_spelling_of_a_directory_leads_to_one_roadmap() {
    let sandbox = Sandbox::new();
    let link = sandbox.base().join("link");
    std::os::unix::fs::symlink(sandbox.root(), &link).unwrap();
    std::fs::create_dir_all(sandbox.path("a/b")).unwrap();
    sandbox.cli(["add", "One"]).within(link.join("a/b")).json().goal();
    sandbox.cli(["add", "Two", "--cwd"]).arg(link.join("a/../a")).json().goal();
    sandbox.cli(["add", "Three", "--cwd", "a/b/.."]).json().goal();
    assert_eq!(ids(&sandbox, &sandbox.root()), ["one", "two", "three"]);
    assert_eq!(ids(&sandbox, &link), ["one", "two", "three"]);
}

#[test]
fn inherited_git_variables_do_not_choose_the_repository() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("here")]));
    let other = sandbox.base().join("other");
    std::fs::create_dir(&other).unwrap();
    sandbox.git_in(&other, ["init", "-q"]);
    let misled = sandbox
        .cli(["list"])
        .env("GIT_DIR", other.join(".git"))
        .env("GIT_WORK_TREE", &other)
        .env("GIT_CEILING_DIRECTORIES", sandbox.base())
        .json();
    assert_eq!(misled.ids(), ["here"]);
    let mut session =
        sandbox.session().env("GIT_DIR", other.join(".git")).env("GIT_INDEX_FILE", "/dev/null").start();
    assert_eq!(session.read("stepstone://worklist/list").ids(), ["here"]);
}

#[test]
fn a_missing_directory_and_a_missing_git_are_told_apart() {
    let sandbox = Sandbox::new();
    let gone = sandbox.cli(["list", "--cwd", "no/such/place"]).json();
    gone.refused_with("UNAVAILABLE", "provide-existing-directory");
    let without_git = sandbox.cli(["list"]).env("PATH", sandbox.home()).json();
    without_git.refused_with("UNAVAILABLE", "repair-git-availability");
    assert_eq!(sandbox.cli(["list"]).json().ids(), [""; 0], "the next caller has Git");
}

#[test]
fn a_repository_that_git_refuses_is_reported_in_gits_words() {
    let sandbox = Sandbox::new();
    sandbox.write(".git/config", "[core]\n\trepositoryformatversion = 99\n");
    let refused = sandbox.cli(["list"]).json();
    let details = refused.refused_with("UNAVAILABLE", "repair-git-repository");
    assert!(details["gitError"].as_str().unwrap().contains("99"), "{details}");
}

#[test]
fn a_repository_that_is_made_under_a_running_session_is_found() {
    let sandbox = Sandbox::without_repository();
    let mut session = sandbox.mcp();
    session.read("stepstone://worklist/list").refused_with("UNAVAILABLE", "run-inside-git-repository");
    sandbox.git(["init", "-q", "-b", "main"]);
    session.call("add", json!({ "title": "At last" })).goal();
    let file: Value = serde_json::from_str(&sandbox.read_worklist()).unwrap();
    assert_eq!(file["goals"][0]["id"], "at-last");
}
