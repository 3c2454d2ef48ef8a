use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use stepstone_proto::contract::command_line::AGENTS_START;

use super::*;

async fn run(root: &Path) -> Result<Initialized, InitError> {
    init(root).await
}

fn names(root: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_file_is_made_then_left_alone_and_nothing_else_is_written() {
    let root = tempfile::tempdir().unwrap();
    let first = run(root.path()).await.unwrap();
    assert!(first.changed);
    let text = fs::read_to_string(root.path().join(AGENTS)).unwrap();
    assert_eq!(text, format!("{}\n", agents_block()));
    assert_eq!(names(root.path()), [AGENTS]);
    let result: Value = serde_json::from_str(first.result.get()).unwrap();
    assert_eq!(result.get("agentsPath").unwrap(), root.path().join(AGENTS).to_str().unwrap());
    assert!(result.get("integrations").unwrap().as_array().unwrap().len() > 8);

    let before = fs::metadata(root.path().join(AGENTS)).unwrap().modified().unwrap();
    assert!(!run(root.path()).await.unwrap().changed);
    assert_eq!(fs::metadata(root.path().join(AGENTS)).unwrap().modified().unwrap(), before);
}

#[tokio::test]
async fn bytes_outside_the_block_and_the_mode_are_kept() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(AGENTS);
    fs::write(&path, "# Mine\n\ntrailing  blanks  \n\tand tabs").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(run(root.path()).await.unwrap().changed);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# Mine\n\ntrailing  blanks  \n\tand tabs\n\n<!--"), "{text}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
}

#[tokio::test]
async fn what_is_unclear_is_refused_and_left_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(AGENTS);
    for (bytes, problem, resolution) in [
        (format!("{AGENTS_START}\n").into_bytes(), "malformed-markers", "fix-agents-markers"),
        (b"caf\xe9\n".to_vec(), "invalid-encoding", "provide-writable-agents-file"),
    ] {
        fs::write(&path, &bytes).unwrap();
        let failure = run(root.path()).await.unwrap_err().failure();
        assert_eq!(failure.code, ErrorCode::ValidationFailed);
        let details = failure.details.unwrap();
        assert_eq!(details.get("markerProblem").unwrap(), problem);
        assert_eq!(details.get("resolution").unwrap(), resolution);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(names(root.path()), [AGENTS]);
    }
}

#[tokio::test]
async fn only_a_regular_file_is_written() {
    let root = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = root.path().join(AGENTS);
    symlink(elsewhere.path().join("target"), &path).unwrap();
    let failure = run(root.path()).await.unwrap_err().failure();
    assert_eq!(failure.details.unwrap().get("markerProblem").unwrap(), "unsupported-file");
    assert_eq!(names(elsewhere.path()), [""; 0]);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(run(root.path()).await, Err(InitError::Unclear { problem: Problem::Kind, .. })));
}

#[tokio::test]
async fn a_lock_that_its_holder_left_is_taken_over() {
    let root = tempfile::tempdir().unwrap();
    let lock = root.path().join(".stepstone-agents.lock");
    fs::create_dir(&lock).unwrap();
    fs::File::open(&lock).unwrap().set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    assert!(run(root.path()).await.unwrap().changed);
    assert_eq!(names(root.path()), [AGENTS]);
}

#[tokio::test]
async fn several_at_once_leave_one_block() {
    let root = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let root = root.path().to_owned();
            tokio::spawn(async move { init(&root).await.unwrap().changed })
        })
        .collect();
    let mut written = 0;
    for run in runs {
        written += usize::from(run.await.unwrap());
    }
    assert_eq!(written, 1);
    assert_eq!(fs::read_to_string(root.path().join(AGENTS)).unwrap(), format!("{}\n", agents_block()));
    assert_eq!(names(root.path()), [AGENTS]);
}
