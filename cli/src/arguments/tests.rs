use serde_json::{Value, json};

use super::*;

fn parse_line(line: &[&str]) -> Result<Invocation, Usage> {
    parse(&line.iter().map(OsString::from).collect::<Vec<_>>())
}

fn asked(line: &[&str]) -> Asked {
    match parse_line(line).unwrap_or_else(|usage| panic!("{line:?}: {usage}")).task {
        Task::Operation(asked) => asked,
        other => panic!("{line:?}: {other:?}"),
    }
}

fn operation(line: &[&str]) -> Value {
    Value::Object(asked(line).operation)
}

fn usage(line: &[&str]) -> Usage {
    match parse_line(line) {
        Err(usage) => usage,
        Ok(other) => panic!("{line:?}: {other:?}"),
    }
}

#[test]
fn every_row_of_the_command_table_becomes_its_operation() {
    let table: &[(&[&str], Value)] = &[
        (&["list"], json!({"action": "list"})),
        (&["list", "--full"], json!({"action": "list", "full": true})),
        (
            &[
                "list",
                "--status",
                "open",
                "--status",
                "active",
                "--group",
                "G",
                "--claimed",
                "--limit",
                "5",
                "--after",
                "a",
            ],
            json!({"action": "list", "status": ["open", "active"], "group": "G", "claimed": true, "limit": 5, "after": "a"}),
        ),
        (&["ready"], json!({"action": "ready"})),
        (&["ready", "--full"], json!({"action": "ready", "full": true})),
        (&["waves", "--full"], json!({"action": "waves", "full": true})),
        (&["next"], json!({"action": "next"})),
        (&["show", "a"], json!({"action": "show", "id": "a"})),
        (&["why", "a"], json!({"action": "why", "id": "a"})),
        (&["find", "two", "words"], json!({"action": "find", "query": "two words"})),
        (&["find", "--full", "x"], json!({"action": "find", "query": "x", "full": true})),
        (&["find", "--", "--json"], json!({"action": "find", "query": "--json"})),
        (&["add", "A", "title"], json!({"action": "add", "title": "A title"})),
        (
            &[
                "add",
                "T",
                "--description",
                "D",
                "--group",
                "G",
                "--depends-on",
                "a",
                "--depends-on",
                "b",
                "--link",
                "http://x",
            ],
            json!({"action": "add", "title": "T", "description": "D", "group": "G", "dependsOn": ["a", "b"], "links": ["http://x"]}),
        ),
        (
            &["add", "T", "--", "typed", "by", "hand"],
            json!({"action": "add", "title": "T", "description": "typed by hand"}),
        ),
        (&["add", "T", "--group", "G", "more"], json!({"action": "add", "title": "T more", "group": "G"})),
        (
            &["add", "--description", "D", "T", "U"],
            json!({"action": "add", "title": "T U", "description": "D"}),
        ),
        (&["add", ""], json!({"action": "add", "title": ""})),
        (&["update", "a", "New", "title"], json!({"action": "update", "id": "a", "title": "New title"})),
        (
            &["update", "a", "New", "--description", "D", "--expect-updated-at", "T"],
            json!({"action": "update", "id": "a", "title": "New", "description": "D", "expectedUpdatedAt": "T"}),
        ),
        (&["update", "--description", "D", "a"], json!({"action": "update", "id": "a", "description": "D"})),
        (
            &["update", "a", "--append-description", "D"],
            json!({"action": "update", "id": "a", "appendDescription": "D"}),
        ),
        (
            &["update", "a", "--append", "--", "x", "y"],
            json!({"action": "update", "id": "a", "appendDescription": "x y"}),
        ),
        (&["update", "a", "--", "x", "y"], json!({"action": "update", "id": "a", "description": "x y"})),
        (&["update", "a", "--"], json!({"action": "update", "id": "a", "description": ""})),
        (
            &["update", "a", "N", "--", "D"],
            json!({"action": "update", "id": "a", "title": "N", "description": "D"}),
        ),
        (&["update", "a", "--description", ""], json!({"action": "update", "id": "a", "description": ""})),
        (&["update", "a", "--group", ""], json!({"action": "update", "id": "a", "group": ""})),
        (
            &["update", "a", "--depends-on", "", "--link", ""],
            json!({"action": "update", "id": "a", "dependsOn": [], "links": []}),
        ),
        (&["move", "a", "up"], json!({"action": "move", "id": "a", "direction": "up"})),
        (&["move", "a", "down"], json!({"action": "move", "id": "a", "direction": "down"})),
        (&["move", "a", "before", "b"], json!({"action": "move", "id": "a", "beforeId": "b"})),
        (&["move", "a", "after", "b"], json!({"action": "move", "id": "a", "afterId": "b"})),
        (&["start"], json!({"action": "start"})),
        (&["start", "a", "--branch", "b"], json!({"action": "start", "id": "a", "branch": "b"})),
        (
            &["start", "a", "--clear", "--take-over", "--expect-updated-at", "T"],
            json!({"action": "start", "id": "a", "clear": true, "takeOver": true, "expectedUpdatedAt": "T"}),
        ),
        (
            &["set_active", "a", "--expect-updated-at", "T"],
            json!({"action": "set_active", "id": "a", "expectedUpdatedAt": "T"}),
        ),
        (
            &["complete", "a", "--confirm", "--expect-updated-at", "T"],
            json!({"action": "complete", "id": "a", "confirm": true, "expectedUpdatedAt": "T"}),
        ),
        (&["reopen", "a"], json!({"action": "reopen", "id": "a"})),
        (&["archive", "a", "--confirm"], json!({"action": "archive", "id": "a", "confirm": true})),
        (&["delete", "a", "--confirm"], json!({"action": "delete", "id": "a", "confirm": true})),
        (&["migrate_ids", "--dry-run"], json!({"action": "migrate_ids", "dryRun": true})),
        (&["migrate_path", "--confirm"], json!({"action": "migrate_path", "confirm": true})),
        (&["init"], json!({"action": "init"})),
    ];
    for (line, expected) in table {
        assert_eq!(operation(line), *expected, "{line:?}");
        let with_project: Vec<&str> = std::iter::once("project").chain(line.iter().copied()).collect();
        assert_eq!(operation(&with_project), *expected, "{with_project:?}");
    }
}

#[test]
fn files_are_named_and_read_later() {
    let plan = asked(&["apply-plan", "plan.json", "--dry-run", "--expect-revision", "7"]);
    assert_eq!(
        Value::Object(plan.operation),
        json!({"action": "apply-plan", "dryRun": true, "expectedRevision": 7})
    );
    assert_eq!(plan.from_file, Some(FromFile { path: "plan.json".into(), content: Content::Plan }));
    assert_eq!(
        asked(&["apply-plan", "-"]).from_file,
        Some(FromFile { path: "-".into(), content: Content::Plan })
    );
    for line in [&["add", "T", "--description-file", "-"][..], &["update", "a", "--description-file=-"]] {
        let from = asked(line).from_file;
        assert_eq!(from, Some(FromFile { path: "-".into(), content: Content::Description }), "{line:?}");
    }
}

#[test]
fn hyphens_and_underscores_name_the_same_action() {
    for (line, action) in [
        (&["set-active", "a"][..], "set_active"),
        (&["project", "migrate-ids", "--dry-run"], "migrate_ids"),
        (&["migrate-path", "--dry-run"], "migrate_path"),
        (&["apply_plan", "x"], "apply-plan"),
    ] {
        assert_eq!(operation(line).get("action"), Some(&json!(action)), "{line:?}");
    }
}

#[test]
fn a_description_may_look_like_any_flag() {
    for flag in ["--confirm", "--json", "--description", "-v", "-x", "--cwd=/"] {
        for (line, argument) in [
            (["update", "a", "--description", flag], "description"),
            (["update", "a", "--append-description", flag], "appendDescription"),
        ] {
            let operation = operation(&line);
            assert_eq!(operation.get(argument), Some(&json!(flag)), "{line:?}");
        }
        let operation = operation(&["add", "T", &format!("--description={flag}")]);
        assert_eq!(operation.get("description"), Some(&json!(flag)));
    }
    assert_eq!(operation(&["add", "T", "--description=--"]).get("description"), Some(&json!("--")));
    let invocation = parse_line(&["add", "T", "--description", "--json"]).unwrap();
    assert!(!invocation.everywhere.json);
}

#[test]
fn a_title_may_begin_with_a_dash() {
    assert_eq!(operation(&["add", "--title=-x ray"]), json!({"action": "add", "title": "-x ray"}));
    assert_eq!(operation(&["add", "--title", "--json"]), json!({"action": "add", "title": "--json"}));
    assert_eq!(operation(&["add", "--", "-x", "ray"]), json!({"action": "add", "title": "-x ray"}));
    assert_eq!(
        operation(&["add", "--title=-x", "--", "words"]),
        json!({"action": "add", "title": "-x", "description": "words"})
    );
    assert_eq!(
        operation(&["update", "a", "--title=-x"]),
        json!({"action": "update", "id": "a", "title": "-x"})
    );
}

#[test]
fn the_flags_of_every_command_stand_anywhere() {
    for line in [
        &["--json", "--cwd", "/d", "--file=f.json", "-v", "list"][..],
        &["list", "--json", "--cwd", "/d", "--file", "f.json", "-v"],
        &["--json", "project", "--cwd=/d", "list", "--file", "f.json", "--verbose"],
    ] {
        let everywhere = parse_line(line).unwrap().everywhere;
        let expected =
            Everywhere { json: true, cwd: Some("/d".into()), file: Some("f.json".into()), verbose: true };
        assert_eq!(everywhere, expected, "{line:?}");
    }
}

/// What the refusal must name, for each line that is one.
#[test]
fn every_usage_error_names_what_is_wrong() {
    let table: &[(&[&str], &[&str])] = &[
        (&[], &["list"]),
        (&["project"], &["list"]),
        (&["lsit"], &["lsit", "Did you mean `list`"]),
        (&["project", "explode"], &["explode", "stepstone help"]),
        (&["session", "add"], &["session"]),
        (&["list", "--ful"], &["--ful", "Did you mean --full"]),
        (&["ready", "--colour"], &["--colour", "--full"]),
        (&["ready", "--group", "x"], &["--group", "list, add and update"]),
        (&["list", "--depends-on", "a"], &["--depends-on", "add and update"]),
        (&["list", "--dry-run"], &["--dry-run", "apply-plan"]),
        (&["--full", "list"], &["--full", "behind the command"]),
        (&["add", "T", "--append", "--", "x"], &["--append", "update"]),
        (&["complete", "a", "b", "--confirm"], &["`b`", "one word too many"]),
        (&["next", "x"], &["`x`", "one word too many"]),
        (&["apply-plan", "a.json", "b.json"], &["b.json", "one word too many"]),
        (&["show"], &["show", "<id>"]),
        (&["complete", "--confirm"], &["complete", "<id>"]),
        (&["find"], &["find", "<text...>"]),
        (&["add"], &["add", "<title...>"]),
        (&["add", "--"], &["add", "<title...>"]),
        (&["update"], &["update", "<id>"]),
        (&["apply-plan"], &["apply-plan", "JSON"]),
        (&["update", "a", "--group"], &["--group", "needs a value"]),
        (&["update", "a", "--description"], &["--description", "needs a value"]),
        (&["list", "--cwd", "--json"], &["--cwd", "needs a value"]),
        (&["add", "T", "--depends-on", "--json"], &["--depends-on", "needs a value"]),
        (&["list", "--limit", "ten"], &["--limit", "whole number", "ten"]),
        (&["list", "--json=yes"], &["--json", "no value"]),
        (&["add", "T", "--description", "a", "--description", "b"], &["--description", "twice"]),
        (
            &["update", "a", "--description", "x", "--append-description", "y"],
            &["--description", "--append-description"],
        ),
        (
            &["update", "a", "--description", "x", "--description-file", "y"],
            &["--description", "--description-file"],
        ),
        (&["add", "T", "--description", "a", "--", "b"], &["--description", "--"]),
        (&["update", "a", "--append-description", "x", "--", "y"], &["--append-description", "--"]),
        (&["update", "a", "--description", "--"], &["--description", "one argument"]),
        (&["add", "T", "--description", "--", "words"], &["--description", "one argument"]),
        (&["update", "a", "--append"], &["--append", "words"]),
        (&["update", "a", "--append", "--"], &["--append", "words"]),
        (&["update", "a", "--append", "--description", "x"], &["--append", "--description"]),
        (&["add", "T", "--", "some", "--json"], &["--json", "behind --"]),
        (&["add", "T", "--", "some", "--group=x"], &["--group", "behind --"]),
        (&["update", "a", "--append", "--", "until", "--json", "--confirm"], &["--json and --confirm"]),
        (&["add", "--", "--json"], &["--json"]),
        (
            &["update", "a", "--description", "some", "long", "text"],
            &["--description", "new title", "quotes"],
        ),
        (&["update", "a", "--append-description", "some", "text"], &["--append-description", "new title"]),
        (&["update", "a", "New", "--description", "some", "text"], &["--description", "new title"]),
        (&["add", "My", "goal", "--description", "some", "text"], &["--description", "more of the title"]),
        (&["add", "T", "--title=x"], &["--title", "two titles"]),
        (&["update", "a"], &["nothing to change", "--depends-on"]),
        (&["update", "a", "--expect-updated-at", "T"], &["nothing to change"]),
        (&["update", "a", "--depends-on", "", "--depends-on", "b"], &["--depends-on", "alone"]),
        (&["update", "a", "--link", "http://x", "--link", ""], &["--link", "alone"]),
        (&["move"], &["move", "<id>"]),
        (&["move", "a"], &["up, down, before <id> or after <id>"]),
        (&["move", "a", "sideways"], &["sideways", "up, down"]),
        (&["move", "a", "before"], &["before", "needs the goal"]),
        (&["move", "a", "up", "b"], &["`up` takes no goal"]),
        (&["move", "a", "before", "b", "c"], &["`c`", "one word too many"]),
        (&["migrate_ids", "--confirm", "--dry-run"], &["--confirm", "--dry-run"]),
        (&["migrate_path", "--dry-run", "--confirm"], &["--confirm", "--dry-run"]),
        (&["migrate_path", "--dry-run", "--file", "x"], &["--file"]),
        (&["add", "-x"], &["-x", "--title=T"]),
        (&["daemon"], &["status, start, stop, restart and logs"]),
        (&["daemon", "stats"], &["Did you mean `daemon status`"]),
        (&["daemon", "logs", "--lines", "many"], &["--lines"]),
        (&["completions"], &["bash, zsh or fish"]),
        (&["completions", "csh"], &["csh", "bash, zsh and fish"]),
        (&["help", "lsit"], &["Did you mean `list`"]),
        (&["man", "lsit"], &["Did you mean `list`"]),
    ];
    for (line, named) in table {
        let usage = usage(line);
        for words in *named {
            assert!(usage.message.contains(words), "{line:?} should name {words:?}: {}", usage.message);
        }
    }
}

#[test]
fn a_usage_error_is_an_invalid_request() {
    let envelope = serde_json::to_value(usage(&["ready", "--group", "x"]).envelope()).unwrap();
    assert_eq!(envelope.pointer("/action"), Some(&json!("ready")));
    assert_eq!(envelope.pointer("/scope"), Some(&json!("project")));
    assert_eq!(envelope.pointer("/error/code"), Some(&json!("INVALID_REQUEST")));
    assert_eq!(envelope.pointer("/error/details/flags"), Some(&json!(["--group"])));
    assert_eq!(envelope.pointer("/error/details/usage"), Some(&json!(["stepstone ready [--full]"])));
    let unknown = serde_json::to_value(usage(&["explode"]).envelope()).unwrap();
    assert!(unknown.pointer("/error/details/supportedActions").is_some_and(Value::is_array));
    let daemon = serde_json::to_value(usage(&["daemon", "status", "--full"]).envelope()).unwrap();
    assert_eq!(daemon.pointer("/scope"), Some(&json!("daemon")));
    assert_eq!(daemon.pointer("/action"), Some(&json!("status")));
}

#[test]
fn help_is_given_at_every_level_whatever_else_stands_there() {
    for (line, topic) in [
        (&["--help"][..], Topic::Overview),
        (&["-h"], Topic::Overview),
        (&["help"], Topic::Overview),
        (&["project", "--help"], Topic::Overview),
        (&["project", "help"], Topic::Overview),
        (&["daemon", "--help"], Topic::Family("daemon")),
        (&["help", "daemon"], Topic::Family("daemon")),
    ] {
        assert_eq!(parse_line(line).unwrap().task, Task::Help(topic), "{line:?}");
    }
    for line in [
        &["update", "-h"][..],
        &["project", "update", "--help"],
        &["update", "a", "--nonsense", "--help"],
        &["help", "update"],
        &["project", "help", "update"],
        &["--json", "help", "project", "update"],
    ] {
        match parse_line(line).unwrap().task {
            Task::Help(Topic::Command(command)) => assert_eq!(command.name, "update", "{line:?}"),
            other => panic!("{line:?}: {other:?}"),
        }
    }
}

#[test]
fn every_command_has_help_and_a_page() {
    for command in command_line::commands() {
        for first in ["help", "man"] {
            let words: Vec<&str> = std::iter::once(first).chain(command.name.split(' ')).collect();
            match parse_line(&words).unwrap().task {
                Task::Help(Topic::Command(found)) | Task::Man(Topic::Command(found)) => {
                    assert_eq!(found.name, command.name);
                }
                other => panic!("{words:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn the_daemon_and_the_tools_are_parsed() {
    for (line, task) in [
        (&["daemon", "status"][..], Task::Daemon(DaemonTask::Status)),
        (&["daemon", "start"], Task::Daemon(DaemonTask::Start)),
        (&["daemon", "stop", "--json"], Task::Daemon(DaemonTask::Stop)),
        (&["daemon", "restart"], Task::Daemon(DaemonTask::Restart)),
        (&["daemon", "logs"], Task::Daemon(DaemonTask::Logs(50))),
        (&["daemon", "logs", "--lines", "3"], Task::Daemon(DaemonTask::Logs(3))),
        (&["doctor"], Task::Doctor),
        (&["project", "doctor"], Task::Doctor),
        (&["project", "daemon", "status"], Task::Daemon(DaemonTask::Status)),
        (&["completions", "zsh"], Task::Completions(Shell::Zsh)),
        (&["--version"], Task::Version),
        (&["-V"], Task::Version),
        (&["__complete", "list", "--"], Task::Complete(vec!["list".into(), "--".into()])),
    ] {
        assert_eq!(parse_line(line).unwrap().task, task, "{line:?}");
    }
}

#[cfg(unix)]
#[test]
fn text_that_is_no_utf_8_is_a_usage_error() {
    use std::os::unix::ffi::OsStringExt;
    let bad = OsString::from_vec(vec![0x66, 0xff]);
    for line in
        [vec!["add".into(), bad.clone()], vec!["update".into(), "a".into(), "--group".into(), bad.clone()]]
    {
        assert!(parse(&line).unwrap_err().message.contains("UTF-8"));
    }
    let plan = parse(&["apply-plan".into(), bad.clone()]).unwrap();
    assert!(matches!(plan.task, Task::Operation(Asked { from_file: Some(from), .. }) if from.path == bad));
}
