//! The Claude Code plugin's folder.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use stepstone_proto::contract::{ACTIONS, Kind};
use stepstone_tests::{Sandbox, executables, workspace_root};

use super::{VERSION, artifact, contents, unpack};

fn folder() -> PathBuf {
    workspace_root().join("packaging/claude-code")
}

pub(super) fn read(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder().join(path)).unwrap()).unwrap()
}

#[test]
fn the_folder_is_as_the_contract_renders_it() {
    let check =
        Command::new(executables().directory.join("xtask")).args(["docs", "--check"]).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

#[test]
fn the_folder_holds_what_claude_code_looks_for_and_nothing_else() {
    assert_eq!(
        contents(&folder()).into_keys().collect::<Vec<_>>(),
        [
            ".claude-plugin/marketplace.json",
            ".claude-plugin/plugin.json",
            ".mcp.json",
            "README.md",
            "commands/list.md",
            "commands/next.md",
            "commands/ready.md",
            "commands/waves.md",
            "skills/stepstone/SKILL.md",
        ]
    );
}

#[test]
fn the_packed_folder_is_the_folder() {
    let sandbox = Sandbox::without_repository();
    let unpacked = sandbox.base().join("unpacked");
    unpack(
        &sandbox,
        &artifact(&format!("stepstone-claude-code-{VERSION}.tar.gz")),
        &unpacked,
        &["--strip-components=1"],
    );
    assert_eq!(contents(&unpacked), contents(&folder()));
}

#[test]
fn the_marketplaces_lead_to_the_plugin_at_this_version() {
    let manifest = read(".claude-plugin/plugin.json");
    assert_eq!((&manifest["name"], &manifest["version"]), (&json!("stepstone"), &json!(VERSION)));
    let top = workspace_root().join(".claude-plugin/marketplace.json");
    for (file, root) in
        [(folder().join(".claude-plugin/marketplace.json"), folder()), (top, workspace_root().into())]
    {
        let marketplace: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let [plugin] = marketplace["plugins"].as_array().unwrap().as_slice() else { panic!("{marketplace}") };
        assert_eq!((&plugin["name"], &plugin["version"]), (&manifest["name"], &manifest["version"]));
        let source = root.join(plugin["source"].as_str().unwrap());
        assert_eq!(source.canonicalize().unwrap(), folder().canonicalize().unwrap());
        assert!(marketplace["owner"]["name"].is_string());
    }
}

#[test]
fn each_slash_command_is_one_read_and_no_change_has_one() {
    for (name, text) in contents(&folder().join("commands")) {
        let text = String::from_utf8(text).unwrap();
        let action = ACTIONS.iter().find(|action| name == format!("{}.md", action.name)).unwrap();
        assert_eq!(action.kind, Kind::Read, "{name}");
        let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().0;
        assert!(head.lines().any(|line| line == "allowed-tools: ReadMcpResourceTool"), "{name}: {head}");
        assert_eq!(text.matches("stepstone://worklist/").count(), 1, "{name}");
        assert!(
            text.contains(&format!("`stepstone://worklist/{}`", action.surfaces.resource.unwrap())),
            "{name}"
        );
    }
}

#[test]
fn the_configuration_hands_the_project_over_and_the_server_takes_it() {
    let configuration = read(".mcp.json");
    let server = &configuration["mcpServers"]["stepstone"];
    assert_eq!(server["command"], "npx");
    let pinned = format!("stepstone@{VERSION}");
    assert_eq!(server["args"], json!(["-y", "--fetch-retries=0", "--package", pinned, "stepstone-mcp"]));
    assert_eq!(server["env"], json!({ "STEPSTONE_PLUGIN_PROJECT_ROOT": "${CLAUDE_PROJECT_DIR}" }));

    // As Claude Code does it: started in the plugin's own directory, with the variable filled in.
    let sandbox = Sandbox::new();
    let [(name, _)] = server["env"].as_object().unwrap().iter().collect::<Vec<_>>()[..] else { panic!() };
    let mut session = sandbox.session().within(folder()).env(name, sandbox.root()).start();
    session.call("add", json!({ "title": "In the project" })).result();
    assert!(sandbox.read_worklist().contains("in-the-project"));
}
