//! What the daemon refuses: silence, rubbish, too much, too many, others.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::json;
use stepstone_tests::{Run, Sandbox, eventually, skipped};

use super::{ask, connect, note, operation, served_by_the_daemon, socket};

/// What comes until the other side closes.
fn until_closed(stream: &mut UnixStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A connection that is cut off with bytes unread ends with an error.
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

#[test]
fn a_client_that_connects_and_says_nothing_is_cut_off() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let mut silent = connect(&sandbox);
    let mut half = connect(&sandbox);
    half.write_all(b"GET /v1/sta").unwrap();
    assert_eq!(until_closed(&mut silent), b"");
    assert_eq!(until_closed(&mut half), b"");
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn garbage_is_answered_as_such_and_harms_nobody() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let noise: Vec<u8> =
        (0..65_536_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let long = [b"GET /".as_slice(), &vec![b'a'; 1 << 20], b" HTTP/1.1\r\n\r\n"].concat();
    let many = [b"GET / HTTP/1.1\r\n".to_vec(), b"a: b\r\n".repeat(10_000), b"\r\n".to_vec()].concat();
    let table: [&[u8]; 9] = [
        b"\r\n\r\n\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v1/operations HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/operations HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        &noise,
        &long,
        &many,
    ];
    for bytes in table {
        let mut stream = connect(&sandbox);
        // It may be cut off while it is still talking.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let answer = String::from_utf8_lossy(&until_closed(&mut stream)).into_owned();
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{shown:?}: {answer}");
    }
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn bodies_over_the_limit_are_refused_and_those_up_to_it_are_read() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let limit = stepstone_proto::protocol::BODY_LIMIT;
    let shell = operation(&sandbox.root(), &json!({"action": "find", "query": ""})).len();
    let body = |length: usize| {
        operation(&sandbox.root(), &json!({"action": "find", "query": "x".repeat(length - shell)}))
    };
    let (status, _) = ask(&sandbox, "POST", "/v1/operations", "", &body(limit));
    assert_eq!(status, 200);
    // Refused at the head already, so that nobody waits for the rest.
    let mut stream = connect(&sandbox);
    let head = format!("POST /v1/operations HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", limit + 1);
    stream.write_all(head.as_bytes()).unwrap();
    let _ = stream.write_all(body(limit + 1).as_bytes());
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 413");
    let large = "x".repeat(limit);
    let run = sandbox.cli(["add", "Large", "--json", "--description-file", "-"]).input(large).finish();
    run.envelope().refused_with("INVALID_REQUEST", "send-a-smaller-request");
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn as_many_connections_as_are_taken_leave_everyone_answered() {
    let sandbox = Sandbox::new();
    let daemon = served_by_the_daemon(&sandbox);
    let mut idle = Vec::new();
    let refused = loop {
        let mut stream = connect(&sandbox);
        // Whoever has asked once may stay.
        let _ = stream.write_all(b"GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\n");
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).unwrap();
        if &begin != b"HTTP/1.1 200" {
            assert_eq!(&begin, b"HTTP/1.1 503");
            break idle.len();
        }
        idle.push(stream);
    };
    assert_eq!(refused, 256);
    assert_eq!(sandbox.cli(["add", "One"]).json().id(), "one");
    let run = sandbox.cli(["list"]).finish();
    run.ended(0);
    assert_eq!(run.err(), "");
    assert_eq!(sandbox.daemons(), std::slice::from_ref(&daemon));
    drop(idle);
    eventually("room for another connection", || {
        note(&sandbox).contains("answered by the daemon").then_some(())
    });
    assert_eq!(sandbox.daemon(), daemon);
}

#[test]
fn another_user_is_refused_even_where_the_directory_lets_them_in() {
    if !rustix::process::geteuid().is_root() {
        return skipped("another user's connection", "only root can become another user");
    }
    let mut sandbox = Sandbox::new();
    let state = sandbox.base().join("state");
    sandbox.set_env("STEPSTONE_STATE_DIR", &state);
    let daemon = served_by_the_daemon(&sandbox);
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(sandbox.base(), 0o755);
    open(&state, 0o711);
    open(&socket(&sandbox), 0o777);
    // Enough of a client, in a program that is surely here and readable for everybody.
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.connect(sys.argv[1])\n\
                  try:\n    s.sendall(b'GET /v1/status HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n')\n\
                  \x20   print(len(s.recv(100)))\n\
                  except OSError:\n    print(0)\n";
    let run_as = |user: u32| {
        let mut command = sandbox.command("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
        command.args(["/usr/bin/env", "-i", "/usr/bin/python3", "-c", script]).arg(socket(&sandbox));
        Run::new(command).finish()
    };
    let own = run_as(0);
    if own.code != Some(0) {
        return skipped("another user's connection", &own.err());
    }
    assert_ne!(own.out().trim(), "0", "{}", own.err());
    assert_eq!(run_as(12_345).out().trim(), "0");
    assert!(sandbox.daemon_log().contains("user 12345 was refused"), "{}", sandbox.daemon_log());
    assert_eq!(served_by_the_daemon(&sandbox), daemon);
}

#[test]
fn the_log_has_no_goal_texts_and_no_environment() {
    let mut sandbox = Sandbox::new();
    sandbox.set_env("STEPSTONE_LOG", "trace");
    sandbox.set_env("SOME_TOKEN", "environment-9c1f");
    for arguments in [
        &["add", "title-9c1f", "--description", "description-9c1f"][..],
        &["update", "title-9c1f", "--append-description", "appended-9c1f"],
        &["find", "description-9c1f"],
        &["add", "--title=x", "--link", "nonsense"],
        &["list"],
    ] {
        sandbox.cli(arguments).finish();
    }
    sandbox.write_worklist("{ \"description-9c1f\"");
    sandbox.cli(["list"]).finish();
    served_by_the_daemon_log(&sandbox);
}

#[track_caller]
fn served_by_the_daemon_log(sandbox: &Sandbox) {
    let log = sandbox.daemon_log();
    assert!(log.contains("ready"), "{log}");
    for text in ["description-9c1f", "appended-9c1f", "environment-9c1f"] {
        assert!(!log.contains(text), "{text} in {log}");
    }
}
