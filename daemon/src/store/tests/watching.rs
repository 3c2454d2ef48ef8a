//! Events: what subscribers are told, whoever changes the file.

use std::time::Duration;

use tokio::sync::mpsc::Receiver;

use super::super::WorklistEvent;
use super::*;
use crate::repository::{self, LEGACY, Located};

const ONE: &str = r#"{"version":1,"revision":1,"goals":[{"id":"one","title":"One","status":"open",
"createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}]}"#;

impl Bench {
    fn located(&self) -> Located {
        let git_dir = self.root().join(".git");
        std::fs::create_dir_all(&git_dir).unwrap();
        Located { root: self.root(), work_tree: self.root(), git_dir: git_dir.clone(), common_dir: git_dir }
    }

    /// Puts a file in place at once: one that is written bit by bit may be read half.
    fn replace(&self, content: &str) {
        std::fs::create_dir_all(self.folder()).unwrap();
        let passing = self.root().join("passing");
        std::fs::write(&passing, content).unwrap();
        std::fs::rename(passing, self.file()).unwrap();
    }

    fn subscribe(&self) -> Receiver<WorklistEvent> {
        let located = self.located();
        let choice = repository::choose(&located, None, &located.root);
        self.runtime.block_on(self.stores.subscribe(&located, &choice))
    }

    /// The next event. The time is a bound for a broken machine, and no measure.
    fn event(&self, events: &mut Receiver<WorklistEvent>) -> WorklistEvent {
        self.runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(20), events.recv()).await.expect("no event").unwrap()
        })
    }
}

fn added(event: &WorklistEvent) -> &[String] {
    match event {
        WorklistEvent::Changed { added, .. } => added,
        other => panic!("{other:?}"),
    }
}

#[test]
fn our_own_changes_are_announced_once_each() {
    let bench = Bench::new();
    let mut events = bench.subscribe();
    for title in ["One", "Two", "Three"] {
        bench.change(add(title)).unwrap();
        let event = bench.event(&mut events);
        assert_eq!(added(&event), [title.to_lowercase()]);
    }
    assert!(events.try_recv().is_err());
}

#[test]
fn a_change_by_another_program_is_told_with_what_differs() {
    let bench = Bench::new();
    bench.replace(r#"{"version":1,"revision":1,"goals":[]}"#);
    let mut events = bench.subscribe();
    bench.replace(ONE);
    assert_eq!(added(&bench.event(&mut events)), ["one"]);
    bench.replace(&ONE.replace("\"One\"", "\"Uno\""));
    match bench.event(&mut events) {
        WorklistEvent::Changed { changed, added, removed, revision, .. } => {
            assert_eq!((changed, added, removed, revision), (vec!["one".to_owned()], vec![], vec![], 1));
        }
        other => panic!("{other:?}"),
    }
    std::fs::remove_file(bench.file()).unwrap();
    assert!(matches!(bench.event(&mut events), WorklistEvent::Changed { removed, .. } if removed == ["one"]));
}

#[test]
fn another_engines_change_is_seen() {
    let bench = Bench::new();
    let mut events = bench.subscribe();
    let another = bench.another();
    bench.runtime.block_on(async {
        let store = another.open(Found::at(&bench.file()).unwrap(), &bench.root());
        store.change(add("One")).await.unwrap();
    });
    assert_eq!(added(&bench.event(&mut events)), ["one"]);
}

#[test]
fn a_malformed_file_is_told_and_its_repair_too() {
    let bench = Bench::new();
    bench.replace(ONE);
    let mut events = bench.subscribe();
    bench.replace("{");
    assert!(matches!(bench.event(&mut events), WorklistEvent::Malformed { .. }));
    bench.replace(ONE);
    assert_eq!(bench.event(&mut events), WorklistEvent::ReadAgain);
}

#[test]
fn when_another_file_comes_into_use_everything_is_read_again() {
    let bench = Bench::new();
    std::fs::create_dir(bench.root().join(".pi")).unwrap();
    std::fs::write(bench.root().join(LEGACY), ONE).unwrap();
    let mut events = bench.subscribe();
    bench.replace(r#"{"version":1,"revision":1,"goals":[]}"#);
    assert_eq!(bench.event(&mut events), WorklistEvent::ReadAgain);
    std::fs::remove_file(bench.root().join(LEGACY)).unwrap();
    assert_eq!(bench.event(&mut events), WorklistEvent::ReadAgain, "no file is passed over any more");
}

#[test]
fn a_directory_that_is_replaced_goes_on_being_watched() {
    let bench = Bench::new();
    bench.replace(ONE);
    let mut events = bench.subscribe();
    for round in 0..3 {
        // Removed and made again, as a branch switch does.
        std::fs::remove_dir_all(bench.folder()).unwrap();
        assert!(matches!(bench.event(&mut events), WorklistEvent::Changed { .. }));
        bench.replace(ONE);
        assert_eq!(added(&bench.event(&mut events)), ["one"], "round {round}");
        // Another directory is renamed to its place.
        let aside = bench.root().join("aside");
        std::fs::rename(bench.folder(), &aside).unwrap();
        assert!(matches!(bench.event(&mut events), WorklistEvent::Changed { .. }));
        std::fs::rename(&aside, bench.folder()).unwrap();
        assert_eq!(added(&bench.event(&mut events)), ["one"], "round {round}");
    }
}

#[test]
fn without_notifications_the_file_is_looked_at_regularly() {
    let bench = Bench::new();
    let settings = Settings { state_dir: None, watch: false };
    let stores = Stores::new(settings);
    let located = bench.located();
    let choice = repository::choose(&located, None, &located.root);
    let mut events = bench.runtime.block_on(stores.subscribe(&located, &choice));
    assert_eq!(stores.watching(), "polling");
    bench.replace(ONE);
    let event = bench.runtime.block_on(async {
        tokio::time::pause();
        events.recv().await.unwrap()
    });
    assert_eq!(added(&event), ["one"]);
}

#[test]
fn a_subscriber_that_falls_behind_reads_everything_again() {
    let bench = Bench::new();
    let mut slow = bench.subscribe();
    let mut quick = bench.subscribe();
    let mut told = 0;
    while told < 70 {
        bench.change(add("More")).unwrap();
        bench.event(&mut quick);
        told += 1;
    }
    let mut taken = 0;
    while slow.try_recv().is_ok() {
        taken += 1;
    }
    assert!(taken < told);
    bench.change(add("Last")).unwrap();
    assert_eq!(bench.event(&mut slow), WorklistEvent::ReadAgain);
}

#[test]
fn with_the_last_subscriber_the_watching_ends() {
    let bench = Bench::new();
    let events = bench.subscribe();
    assert_eq!(bench.stores.watching(), "system");
    drop(events);
    // The next look notices it.
    bench.change(add("One")).unwrap();
    bench.runtime.block_on(async {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        while bench.stores.watching() != "off" {
            assert!(tokio::time::Instant::now() < deadline, "still watching");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
}
