//! The client against engines of the tests' own: a daemon in this process, and a private engine that is a script.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::Context;
use stepstone_proto::paths::Layout;
use stepstone_proto::state;
use stepstone_proto::transport::Listener;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use crate::{Client, Surroundings, control};

/// What the daemon of a test does with one request.
#[derive(Debug, Clone)]
enum Act {
    /// Answers with this status, range and body.
    Answer(u16, &'static str, String),
    /// Sends this and closes the connection.
    Break(&'static str),
    /// Never answers.
    Silence,
}

fn envelope(who: &str) -> String {
    json!({"ok": true, "scope": "project", "action": "x", "result": {"by": who},
           "meta": {"changed": false, "semanticNoOp": false, "changedFields": []}})
    .to_string()
}

fn answer(who: &str) -> Act {
    Act::Answer(200, "1-1", envelope(who))
}

struct House {
    directory: tempfile::TempDir,
    layout: Layout,
    asked: Arc<Mutex<Vec<String>>>,
    daemon: Option<JoinHandle<()>>,
}

impl House {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::at(directory.path().join("state"), state::uid());
        state::prepare(&layout).unwrap();
        Self { directory, layout, asked: Arc::default(), daemon: None }
    }

    /// A daemon that does one act after the other, whatever it is asked, and then answers everything.
    fn daemon(mut self, acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = Listener::bind(self.layout.socket()).unwrap();
        let acts = Arc::new(Mutex::new(acts.into_iter().collect::<Vec<_>>().into_iter()));
        let asked = Arc::clone(&self.asked);
        self.daemon = Some(tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (acts, asked) = (Arc::clone(&acts), Arc::clone(&asked));
                tokio::spawn(async move {
                    while let Some(request) = request(&mut stream).await {
                        asked.lock().unwrap().push(request);
                        let act = acts.lock().unwrap().next().unwrap_or_else(|| answer("daemon"));
                        match act {
                            Act::Answer(status, range, body) => {
                                let head = format!(
                                    "HTTP/1.1 {status} X\r\nstepstone-protocol: {range}\r\ncontent-length: {}\r\n\r\n",
                                    body.len()
                                );
                                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                            }
                            Act::Break(text) => {
                                let _ = stream.write_all(text.as_bytes()).await;
                                return;
                            }
                            Act::Silence => std::future::pending::<()>().await,
                        }
                    }
                });
            }
        }));
        self
    }

    /// A script in the place of `stepstoned`: as the private engine it answers each request in turn with one of
    /// these bodies; as the starter it reports what is given.
    fn executable(self, report: &str, bodies: &[String]) -> Self {
        let answers: String = bodies
            .iter()
            .map(|body| {
                let length = body.len();
                format!(
                    "request; printf 'HTTP/1.1 200 OK\\r\\ncontent-length: {length}\\r\\n\\r\\n%s' '{body}'\n"
                )
            })
            .collect();
        let script = format!(
            r#"#!/bin/sh
if [ "$1" = --start ]; then echo '{report}'; exit; fi
request() {{
    length=0
    while read -r line && [ "${{#line}}" -gt 1 ]; do
        case "$line" in content-length:*) length=$(printf %s "${{line#*: }}" | tr -d '\r') ;; esac
    done
    head -c "$length" >/dev/null
}}
{answers}cat >/dev/null
"#
        );
        let path = self.bin().join("stepstoned");
        std::fs::create_dir_all(self.bin()).unwrap();
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn bin(&self) -> std::path::PathBuf {
        self.directory.path().join("bin")
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            layout: Ok(self.layout.clone()),
            no_daemon: false,
            sandbox: None,
            path: Some(self.bin().into()),
        }
    }

    fn client(&self) -> Arc<Client> {
        Client::new(self.surroundings())
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn journal(&self) -> String {
        state::verify(&self.layout.journal()).unwrap().text()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(daemon) = &self.daemon {
            daemon.abort();
        }
    }
}

/// Reads one request: gives its first line and its action.
async fn request(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let action = body["operation"]["action"].as_str().unwrap_or_default().to_owned();
    Some(format!("{} {action}", head.split(' ').nth(1).unwrap()).trim_end().to_owned())
}

async fn perform(client: &Client, action: &str) -> Envelope {
    let operation = Map::from_iter([("action".to_owned(), action.into())]);
    client.perform(Context { cwd: "/".into(), ..Context::default() }, operation).await
}

fn by(envelope: &Envelope) -> String {
    match (&envelope.result, &envelope.error) {
        (Some(result), _) => {
            serde_json::from_str::<Value>(result.get()).unwrap()["by"].as_str().unwrap().into()
        }
        (None, Some(failure)) => failure.details.as_ref().unwrap()["resolution"].as_str().unwrap().into(),
        (None, None) => unreachable!("an envelope has one of the two"),
    }
}

fn status(journal: &str) -> String {
    json!({"pid": 1, "journal": journal}).to_string()
}

#[tokio::test]
async fn a_daemon_that_is_there_is_asked_over_one_connection() {
    let house = House::new().daemon([]);
    let client = house.client();
    client.warm().await;
    for action in ["list", "add", "show"] {
        assert_eq!(by(&perform(&client, action).await), "daemon");
    }
    assert_eq!(house.asked(), ["/v1/operations list", "/v1/operations add", "/v1/operations show"]);
    assert_eq!(client.engine_note(), None);
}

#[tokio::test]
async fn what_only_the_caller_may_do_is_done_by_its_own_engine_and_by_no_other_next_time() {
    let elsewhere = json!({"callerMust": {"reason": "outside"}}).to_string();
    for status in [421, 200] {
        let house = House::new()
            .daemon([Act::Answer(status, "1-1", elsewhere.clone())])
            .executable("", &[envelope("own")]);
        let client = house.client();
        assert_eq!(by(&perform(&client, "add").await), "own", "{status}");
        assert_eq!(by(&perform(&client, "add").await), "daemon", "{status}");
        assert_eq!(client.engine_note(), None, "{status}");
    }
}

#[tokio::test]
async fn a_read_is_sent_again_whatever_happened_to_it() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{";
    for act in [Act::Break(""), Act::Break("HTTP/1.1 2"), Act::Break(cut)] {
        let house = House::new().daemon([act.clone(), act.clone()]);
        assert_eq!(by(&perform(&house.client(), "list").await), "daemon", "{act:?}");
        assert_eq!(house.asked(), ["/v1/operations list"; 3], "{act:?}");
    }
}

#[tokio::test]
async fn a_change_is_sent_again_only_to_an_engine_with_the_same_journal() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{";
    for act in [Act::Break(""), Act::Break(cut)] {
        let house = House::new();
        let same = status(&house.journal());
        let house = house.daemon([act.clone(), Act::Answer(200, "1-1", same)]);
        assert_eq!(by(&perform(&house.client(), "add").await), "daemon", "{act:?}");
        assert_eq!(house.asked(), ["/v1/operations add", "/v1/status", "/v1/operations add"], "{act:?}");

        for other in [status("1-2"), "{}".to_owned(), "nonsense".to_owned()] {
            let house = House::new().daemon([act.clone(), Act::Answer(200, "1-1", other.clone())]);
            let envelope = perform(&house.client(), "add").await;
            assert_eq!(by(&envelope), "check-outcome-before-retrying", "{act:?} {other}");
            assert!(envelope.error.unwrap().retryable);
            assert_eq!(house.asked(), ["/v1/operations add", "/v1/status"], "{act:?} {other}");
        }
    }
}

#[tokio::test]
async fn an_action_that_this_client_does_not_know_counts_as_a_change() {
    let house = House::new().daemon([Act::Break(""), Act::Answer(200, "1-1", status("other"))]);
    assert_eq!(by(&perform(&house.client(), "novel").await), "check-outcome-before-retrying");
}

#[tokio::test]
async fn a_daemon_that_is_late_is_left_alone_for_a_while() {
    let house = House::new();
    let same = status(&house.journal());
    let house = house.daemon([Act::Silence]).executable("", &[same, envelope("own"), envelope("own again")]);
    let client = house.client();
    assert_eq!(by(&perform(&client, "add").await), "own");
    assert_eq!(by(&perform(&client, "list").await), "own again");
    assert_eq!(house.asked(), ["/v1/operations add"]);
    assert!(client.engine_note().unwrap().contains("does not answer"));
}

#[tokio::test]
async fn a_late_change_whose_journal_the_private_engine_lacks_is_reported() {
    let house = House::new().daemon([Act::Silence]).executable("", &[status("other")]);
    assert_eq!(by(&perform(&house.client(), "add").await), "check-outcome-before-retrying");
}

#[tokio::test]
async fn waiting_changes_do_not_hold_up_a_read() {
    let house = House::new().daemon(vec![Act::Silence; 3]).executable("", &[]);
    let client = house.client();
    let changes: Vec<_> = (0..6)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { perform(&client, "add").await })
        })
        .collect();
    while house.asked().len() < 3 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(by(&perform(&client, "list").await), "daemon");
    for change in changes {
        change.abort();
    }
}

#[tokio::test]
async fn a_daemon_of_a_newer_protocol_is_never_stopped_and_the_own_engine_is_used() {
    let error = json!({"error": "too old"}).to_string();
    let house = House::new().daemon([Act::Answer(426, "7-9", error)]).executable("", &[envelope("own")]);
    let client = house.client();
    assert_eq!(by(&perform(&client, "add").await), "own");
    assert_eq!(house.asked(), ["/v1/operations add"]);
    let note = client.engine_note().unwrap();
    assert!(note.contains("7-9") && note.contains("1-1"), "{note}");
    assert_eq!(client.engine_warning(), Some(note));
}

#[tokio::test]
async fn a_daemon_without_room_is_left_alone_and_a_change_goes_to_the_own_engine() {
    let error = json!({"error": "full"}).to_string();
    let house = House::new().daemon([Act::Answer(503, "1-1", error)]).executable("", &[envelope("own")]);
    let client = house.client();
    assert_eq!(by(&perform(&client, "add").await), "own");
    assert_eq!(house.asked(), ["/v1/operations add"]);
    assert!(client.engine_note().unwrap().contains("no more connections"));
}

#[tokio::test]
async fn an_answer_in_another_protocol_is_not_believed_for_a_read() {
    let foreign = Act::Answer(200, "7-9", envelope("stranger"));
    let house = House::new().daemon([foreign]).executable("", &[envelope("own")]);
    assert_eq!(by(&perform(&house.client(), "list").await), "own");
}

#[tokio::test]
async fn a_daemon_of_an_older_protocol_is_asked_to_leave_once() {
    let error = json!({"error": "too new"}).to_string();
    // This one answers and stays, so the own engine is used in the end.
    let acts = [Act::Answer(426, "0-0", error.clone()), Act::Answer(200, "0-0", "{}".to_owned())];
    let house = House::new().daemon(acts).executable("", &[envelope("own")]);
    let client = house.client();
    assert_eq!(by(&perform(&client, "add").await), "own");
    assert_eq!(house.asked()[..2], ["/v1/operations add", "/v1/shutdown"]);
    assert!(client.engine_note().is_some());
}

#[tokio::test]
async fn an_engine_that_does_not_understand_the_request_is_reported() {
    let error = json!({"error": "the body is no operation"}).to_string();
    let house = House::new().daemon([Act::Answer(400, "1-1", error)]);
    let envelope = perform(&house.client(), "list").await;
    assert_eq!(by(&envelope), "repair-stepstone-installation");
    assert!(envelope.error.unwrap().message.contains("the body is no operation"));
}

#[tokio::test]
async fn an_engine_that_fails_on_a_change_is_not_taken_to_have_done_nothing() {
    for (action, resolution) in [("add", "check-outcome-before-retrying"), ("list", "retry-later")] {
        let error = json!({"error": "the engine gave up on this request"}).to_string();
        let house = House::new().daemon([Act::Answer(500, "1-1", error)]);
        assert_eq!(by(&perform(&house.client(), action).await), resolution);
    }
}

#[tokio::test]
async fn a_request_that_no_engine_takes_is_not_sent() {
    let house = House::new().daemon([]);
    let text = "x".repeat(stepstone_proto::protocol::BODY_LIMIT);
    let operation = Map::from_iter([("action".to_owned(), "add".into()), ("title".to_owned(), text.into())]);
    let envelope = house.client().perform(Context::default(), operation).await;
    assert_eq!(by(&envelope), "send-a-smaller-request");
    assert_eq!(house.asked(), [""; 0]);
}

#[tokio::test]
async fn reasons_to_use_the_private_engine_are_kept_and_not_shown() {
    type Set<'a> = &'a dyn Fn(&mut Surroundings);
    let ready = json!({"report": "ready", "pid": 1}).to_string();
    let failed = json!({"report": "failed", "error": "no space left"}).to_string();
    let surroundings = |house: &House, change: &dyn Fn(&mut Surroundings)| {
        let mut surroundings = house.surroundings();
        change(&mut surroundings);
        surroundings
    };
    let table: [(&str, &str, Set<'_>); 5] = [
        ("", "STEPSTONE_NO_DAEMON", &|it| it.no_daemon = true),
        ("", "CODEX_SANDBOX", &|it| it.sandbox = Some("CODEX_SANDBOX")),
        (&failed, "no space left", &|_| {}),
        (&ready, "gone again", &|_| {}),
        ("what?", "without a report", &|_| {}),
    ];
    for (report, reason, change) in table {
        let house = House::new().executable(report, &[envelope("own"), envelope("own again")]);
        let client = Client::new(surroundings(&house, change));
        assert_eq!(by(&perform(&client, "list").await), "own", "{reason}");
        assert_eq!(by(&perform(&client, "list").await), "own again", "{reason}");
        let note = client.engine_note().unwrap();
        assert!(note.contains(reason), "{note}");
        assert_eq!(client.engine_warning(), None);
    }
}

#[tokio::test]
async fn a_state_directory_that_cannot_be_trusted_is_named_and_not_used() {
    let house = House::new().daemon([]).executable("", &[envelope("own")]);
    let directory = house.layout.directory().to_owned();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    let client = house.client();
    assert_eq!(by(&perform(&client, "list").await), "own");
    assert!(client.engine_note().unwrap().contains(directory.to_str().unwrap()));
    assert_eq!(house.asked(), [""; 0]);
}

#[tokio::test]
async fn without_any_engine_the_answer_says_what_to_do() {
    let house = House::new();
    let envelope = perform(&house.client(), "list").await;
    assert_eq!(by(&envelope), "repair-stepstone-installation");
    assert!(envelope.error.unwrap().message.contains("stepstoned"));
}

#[tokio::test]
async fn a_socket_that_nobody_listens_on_is_no_daemon_and_is_left_in_its_place() {
    let house = House::new().executable("", &[envelope("own")]);
    drop(std::os::unix::net::UnixListener::bind(house.layout.socket()).unwrap());
    assert!(control::status(&house.surroundings()).await.unwrap().is_none());
    assert_eq!(by(&perform(&house.client(), "list").await), "own");
    assert!(house.layout.socket().exists());
}

#[tokio::test]
async fn control_speaks_with_any_version_and_tells_the_truth() {
    let other = Act::Answer(200, "40-41", json!({"pid": 9, "version": "40.0.0", "new": {}}).to_string());
    let house = House::new().daemon([other]);
    let status = control::status(&house.surroundings()).await.unwrap().unwrap();
    assert_eq!(status.version, "40.0.0");
    // What the system says about the process counts.
    assert_eq!(status.pid, std::process::id());

    let none = House::new();
    assert!(control::status(&none.surroundings()).await.unwrap().is_none());
    assert_eq!(control::stop(&none.surroundings()).await.unwrap().pid, None);

    let silent = House::new().daemon([Act::Silence, Act::Silence]);
    let error = control::status(&silent.surroundings()).await.unwrap_err();
    assert!(matches!(error, control::ControlError::NoAnswer { pid: Some(pid) } if pid == std::process::id()));
}

#[tokio::test]
async fn a_held_lock_without_a_socket_is_not_called_stopped() {
    let house = House::new();
    let _lock = state::LockFile::try_take(&house.layout.daemon_lock()).unwrap().unwrap();
    let error = control::stop(&house.surroundings()).await.unwrap_err();
    assert!(matches!(error, control::ControlError::NoSocket), "{error}");
}

#[tokio::test]
async fn those_who_wait_for_a_start_find_the_daemon_at_the_next_pause() {
    let house = House::new();
    let _starter = state::LockFile::try_take(&house.layout.start_lock()).unwrap().unwrap();
    let client = house.client();
    let waiting = tokio::spawn(async move { perform(&client, "list").await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    let house = house.daemon([]);
    assert_eq!(by(&waiting.await.unwrap()), "daemon");
    assert_eq!(house.asked(), ["/v1/operations list"]);
}

#[test]
fn executables_are_found_on_absolute_path_entries_only() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("stepstoned"), "").unwrap();
    let path = std::env::join_paths([Path::new("relative"), Path::new(""), directory.path()]).unwrap();
    assert_eq!(crate::executable::candidates(Some(&path)), [directory.path().join("stepstoned")]);
}
