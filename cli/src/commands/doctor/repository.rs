//! The repository: Git, the goal file and what lies around it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Map, json};
use stepstone_proto::envelope::Envelope;

use super::Finding;
use crate::render::answer;
use crate::session::Engine;

/// A lock whose holder has not touched it for so long is taken over by the next change.
const STALE: Duration = Duration::from_secs(10);

/// What `git` prints when it succeeds.
fn git<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Whether Git can be run at all.
pub(super) fn has_git(findings: &mut Vec<Finding>) -> bool {
    match Command::new("git").arg("--version").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            findings.push(Finding::ok("Git", String::from_utf8_lossy(&output.stdout).trim().to_owned()));
            true
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            findings.push(Finding::problem(
                "Git",
                format!("git --version fails: {said}"),
                "mend the Git installation",
            ));
            false
        }
        Err(error) => {
            findings.push(Finding::problem(
                "Git",
                format!("cannot be run: {error}"),
                "install Git, or put it on PATH",
            ));
            false
        }
    }
}

/// The repository around a directory, as the engine sees it.
pub(super) async fn look(directory: &Path, engine: &impl Engine, findings: &mut Vec<Finding>) {
    let mut operation = Map::new();
    operation.insert("action".to_owned(), "list".into());
    operation.insert("explain".to_owned(), json!(true));
    operation.insert("limit".to_owned(), json!(1));
    let envelope = engine.ask(operation).await;
    let work_tree = git(directory, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    let file = envelope
        .meta
        .worklist_path
        .clone()
        .map(PathBuf::from)
        .or_else(|| Some(work_tree.as_ref()?.join(".worklist").join("worklist.json")));
    goal_file(&envelope, file.as_deref(), findings);
    let Some(file) = file else { return };
    if let Some(shadowed) = &envelope.meta.shadowed_worklist_path {
        findings.push(Finding::problem(
            "goal file",
            format!("{shadowed} is passed over, because {} is there too", file.display()),
            "merge the two by hand, then remove the former",
        ));
    } else if file.parent().and_then(Path::file_name) == Some(OsStr::new(".pi")) {
        findings.push(Finding::note(
            "goal file",
            "it stands at the legacy place",
            "stepstone migrate_path --dry-run shows the move to .worklist",
        ));
    }
    left_overs(&file, findings);
    uncommitted(&file, findings);
}

fn goal_file(envelope: &Envelope, file: Option<&Path>, findings: &mut Vec<Finding>) {
    const CHECK: &str = "goal file";
    let path = file.map(|file| file.display().to_string()).unwrap_or_default();
    if let Some(failure) = &envelope.error {
        let resolution = failure.details.as_ref().and_then(|details| details.get("resolution")?.as_str());
        let check = if resolution == Some("run-inside-git-repository") { "repository" } else { CHECK };
        findings.push(Finding::problem(check, failure.message.clone(), advice(resolution)));
        return;
    }
    let summary = answer(envelope).summary.unwrap_or_default();
    let goals = summary.open + summary.active + summary.done + summary.archived;
    let revision =
        envelope.meta.revisions.as_ref().map(|revisions| revisions.project.as_str()).unwrap_or("0");
    let is_there = file.is_some_and(Path::exists);
    findings.push(Finding::ok(
        CHECK,
        if is_there {
            let goals = if goals == 1 { "1 goal".to_owned() } else { format!("{goals} goals") };
            format!("{path}: {goals}, {} ready, revision {revision}", summary.ready)
        } else {
            format!("{path} is made by the first change")
        },
    ));
}

fn advice(resolution: Option<&str>) -> String {
    let known = stepstone_proto::contract::resolutions::RESOLUTIONS;
    let meaning = known.iter().find(|known| Some(known.word) == resolution).map(|known| known.meaning);
    meaning.unwrap_or("See the message.").to_owned()
}

/// Locks and temporary files that nobody cleaned up.
fn left_overs(file: &Path, findings: &mut Vec<Finding>) {
    const CHECK: &str = "left-overs";
    let Some(folder) = file.parent() else { return };
    let root = folder.parent().unwrap_or(folder);
    for lock in [folder.join(".worklist.lock"), root.join(".stepstone-agents.lock")] {
        let Ok(metadata) = fs::symlink_metadata(&lock) else { continue };
        let age = metadata.modified().ok().and_then(|at| at.elapsed().ok());
        if !metadata.is_dir() {
            findings.push(Finding::problem(
                CHECK,
                format!("{} is no directory, so the lock can never be taken", lock.display()),
                "remove it",
            ));
        } else if age.is_some_and(|age| age > STALE) {
            findings.push(Finding::note(
                CHECK,
                format!("{} is a lock that its holder left behind", lock.display()),
                "nothing: the next change takes it over",
            ));
        }
    }
    let is_temporary =
        |name: &str| name.starts_with(".worklist-") && Path::new(name).extension() == Some(OsStr::new("tmp"));
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let count = names.filter(|name| name.to_str().is_some_and(is_temporary)).count();
    if count > 0 {
        findings.push(Finding::note(
            CHECK,
            format!("{count} temporary files of interrupted changes in {}", folder.display()),
            "nothing: the next change removes them",
        ));
    }
}

/// A roadmap that others do not see yet.
fn uncommitted(file: &Path, findings: &mut Vec<Finding>) {
    const CHECK: &str = "commit";
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return };
    if !file.exists() {
        return;
    }
    let ignored =
        git(folder, &[OsStr::new("check-ignore"), OsStr::new("-q"), OsStr::new("--"), name]).is_some();
    if ignored {
        findings.push(Finding::note(
            CHECK,
            format!("Git ignores {}, so nobody else gets it", file.display()),
            "take it out of .gitignore, unless it is meant to stay here",
        ));
        return;
    }
    let status = git(folder, &[OsStr::new("status"), OsStr::new("--porcelain"), OsStr::new("--"), name]);
    match status.as_deref() {
        Some("") => findings.push(Finding::ok(CHECK, "the roadmap is committed")),
        Some(text) if text.starts_with("??") => findings.push(Finding::note(
            CHECK,
            "the roadmap is not under version control yet",
            format!("git add {}, and commit it with the code", file.display()),
        )),
        Some(_) => findings.push(Finding::note(
            CHECK,
            "the roadmap has uncommitted changes",
            "commit it with the work it describes",
        )),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_overs_are_told_apart_by_kind_and_age() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join(".worklist");
        fs::create_dir_all(folder.join(".worklist.lock")).unwrap();
        let mut findings = Vec::new();
        left_overs(&folder.join("worklist.json"), &mut findings);
        assert_eq!(findings, [], "a fresh lock is somebody at work");

        let old = std::time::SystemTime::now() - STALE * 2;
        fs::File::open(folder.join(".worklist.lock")).unwrap().set_modified(old).unwrap();
        fs::write(folder.join(".worklist-0123456789abcdef.tmp"), "").unwrap();
        fs::write(directory.path().join(".stepstone-agents.lock"), "").unwrap();
        left_overs(&folder.join("worklist.json"), &mut findings);
        let levels: Vec<_> = findings.iter().map(|finding| finding.level).collect();
        assert_eq!(
            levels,
            [super::super::Level::Note, super::super::Level::Problem, super::super::Level::Note]
        );
    }

    #[test]
    fn a_failure_of_the_engine_is_a_problem_with_its_way_out() {
        let failure = serde_json::from_value::<Envelope>(json!({
            "ok": false, "scope": "project", "action": "list",
            "error": {"code": "UNAVAILABLE", "message": "No repository.", "retryable": false,
                "details": {"resolution": "run-inside-git-repository"}},
            "meta": {"changed": false, "semanticNoOp": false, "changedFields": []}
        }));
        let mut findings = Vec::new();
        goal_file(&failure.unwrap(), None, &mut findings);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].level, super::super::Level::Problem);
        assert_eq!(findings[0].check, "repository");
        assert!(findings[0].advice.as_ref().unwrap().contains("Git"));
    }
}
