//! What Git's answers mean for the root, the branch and the goal file.

mod keeping;

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use stepstone_proto::envelope::{ErrorCode, Failure};
use tempfile::TempDir;

use super::{CANONICAL, ChoiceKind, LEGACY, LocateError, Located, Repositories, choose, resolve};

/// A directory with a Git configuration of its own.
struct Bench {
    dir: TempDir,
    env: BTreeMap<String, String>,
    repositories: Repositories,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(
            home.join(".gitconfig"),
            "[user]\nname = Somebody\nemail = somebody@example.org\n[init]\ndefaultBranch = main\n\
             [protocol \"file\"]\nallow = always\n",
        )
        .unwrap();
        let env = BTreeMap::from([
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("HOME".to_owned(), home.to_str().unwrap().to_owned()),
        ]);
        Self { dir, env, repositories: Repositories::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn git(&self, directory: &str, arguments: &[&str]) {
        let output = Command::new("git")
            .env_clear()
            .envs(&self.env)
            .arg("-C")
            .arg(self.path(directory))
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// A repository with one commit on `main`.
    fn repository(&self, name: &str) -> PathBuf {
        self.git("", &["init", "-q", name]);
        self.git(name, &["commit", "-q", "--allow-empty", "-m", "one"]);
        self.path(name)
    }

    fn locate_at(&self, path: &Path) -> Result<Located, LocateError> {
        on_a_runtime(self.repositories.locate(path, &self.env))
    }

    fn locate(&self, name: &str) -> Located {
        self.locate_at(&self.path(name)).unwrap()
    }

    fn refusal(&self, path: &Path) -> Failure {
        self.locate_at(path).unwrap_err().failure()
    }

    fn branch(&self, name: &str) -> Option<String> {
        let located = self.locate(name);
        on_a_runtime(self.repositories.branch(&located, &self.env)).unwrap()
    }
}

fn on_a_runtime<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn resolution(failure: &Failure) -> &str {
    failure.details.as_ref().unwrap()["resolution"].as_str().unwrap()
}

#[test]
fn the_root_is_the_work_tree_around_the_directory() {
    let bench = Bench::new();
    let root = bench.repository("repo");
    std::fs::create_dir_all(root.join("a/b c/ü")).unwrap();
    for name in ["repo", "repo/a", "repo/a/b c/ü"] {
        let located = bench.locate(name);
        assert_eq!(located.root, root);
        assert_eq!(located.work_tree, root);
        assert_eq!(located.git_dir, root.join(".git"));
        assert_eq!(located.common_dir, root.join(".git"));
    }
}

#[test]
fn symbolic_links_to_the_directory_are_resolved() {
    let bench = Bench::new();
    let root = bench.repository("repo");
    std::fs::create_dir(root.join("sub")).unwrap();
    symlink(root.join("sub"), bench.path("link")).unwrap();
    assert_eq!(bench.locate("link").root, root);
}

#[test]
fn a_line_break_in_a_path_does_not_confuse() {
    let bench = Bench::new();
    let root = bench.repository("re\npo");
    assert_eq!(bench.locate("re\npo").root, root);
    assert_eq!(bench.locate("re\npo").git_dir, root.join(".git"));
}

#[test]
fn a_linked_worktree_shares_the_main_worktrees_roadmap() {
    let bench = Bench::new();
    let root = bench.repository("repo");
    bench.git("repo", &["worktree", "add", "-q", "-b", "side", "../linked"]);
    let located = bench.locate("linked");
    assert_eq!(located.root, root);
    assert_eq!(located.work_tree, bench.path("linked"));
    assert_eq!(located.common_dir, root.join(".git"));
    assert_ne!(located.git_dir, located.common_dir);
    assert_eq!(bench.branch("linked").as_deref(), Some("side"));
    assert_eq!(bench.branch("repo").as_deref(), Some("main"));
}

#[test]
fn a_submodule_is_a_repository_of_its_own_also_from_its_worktrees() {
    let bench = Bench::new();
    bench.repository("inner");
    let outer = bench.repository("outer");
    bench.git("outer", &["submodule", "add", "-q", "../inner", "sub"]);
    let sub = outer.join("sub");
    assert_eq!(bench.locate("outer/sub").root, sub);
    bench.git("outer/sub", &["worktree", "add", "-q", "-b", "side", "../../linked"]);
    let located = bench.locate("linked");
    assert_eq!(located.root, sub);
    assert_eq!(located.work_tree, bench.path("linked"));
}

#[test]
fn a_nested_repository_is_its_own() {
    let bench = Bench::new();
    bench.repository("outer");
    let inner = bench.repository("outer/inner");
    assert_eq!(bench.locate("outer/inner").root, inner);
}

#[test]
fn with_a_git_directory_elsewhere_the_root_is_still_the_work_tree() {
    let bench = Bench::new();
    bench.git("", &["init", "-q", "--separate-git-dir", "store", "repo"]);
    let located = bench.locate("repo");
    assert_eq!(located.root, bench.path("repo"));
    assert_eq!(located.git_dir, bench.path("store"));
}

#[test]
fn in_a_bare_repository_the_worktree_with_its_head_branch_has_the_roadmap() {
    let bench = Bench::new();
    bench.repository("repo");
    bench.git("", &["clone", "-q", "--bare", "repo", "bare.git"]);
    assert_eq!(resolution(&bench.refusal(&bench.path("bare.git"))), "run-inside-git-repository");
    bench.git("bare.git", &["worktree", "add", "-q", "-b", "side", "../side"]);
    assert_eq!(bench.locate("side").root, bench.path("side"), "nobody has the HEAD branch: the caller's own");
    assert_eq!(resolution(&bench.refusal(&bench.path("bare.git"))), "run-inside-git-repository");
    bench.git("bare.git", &["worktree", "add", "-q", "../main", "main"]);
    for name in ["side", "main", "bare.git"] {
        assert_eq!(bench.locate(name).root, bench.path("main"), "{name}");
    }
    assert_eq!(bench.locate("side").work_tree, bench.path("side"));
    assert_eq!(bench.branch("bare.git").as_deref(), Some("main"));
}

#[test]
fn inherited_git_variables_change_nothing() {
    let mut bench = Bench::new();
    let root = bench.repository("repo");
    let other = bench.repository("other");
    bench.env.insert("GIT_DIR".to_owned(), other.join(".git").to_str().unwrap().to_owned());
    bench.env.insert("GIT_WORK_TREE".to_owned(), other.to_str().unwrap().to_owned());
    assert_eq!(bench.locate("repo").root, root);
}

#[test]
fn a_branch_has_a_name_before_its_first_commit_and_a_detached_head_has_none() {
    let bench = Bench::new();
    bench.git("", &["init", "-q", "-b", "feature/ünborn", "repo"]);
    assert_eq!(bench.branch("repo").as_deref(), Some("feature/ünborn"));
    bench.git("repo", &["commit", "-q", "--allow-empty", "-m", "one"]);
    assert_eq!(bench.branch("repo").as_deref(), Some("feature/ünborn"));
    bench.git("repo", &["checkout", "-q", "--detach"]);
    assert_eq!(bench.branch("repo"), None);
}

#[test]
fn a_branch_in_a_reference_table_is_asked_of_git() {
    let bench = Bench::new();
    let made = Command::new("git")
        .env_clear()
        .envs(&bench.env)
        .args(["init", "-q", "--ref-format=reftable", "-b", "trunk"])
        .arg(bench.path("repo"))
        .output()
        .unwrap();
    if !made.status.success() {
        println!("skipped: this Git keeps references in files only");
        return;
    }
    assert_eq!(bench.branch("repo").as_deref(), Some("trunk"));
    bench.git("repo", &["commit", "-q", "--allow-empty", "-m", "one"]);
    bench.git("repo", &["checkout", "-q", "--detach"]);
    assert_eq!(bench.branch("repo"), None);
}

#[test]
fn outside_a_repository_the_answer_says_to_go_inside_one() {
    let bench = Bench::new();
    let failure = bench.refusal(&bench.path("home"));
    assert_eq!(failure.code, ErrorCode::Unavailable);
    assert_eq!(resolution(&failure), "run-inside-git-repository");
    assert!(!failure.retryable);
    bench.repository("repo");
    assert_eq!(resolution(&bench.refusal(&bench.path("repo/.git"))), "run-inside-git-repository");
}

#[test]
fn a_directory_that_is_none_is_named() {
    let bench = Bench::new();
    let file = bench.path("file");
    std::fs::write(&file, "").unwrap();
    for path in [bench.path("missing"), file, PathBuf::from("relative")] {
        assert_eq!(resolution(&bench.refusal(&path)), "provide-existing-directory", "{}", path.display());
    }
}

#[test]
fn a_repository_that_git_refuses_is_refused_in_gits_words() {
    let bench = Bench::new();
    let broken = bench.path("broken");
    std::fs::create_dir(&broken).unwrap();
    for content in ["gitdir: /nowhere/at/all\n", "nonsense\n"] {
        std::fs::write(broken.join(".git"), content).unwrap();
        let failure = bench.refusal(&broken);
        assert_eq!(resolution(&failure), "repair-git-repository");
        assert!(failure.details.as_ref().unwrap()["gitError"].as_str().unwrap().starts_with("fatal: "));
    }
    let repo = bench.repository("repo");
    std::fs::write(repo.join(".git/config"), "[broken\n").unwrap();
    assert_eq!(resolution(&bench.refusal(&repo)), "repair-git-repository");
}

#[test]
fn without_git_the_callers_own_engine_is_asked() {
    let mut bench = Bench::new();
    let root = bench.repository("repo");
    bench.env.insert("PATH".to_owned(), bench.path("home").to_str().unwrap().to_owned());
    let error = bench.locate_at(&root).unwrap_err();
    assert_eq!(resolution(&error.failure()), "repair-git-availability");
    assert!(error.caller_must().is_some());
}

#[test]
fn a_git_in_a_relative_directory_of_the_path_is_not_run() {
    let mut bench = Bench::new();
    let root = bench.repository("repo");
    bench.env.insert("PATH".to_owned(), ".:bin:".to_owned());
    assert_eq!(resolution(&bench.refusal(&root)), "repair-git-availability");
}

/// A `git` that is a script of ours.
fn replace_git(bench: &mut Bench, script: &str) {
    let directory = bench.path("bin");
    std::fs::create_dir(&directory).unwrap();
    let program = directory.join("git");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.env.insert("PATH".to_owned(), directory.to_str().unwrap().to_owned());
}

#[test]
fn a_git_that_was_killed_can_be_asked_again() {
    let mut bench = Bench::new();
    let root = bench.repository("repo");
    replace_git(&mut bench, "#!/bin/sh\nkill -9 $$\n");
    let failure = bench.refusal(&root);
    assert_eq!(resolution(&failure), "retry-git-command");
    assert!(failure.retryable);
}

#[test]
fn a_git_that_never_answers_is_killed() {
    let mut bench = Bench::new();
    let root = bench.repository("repo");
    let mark = bench.path("pid");
    let (script, path) =
        (format!("echo $$ > '{0}.new'\nmv '{0}.new' '{0}'", mark.display()), &bench.env["PATH"]);
    let script = format!("#!/bin/sh\nPATH='{path}'\n{script}\nexec sleep 1000\n");
    replace_git(&mut bench, &script);
    let failure = on_a_runtime(async {
        let asking = bench.repositories.locate(&root, &bench.env);
        let putting_forward = async {
            while !mark.exists() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(11)).await;
            tokio::time::resume();
        };
        tokio::join!(asking, putting_forward).0.unwrap_err().failure()
    });
    assert_eq!(resolution(&failure), "retry-git-command");
    assert!(failure.retryable);
    let pid = std::fs::read_to_string(mark).unwrap();
    // A killed process has no command line any more, reaped or not.
    let command_line = PathBuf::from(format!("/proc/{}/cmdline", pid.trim()));
    let deadline = Instant::now() + Duration::from_secs(10);
    while std::fs::read(&command_line).is_ok_and(|text| !text.is_empty()) {
        assert!(Instant::now() < deadline, "git {pid} is still there");
        std::thread::yield_now();
    }
}

fn located(root: &Path) -> Located {
    let git_dir = root.join(".git");
    Located {
        root: root.to_owned(),
        work_tree: root.to_owned(),
        git_dir: git_dir.clone(),
        common_dir: git_dir,
    }
}

fn write(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "{}").unwrap();
}

#[test]
fn the_file_is_the_override_then_the_canonical_then_the_legacy_one() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let located = located(&root);
    let choice = || choose(&located, None, &root);
    assert_eq!((choice().kind, choice().path), (ChoiceKind::New, root.join(CANONICAL)));
    assert!(!choice().report);
    write(&root.join(LEGACY));
    assert_eq!((choice().kind, choice().path), (ChoiceKind::Legacy, root.join(LEGACY)));
    assert!(choice().report);
    write(&root.join(CANONICAL));
    assert_eq!((choice().kind, choice().path), (ChoiceKind::Canonical, root.join(CANONICAL)));
    assert_eq!(choice().shadowed, Some(root.join(LEGACY)));
    let named = choose(&located, Some("./my.json"), &root.join("sub"));
    assert_eq!((named.kind, named.path), (ChoiceKind::Override, root.join("sub/my.json")));
    assert_eq!(named.shadowed, None);
    assert!(named.report && !named.outside_root);
    for blank in ["", "  ", "\t\n"] {
        assert_eq!(choose(&located, Some(blank), &root).kind, ChoiceKind::Canonical);
    }
}

#[test]
fn a_file_that_links_lead_out_of_the_root_is_outside() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let root = base.join("repo");
    std::fs::create_dir(&root).unwrap();
    let located = located(&root);
    assert!(choose(&located, Some("../other.json"), &root).outside_root);
    assert!(choose(&located, Some("/nowhere/at/all.json"), &root).outside_root);
    assert!(!choose(&located, Some("../repo/x.json"), &root).outside_root);
    std::fs::create_dir(base.join("away")).unwrap();
    symlink(base.join("away"), root.join(".worklist")).unwrap();
    assert!(choose(&located, None, &root).outside_root, "a directory linked away, before the file exists");
    std::fs::remove_file(root.join(".worklist")).unwrap();
    std::fs::create_dir(root.join(".worklist")).unwrap();
    symlink("../../away/goals.json", root.join(CANONICAL)).unwrap();
    let choice = choose(&located, None, &root);
    assert_eq!(choice.kind, ChoiceKind::Canonical, "a link is there, although to nothing");
    assert!(choice.outside_root);
}

#[test]
fn an_override_that_is_the_own_canonical_file_needs_no_mention() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let located = located(&root);
    write(&root.join(CANONICAL));
    std::fs::create_dir(root.join("sub")).unwrap();
    assert!(!choose(&located, Some("sub/../.worklist/worklist.json"), &root).report);
    let linked = Located { work_tree: root.join("sub"), ..located };
    assert!(choose(&linked, None, &root).report, "another work tree's file");
}

#[test]
fn paths_are_resolved_also_where_nothing_is_yet() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    std::fs::create_dir(base.join("real")).unwrap();
    symlink("real", base.join("link")).unwrap();
    symlink("link/none/file", base.join("dangling")).unwrap();
    symlink("loop", base.join("loop")).unwrap();
    let cases = [
        ("link", "real"),
        ("link/a/b", "real/a/b"),
        ("dangling", "real/none/file"),
        ("link/../link/x", "real/x"),
        ("none/../real", "real"),
        ("./real/./y", "real/y"),
    ];
    for (given, expected) in cases {
        assert_eq!(resolve(&base.join(given)).unwrap(), base.join(expected), "{given}");
    }
    assert!(resolve(&base.join("loop")).is_err());
    assert!(resolve(&base.join("loop/x")).is_err());
}
