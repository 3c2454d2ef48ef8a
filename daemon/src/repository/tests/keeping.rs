//! When what Git answered before is still the answer.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::Repositories;
use super::{Bench, on_a_runtime, replace_git};

#[test]
fn an_answer_is_kept_and_asked_again_when_something_changed() {
    let mut bench = Bench::new();
    let root = bench.repository("repo");
    std::fs::create_dir(root.join("sub")).unwrap();
    let counter = bench.path("count");
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|directory| directory.join("git"))
        .find(|git| git.is_file())
        .unwrap();
    replace_git(
        &mut bench,
        &format!("#!/bin/sh\necho x >> '{}'\nexec '{}' \"$@\"\n", counter.display(), git.display()),
    );
    let count = || std::fs::read_to_string(&counter).map_or(0, |text| text.lines().count());
    let locate = || on_a_runtime(bench.repositories.locate(&root.join("sub"), &bench.env));
    let at_hand = || bench.repositories.at_hand(&root.join("sub"), &bench.env).map(|located| located.root);
    assert_eq!(at_hand(), None, "nobody has asked yet");
    // An answer about files that changed just now is not kept; soon they have been left alone long enough.
    let kept = || {
        let before = count();
        locate().unwrap();
        count() == before
    };
    let until_kept = || {
        let mut asked = 0;
        while !kept() {
            asked += 1;
            assert!(asked < 1000, "the answer is never kept");
        }
    };
    until_kept();
    assert!(kept());
    assert_eq!(at_hand(), Some(root.clone()));
    let elsewhere = BTreeMap::from([("PATH".to_owned(), "/elsewhere".to_owned())]);
    assert_eq!(bench.repositories.at_hand(&root.join("sub"), &elsewhere), None, "another environment");
    Command::new(&git).arg("init").arg("-q").arg(root.join("sub")).status().unwrap();
    assert_eq!(at_hand(), None);
    assert_eq!(locate().unwrap().root, root.join("sub"), "a nearer repository was made");
    until_kept();
    assert_eq!(at_hand(), Some(root.join("sub")));
    std::fs::remove_dir_all(root.join("sub/.git")).unwrap();
    assert_eq!(at_hand(), None);
    assert_eq!(locate().unwrap().root, root, "it is gone again");
    until_kept();
    std::fs::write(root.join(".git/config"), "[broken\n").unwrap();
    assert!(locate().is_err(), "the configuration changed");
}

#[test]
fn a_kept_answer_never_leads_elsewhere_than_git_would() {
    type Change = fn(&Bench);
    let changes: [(&str, Change); 9] = [
        ("the link leads to another repository", |bench| {
            std::fs::remove_file(bench.path("link")).unwrap();
            symlink(bench.path("other"), bench.path("link")).unwrap();
        }),
        ("another repository is where it was", |bench| {
            std::fs::rename(bench.path("above/repo"), bench.path("away")).unwrap();
            std::fs::rename(bench.path("other"), bench.path("above/repo")).unwrap();
        }),
        ("it was moved, and a link leads there", |bench| {
            std::fs::rename(bench.path("above/repo"), bench.path("away")).unwrap();
            symlink(bench.path("away"), bench.path("above/repo")).unwrap();
        }),
        ("what is above it was moved, and a link leads there", |bench| {
            std::fs::rename(bench.path("above"), bench.path("away")).unwrap();
            symlink(bench.path("away"), bench.path("above")).unwrap();
        }),
        ("the Git directory moved into a file", |bench| {
            bench.git("above/repo", &["init", "-q", "--separate-git-dir", "../git"]);
        }),
        ("its Git directory shares another's", |bench| {
            let other = format!("{}\n", bench.path("other/.git").display());
            std::fs::write(bench.path("above/repo/.git/commondir"), other).unwrap();
        }),
        ("a configuration of this work tree's own was made", |bench| {
            let other = format!("[core]\n\tworktree = {}\n", bench.path("other").display());
            std::fs::write(bench.path("above/repo/.git/config.worktree"), other).unwrap();
        }),
        ("its Git directory is gone", |bench| {
            std::fs::remove_dir_all(bench.path("above/repo/.git")).unwrap();
        }),
        ("a nearer Git directory is none any more", |bench| {
            std::fs::remove_file(bench.path("above/repo/.git/HEAD")).unwrap();
        }),
    ];
    for (what, change) in changes {
        let bench = Bench::new();
        bench.repository("other");
        bench.repository("above");
        bench.repository("above/repo");
        bench.git("above/repo", &["config", "extensions.worktreeConfig", "true"]);
        std::fs::create_dir_all(bench.path("above/repo/sub/.git")).unwrap();
        std::fs::create_dir(bench.path("other/sub")).unwrap();
        symlink(bench.path("above/repo"), bench.path("link")).unwrap();
        let asked = ["above/repo", "above/repo/sub", "link", "link/sub"].map(|name| bench.path(name));
        for directory in &asked {
            let deadline = Instant::now() + Duration::from_secs(10);
            while bench.repositories.at_hand(directory, &bench.env).is_none() {
                on_a_runtime(bench.repositories.locate(directory, &bench.env)).unwrap();
                assert!(Instant::now() < deadline, "{what}: the answer is never kept");
            }
        }
        change(&bench);
        for directory in &asked {
            let fresh = on_a_runtime(Repositories::new().locate(directory, &bench.env)).unwrap();
            let kept = bench.repositories.at_hand(directory, &bench.env);
            let located = kept.unwrap_or_else(|| fresh.clone());
            for (name, expected) in [(&located.root, &fresh.root), (&located.git_dir, &fresh.git_dir)] {
                let real = name.canonicalize().unwrap();
                assert_eq!(real, *expected, "{what}: from {}", directory.display());
            }
        }
    }
}
