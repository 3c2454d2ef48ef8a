//! An engine that is killed before any one of its calls: the file is the old one or the new one, nothing that was
//! answered is missing, a retry is made exactly once, and the next engine need not wait.

use std::process::{Command, Stdio};

use super::super::disk::Step;
use super::*;

/// Tells the victim where to work, and before which call to die.
const VICTIM: &str = "STEPSTONE_TEST_VICTIM";

const KEYS: [&str; 3] = ["One", "Two", "Three"];

fn keyed(title: &str) -> Job {
    with_key(add(title), title, title)
}

/// Three changes at once, so that a batch is either whole or not there.
async fn change_all(store: &Store) -> Vec<Result<Envelope, StoreError>> {
    let [one, two, three] = KEYS.map(|title| store.change(keyed(title)));
    let (one, two, three) = tokio::join!(one, two, three);
    vec![one, two, three]
}

/// Not a test of its own: the other tests run it as a process that dies.
#[test]
fn victim() {
    let Some(given) = std::env::var_os(VICTIM) else { return };
    let given = given.into_string().unwrap();
    let (number, directory) = given.split_once(':').unwrap();
    let (last, directory) = (number.parse::<usize>().unwrap(), PathBuf::from(directory));
    let rig = Arc::<Rig>::default();
    let stores = stores_on(&directory.join("state"), &rig);
    let root = directory.join("repo");
    rig.hook(move |_, _, number| {
        if number == last {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        Ok(())
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = stores.open(Found::at(&root.join(".worklist/worklist.json")).unwrap(), &root);
        for answer in change_all(&store).await {
            assert!(answer.unwrap().meta.changed);
        }
        std::fs::write(directory.join("answered"), "").unwrap();
        // The locks are let go after the answers.
        stores.finish().await;
    });
}

/// Runs the victim; whether it was killed.
fn run_victim(directory: &Path, number: usize) -> bool {
    let program = std::env::current_exe().unwrap();
    let status = Command::new(program)
        .args(["--exact", "store::tests::crashes::victim"])
        .env(VICTIM, format!("{number}:{}", directory.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || status.code().is_none(), "the victim failed before call {number}: {status}");
    !status.success()
}

fn killed_at_every_call(prepare: impl Fn(&Bench)) {
    let mut number = 0;
    loop {
        let bench = Bench::new();
        prepare(&bench);
        let directory = bench.dir.path().canonicalize().unwrap();
        let before = bench.titles();
        let killed = run_victim(&directory, number);
        check(&bench, &before, directory.join("answered").exists(), &format!("killed before call {number}"));
        if !killed {
            break;
        }
        number += 1;
    }
    assert!(number > 20, "the victim made {number} calls only");
}

fn check(bench: &Bench, before: &[String], answered: bool, context: &str) {
    let after: Vec<String> = before.iter().cloned().chain(KEYS.map(str::to_owned)).collect();
    let found = bench.titles();
    if answered {
        assert_eq!(found, after, "{context}: answered and not there");
    } else {
        assert!(found == before || found == after, "{context}: {found:?}");
    }
    bench.rig.heal();
    let store = bench.open();
    for answer in bench.runtime.block_on(change_all(&store)) {
        let envelope = answer.unwrap();
        assert!(envelope.ok, "{context}");
        assert_eq!(envelope.meta.replayed, found == after, "{context}");
    }
    assert_eq!(bench.titles(), after, "{context}");
    let calls = bench.rig.calls();
    // Who has something to change also cleans up.
    bench.change(add("Last")).unwrap();
    assert_eq!(bench.names(), ["worklist.json"], "{context}: something was left behind");
    // A dead engine's lock is known as such: nobody met a held lock and came back.
    if std::fs::metadata(bench.root()).unwrap().created().is_ok() {
        let attempts = calls.iter().filter(|(step, _)| *step == Step::OpenLock).count();
        // Its kernel lock and its journal; twice, when the directories of the state had to be made.
        assert!(attempts <= 4, "{context}: {attempts}");
        assert_eq!(calls.iter().filter(|(step, _)| *step == Step::Lock).count(), 1, "{context}");
    }
}

#[test]
fn killed_while_making_the_file() {
    killed_at_every_call(|_| {});
}

#[test]
fn killed_while_replacing_the_file() {
    killed_at_every_call(|bench| {
        bench.change(add("Old")).unwrap();
    });
}

#[test]
fn killed_in_a_file_system_that_cannot_rename_without_replacing() {
    // The lock directory is then made in place; a maker that dies before recording it is waited for.
    let bench = Bench::new();
    bench.change(add("Old")).unwrap();
    bench.rig.hook(|step, _, _| {
        if step == Step::RenameNew { Err(std::io::ErrorKind::Unsupported.into()) } else { Ok(()) }
    });
    bench.change(add("New")).unwrap();
    assert_eq!(bench.titles(), ["Old", "New"]);
    assert_eq!(bench.names(), ["worklist.json"]);
}

#[test]
fn left_over_files_are_removed_under_the_locks_and_nothing_else_is() {
    let bench = Bench::new();
    bench.change(add("Old")).unwrap();
    let name = bench.stores.registry.lock().keys().next().unwrap().file_name();
    let own = format!(".worklist-{}00000000.tmp", &name[..8]);
    let others = [".worklist-0123456789abcdef.tmp", ".worklist-0123.tmp", ".worklist-notes.tmp", "own.tmp"];
    for name in others.iter().copied().chain([own.as_str()]) {
        std::fs::write(bench.folder().join(name), "").unwrap();
    }
    let passing = bench.folder().join(".worklist.lock-0123456789abcdef");
    std::fs::create_dir(&passing).unwrap();
    make_old(&passing, 11);
    // An engine that has not looked yet.
    let another = bench.another();
    bench.runtime.block_on(async {
        let store = another.open(Found::at(&bench.file()).unwrap(), &bench.root());
        store.change(add("New")).await.unwrap();
        another.finish().await;
    });
    let mut expected: Vec<&str> = others.iter().copied().chain(["worklist.json"]).collect();
    expected.sort_unstable();
    assert_eq!(bench.names(), expected);
}
