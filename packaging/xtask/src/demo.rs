//! The main job, shown: a person at a shell and an MCP host share one repository's roadmap.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use stepstone_tests::{Answer, Mcp, Sandbox, eventually};

use crate::say;

/// Runs the main job in a scratch repository with a home of its own, and tells it.
///
/// # Errors
/// When anything is not as it is told.
///
/// # Panics
/// When an executable does not answer at all; the bench says which.
pub(crate) fn run() -> Result<()> {
    say::line("Building the executables …");
    let demo = Demo { sandbox: Sandbox::new() };
    let base = demo.sandbox.base().display().to_string();
    say::line(format!("Everything below happens in {base}, with a home directory of its own."));
    demo.sandbox.commit_all("An empty project");
    demo.capture()?;
    let mut session = demo.join()?;
    demo.look()?;
    demo.claim(&mut session)?;
    demo.conflict(&mut session)?;
    demo.finish(&mut session)?;
    let (status, _) = session.close();
    ensure!(status.success(), "the MCP server ended with {status}");
    demo.leave()?;
    say::line("\nEverything was as expected.");
    Ok(())
}

struct Demo {
    sandbox: Sandbox,
}

impl Demo {
    /// A person adds goals at the shell.
    fn capture(&self) -> Result<()> {
        heading("A person adds goals at the shell; the daemon starts by itself");
        self.shell(&["add", "Design the schema", "--group", "Storage"])?;
        self.shell(&[
            "add",
            "Write the importer",
            "--depends-on",
            "design-the-schema",
            "--group",
            "Storage",
        ])?;
        ensure!(self.sandbox.daemons().len() == 1, "the first command should have started one daemon");
        let text = self.sandbox.read_worklist();
        say::line("\n  .worklist/worklist.json, to be committed with the code:");
        say::line(indent(&text));
        Ok(())
    }

    /// A coding agent joins over MCP and brings a plan.
    fn join(&self) -> Result<Mcp> {
        heading("A coding agent joins over MCP and brings an approved plan");
        let mut session = self.sandbox.session().client("demo-host").start();
        let tools = session.request("tools/list", json!({})).map_err(|error| protocol_error(&error))?;
        let names: Vec<&str> = tools["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        say::line(format!("  tools: {}", names.join(", ")));
        ensure!(names.len() == 11, "expected eleven tools");
        let plan = json!([
            { "title": "Publish the API", "dependsOn": ["write-the-importer"] },
            { "title": "Draft the handbook" },
        ]);
        let preview = tool(&mut session, "apply-plan", json!({ "plan": plan, "dryRun": true }));
        preview.result();
        ensure!(!preview.changed(), "a dry run should change nothing");
        let applied = tool(&mut session, "apply-plan", json!({ "plan": plan }));
        applied.result();
        ensure!(applied.changed() && applied.revision() == Some(3), "the plan should be revision 3");
        Ok(session)
    }

    /// What can be started, and in which order the rest follows.
    fn look(&self) -> Result<()> {
        heading("The frontier, and the waves behind it");
        self.shell(&["ready"])?;
        self.shell(&["waves"])?;
        let ready = self.sandbox.cli(["ready"]).json().ids();
        ensure!(ready == ["design-the-schema", "draft-the-handbook"], "unexpected frontier {ready:?}");
        let waves = self.sandbox.cli(["waves"]).json().waves();
        ensure!(waves.len() == 3, "expected three waves, got {waves:?}");
        Ok(())
    }

    /// The agent takes the first ready goal for its branch.
    fn claim(&self, session: &mut Mcp) -> Result<()> {
        heading("The agent takes the first ready goal; everybody sees who holds it");
        self.sandbox.git(["checkout", "-q", "-b", "schema"]);
        let taken = tool(session, "start", json!({}));
        ensure!(taken.id() == "design-the-schema" && taken.text("branch") == "schema", "the wrong goal");
        self.shell(&["list", "--claimed"])?;
        self.shell(&["next"])?;
        Ok(())
    }

    /// Two edits of one goal: the second is refused until it was read again.
    fn conflict(&self, session: &mut Mcp) -> Result<()> {
        heading("Two edits of one goal: nothing is overwritten unseen");
        let seen = tool(session, "read_goals", json!({ "view": "show", "id": "publish" }));
        let stale = seen.text("updatedAt").to_owned();
        self.shell(&["update", "publish-the-api", "--description", "Versioned, and documented."])?;
        let edit = |baseline: &str| json!({ "id": "publish-the-api", "appendDescription": "With examples.", "expectedUpdatedAt": baseline });
        tool(session, "update", edit(&stale)).refused("CONFLICT");
        let fresh = tool(session, "read_goals", json!({ "view": "show", "id": "publish" }));
        let merged = tool(session, "update", edit(fresh.text("updatedAt")));
        let text = merged.text("description");
        ensure!(text.contains("documented") && text.contains("examples"), "an edit was lost: {text}");
        Ok(())
    }

    /// Completion needs the user's own word.
    fn finish(&self, session: &mut Mcp) -> Result<()> {
        heading("Completing needs the user's own word for exactly this goal");
        tool(session, "complete", json!({ "id": "design-the-schema" })).refused("APPROVAL_REQUIRED");
        say::line("  (the user says yes)");
        let done = tool(session, "complete", json!({ "id": "design-the-schema", "confirm": true }));
        ensure!(
            done.result()["released"] == json!(["write-the-importer"]),
            "the importer should be released"
        );
        let next = session.read("stepstone://worklist/next");
        say::line(format!("  read stepstone://worklist/next → {}", next.id()));
        ensure!(next.id() == "write-the-importer", "the released goal should be next");
        self.shell(&["list"])?;
        Ok(())
    }

    /// The daemon stops when asked, and leaves nothing running.
    fn leave(&self) -> Result<()> {
        heading("The daemon that did all this, and its end");
        let status = self.sandbox.cli(["daemon", "status"]).json();
        ensure!(status.result()["running"] == json!(true), "the daemon should be running");
        self.shell(&["daemon", "stop"])?;
        eventually("the end of every engine", || self.sandbox.engines().is_empty().then_some(()));
        Ok(())
    }

    /// Runs `stepstone`, shows the command and what it printed, and asks for success.
    fn shell(&self, arguments: &[&str]) -> Result<()> {
        let shown: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        say::line(format!("\n  $ stepstone {}", shown.join(" ")));
        let ended = self.sandbox.cli(arguments).finish();
        for text in [ended.out(), ended.err()] {
            if !text.is_empty() {
                say::line(indent(&text));
            }
        }
        ensure!(ended.code == Some(0), "it ended with {:?}", ended.code);
        Ok(())
    }
}

/// Calls a tool, and shows the call and the heart of its answer.
fn tool(session: &mut Mcp, name: &str, arguments: Value) -> Answer {
    say::line(format!("\n  tool {name} {arguments}"));
    let answer = session.call(name, arguments);
    let heart = if answer.0["ok"] == json!(true) {
        let mut result = answer.0["result"].clone();
        if let Some(fields) = result.as_object_mut() {
            fields.retain(|key, _| key != "scope" && key != "action");
        }
        format!("ok {result}")
    } else {
        format!(
            "{}: {}",
            answer.0["error"]["code"],
            answer.0["error"]["message"].as_str().unwrap_or_default()
        )
    };
    say::line(format!("    → {heart}"));
    answer
}

fn protocol_error(error: &Value) -> anyhow::Error {
    anyhow::anyhow!("a protocol error: {error}")
}

fn heading(text: &str) {
    say::line(format!("\n== {text}"));
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("{word:?}") } else { word.to_owned() }
}
