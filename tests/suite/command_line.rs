//! The command line with the real executables: streams, exit codes, files, the daemon's commands, `doctor`, `init`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use stepstone_tests::{Finished, Goal, Sandbox, worklist};

/// The one envelope of a run, and that nothing else was printed.
fn envelope(finished: &Finished) -> Value {
    finished.envelope().0
}

#[test]
fn an_envelope_goes_to_the_stream_that_ok_names_and_nothing_else_is_printed() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("alpha")]));
    for (line, code) in [
        (&["list", "--json", "-v"][..], 0),
        (&["next", "--json"], 0),
        (&["show", "nothing", "--json"], 1),
        (&["lsit", "--json"], 2),
        (&["--json", "ready", "--group", "x"], 2),
        (&["complete", "alpha", "--json"], 3),
        (&["update", "alpha", "x", "--expect-updated-at", "2020-01-01T00:00:00Z", "--json"], 4),
    ] {
        let finished = sandbox.cli(line).finish();
        assert_eq!(finished.code, Some(code), "{line:?}");
        let envelope = envelope(&finished);
        assert_eq!(envelope["ok"], json!(code == 0), "{line:?}");
        assert!(envelope["meta"]["cliVersion"].is_string(), "{line:?}");
        let printed = if code == 0 { finished.out() } else { finished.err() };
        assert!(printed.starts_with("{\n  \"ok\": "), "pretty: {printed}");
    }
}

#[test]
fn a_usage_error_contacts_nothing() {
    let sandbox = Sandbox::new();
    for line in [
        &["ready", "--group", "x", "--json"][..],
        &["move", "a", "sideways", "--json"],
        &["explode", "--json"],
    ] {
        let finished = sandbox.cli(line).finish();
        assert_eq!(finished.code, Some(2), "{line:?}");
        assert_eq!(envelope(&finished)["error"]["code"], "INVALID_REQUEST", "{line:?}");
    }
    assert!(sandbox.daemons().is_empty());
    assert_eq!(sandbox.state_directory(), None);
    assert!(!sandbox.worklist_path().exists());
}

#[test]
fn a_closed_pipe_is_a_quiet_end() {
    let sandbox = Sandbox::new();
    let goals: Vec<Goal> = (0..3_000).map(|number| Goal::open(&format!("goal-number-{number}"))).collect();
    sandbox.write_worklist(worklist(1, goals));
    let cli = sandbox.executables().cli.display().to_string();
    for flags in ["", " --json", " --full"] {
        let mut shell = sandbox.command("bash");
        shell.args(["-c", &format!("'{cli}' list{flags} | head -1; echo \"${{PIPESTATUS[0]}}\"")]);
        let finished = stepstone_tests::Run::new(shell).finish();
        assert_eq!(finished.err(), "", "{flags}");
        assert_eq!(finished.out().lines().last(), Some("0"), "{flags}");
    }
}

#[test]
fn goal_ids_are_completed_silently_and_start_no_daemon() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("alpha"), Goal::open("beta"), Goal::open("alpine")]));
    let offered = sandbox.cli(["__complete", "show", "al"]).finish();
    assert_eq!((offered.out().as_str(), offered.err().as_str()), ("alpha\t\nalpine\t\n", ""));
    let within = sandbox.cli(["__complete", "--cwd", &sandbox.root().to_string_lossy(), "show", "b"]);
    assert_eq!(within.within(sandbox.base()).finish().ended(0), "beta\t\n");
    let outside = sandbox.cli(["__complete", "show", ""]).within(sandbox.base()).finish();
    assert_eq!((outside.out().as_str(), outside.err().as_str()), ("", ""));
    assert!(sandbox.daemons().is_empty());
}

#[test]
fn completion_scripts_are_scripts_of_their_shells() {
    let sandbox = Sandbox::new();
    let script = sandbox.cli(["completions", "bash"]).finish().ended(0);
    let mut shell = sandbox.command("bash");
    shell.args(["-n", "-c", &script]);
    stepstone_tests::Run::new(shell).finish().ended(0);
    assert!(sandbox.cli(["completions", "zsh"]).finish().ended(0).starts_with("#compdef stepstone\n"));
    assert!(sandbox.cli(["completions", "fish"]).finish().ended(0).contains("complete -c stepstone"));
}

#[test]
fn long_texts_come_from_files_and_from_standard_input() {
    let sandbox = Sandbox::new();
    let text = format!("--json\n{}\n", "x".repeat(300_000));
    let added = sandbox.cli(["add", "Long", "--description-file", "-"]).input(text.clone()).json();
    assert_eq!(added.0["result"]["goal"]["description"], text.trim_end());
    sandbox.write("plan.json", r#"[{"title": "One"}]"#);
    // The repository is elsewhere; files are looked for from the working directory all the same.
    fs::create_dir(sandbox.path("sub")).unwrap();
    sandbox.write("sub/plan.json", r#"[{"title": "Two"}]"#);
    let root = sandbox.root();
    let plan = sandbox.cli(["apply-plan", "plan.json", "--cwd", &root.to_string_lossy()]);
    let applied = plan.within(sandbox.path("sub")).json().0;
    assert_eq!(applied["result"]["addedGoals"][0]["id"], "two");
    let missing = sandbox.cli(["add", "x", "--description-file", "nowhere", "--json"]).finish();
    assert_eq!(envelope(&missing)["error"]["details"]["path"], "nowhere");
}

#[test]
fn an_override_does_not_go_with_migrate_path() {
    let sandbox = Sandbox::new();
    let with_variable = |value: &str| {
        sandbox.cli(["migrate_path", "--dry-run", "--json"]).env("STEPSTONE_WORKLIST", value).finish().code
    };
    assert_eq!(with_variable("elsewhere.json"), Some(2));
    assert_eq!(with_variable("  "), Some(0));
    let flag = sandbox.cli(["migrate_path", "--dry-run", "--file", "x.json", "--json"]).finish();
    assert_eq!((flag.code, &envelope(&flag)["error"]["details"]["flags"]), (Some(2), &json!(["--file"])));
}

#[test]
fn the_daemons_commands_tell_the_truth() {
    let sandbox = Sandbox::new();
    let ask = |verb: &str| sandbox.cli(["daemon", verb]).json().0;
    let status = ask("status");
    assert_eq!((&status["scope"], &status["result"]["running"]), (&json!("daemon"), &json!(false)));
    assert_eq!(ask("stop")["result"]["wasRunning"], false);
    let started = ask("start");
    assert_eq!(started["result"]["alreadyRunning"], false);
    assert_eq!(ask("start")["result"]["alreadyRunning"], true);
    sandbox.cli(["list"]).finish().ended(0);
    let status = ask("status");
    let result = &status["result"];
    assert_eq!(result["pid"], started["result"]["pid"]);
    for field in ["version", "protocol", "stateDirectory", "socket", "watching"] {
        assert!(result[field].is_string(), "{field} in {result}");
    }
    assert!(result["uptimeMs"].is_number() && result["clients"].is_array());
    assert_eq!(result["worklists"][0]["path"], json!(sandbox.worklist_path()));
    let again = ask("restart");
    assert_eq!(again["result"]["previousPid"], started["result"]["pid"]);
    assert_ne!(again["result"]["pid"], started["result"]["pid"]);
    assert!(!ask("logs")["result"]["lines"].as_array().unwrap().is_empty());
    assert_eq!(ask("stop")["result"]["wasRunning"], true);
    assert!(sandbox.daemons().is_empty());
}

#[test]
fn doctor_ends_with_exit_code_1_only_when_something_needs_doing() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("alpha")]));
    let fine = sandbox.cli(["doctor", "--json"]).finish();
    assert_eq!(fine.code, Some(0), "{}", fine.err());
    let findings = envelope(&fine)["result"]["findings"].clone();
    let checks: Vec<&str> =
        findings.as_array().unwrap().iter().map(|found| found["check"].as_str().unwrap()).collect();
    for check in [
        "stepstone",
        "stepstoned",
        "stepstone-mcp",
        "state directory",
        "daemon",
        "Git",
        "goal file",
        "commit",
    ] {
        assert!(checks.contains(&check), "{check} in {checks:?}");
    }
    sandbox.write_worklist("<<<<<<< ours\n");
    let bad = sandbox.cli(["doctor"]).finish();
    assert_eq!(bad.code, Some(1));
    let problems: Vec<String> =
        bad.out().lines().filter(|line| line.starts_with("problem")).map(str::to_owned).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("merge"), "{problems:?}");
    let outside = sandbox.cli(["doctor", "--json"]).within(sandbox.base()).finish();
    assert_eq!((outside.code, envelope(&outside)["ok"].clone()), (Some(1), json!(false)));
}

#[test]
fn doctor_finds_a_broken_state_directory_and_a_lock_that_can_never_be_taken() {
    let mut sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("alpha")]));
    sandbox.write(".worklist/.worklist.lock", "");
    let link = sandbox.base().join("link");
    std::os::unix::fs::symlink(sandbox.home(), &link).unwrap();
    sandbox.set_env("STEPSTONE_STATE_DIR", link);
    let found = sandbox.cli(["doctor", "--json"]).finish();
    assert_eq!(found.code, Some(1));
    let envelope = envelope(&found);
    let findings = envelope["error"]["details"]["findings"].as_array().unwrap();
    let problems: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["level"] == "problem")
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    assert_eq!(problems, ["state directory", "left-overs"]);
    assert!(findings.iter().all(|finding| finding["level"] == "ok" || finding["advice"].is_string()));
}

#[test]
fn init_writes_its_block_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.write("AGENTS.md", "# Ours\n");
    fs::set_permissions(sandbox.path("AGENTS.md"), fs::Permissions::from_mode(0o640)).unwrap();
    sandbox.commit_all("before");
    let first = sandbox.cli(["init"]).json().0;
    assert_eq!(first["result"]["agentsPath"], json!(sandbox.path("AGENTS.md")));
    assert_eq!(first["meta"]["changed"], true);
    assert_eq!(sandbox.git(["status", "--porcelain"]), " M AGENTS.md\n");
    let hosts: Vec<&str> = first["result"]["integrations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|host| host["name"].as_str())
        .collect();
    for host in [
        "Claude Code",
        "Codex",
        "Cursor",
        "VS Code",
        "Gemini CLI",
        "opencode",
        "Zed",
        "Goose",
        "Claude Desktop",
    ] {
        assert!(hosts.contains(&host), "{host}");
    }
    let text = String::from_utf8(sandbox.read("AGENTS.md")).unwrap();
    assert!(text.starts_with("# Ours\n\n<!-- stepstone:project-goals:start -->\n"), "{text}");
    assert_eq!(fs::metadata(sandbox.path("AGENTS.md")).unwrap().permissions().mode() & 0o777, 0o640);
    let second = sandbox.cli(["init"]).json().0;
    assert_eq!((&second["meta"]["changed"], &second["meta"]["semanticNoOp"]), (&json!(false), &json!(true)));

    let broken = text.replace("<!-- stepstone:project-goals:end -->", "");
    sandbox.write("AGENTS.md", &broken);
    let refused = sandbox.cli(["init", "--json"]).finish();
    assert_eq!(refused.code, Some(1));
    assert_eq!(envelope(&refused)["error"]["details"]["markerProblem"], "malformed-markers");
    assert_eq!(sandbox.read("AGENTS.md"), broken.into_bytes());
}

#[test]
fn the_reason_for_a_private_engine_is_shown_when_asked_for() {
    let sandbox = Sandbox::new();
    let run = |line: &[&str]| sandbox.cli(line).env("STEPSTONE_NO_DAEMON", "1").finish();
    assert_eq!(run(&["list"]).err(), "");
    assert!(run(&["list", "-v"]).err().contains("STEPSTONE_NO_DAEMON"));
    assert!(run(&["daemon", "status"]).out().contains("STEPSTONE_NO_DAEMON"));
    assert!(run(&["doctor"]).out().contains("STEPSTONE_NO_DAEMON"));
    assert!(sandbox.daemons().is_empty());
}
