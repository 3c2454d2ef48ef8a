//! How each MCP host is told about `stepstone-mcp`, in the host's own words: its `mcp add` command where it has one,
//! else its file, in its place and shape. And how the agent skill is installed.
//!
//! What a repository can share stands in files inside it and names the server by its bare name, found on `PATH`.
//! Hosts without such a file get the user's own file, with absolute paths.

use serde::Serialize;
use serde_json::json;

/// One thing to set up, which Stepstone prints and never does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Integration {
    /// A stable name: `claude-code`.
    pub host: &'static str,
    /// As the host calls itself.
    pub name: &'static str,
    /// A line to run in the repository, where the host has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file that does the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<HostFile>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

/// A host's configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostFile {
    /// Below the repository's root, or from the home directory (`~`) on.
    pub path: &'static str,
    /// `json`, `toml` or `yaml`.
    pub format: &'static str,
    /// What it holds; other entries of the file stay beside it.
    pub content: String,
}

/// The variable that tells the server which repository it is about, for hosts that start it elsewhere.
const ROOT_VARIABLE: &str = "STEPSTONE_PLUGIN_PROJECT_ROOT";
/// The server, found on `PATH`.
const SERVER: &str = "stepstone-mcp";

/// Every host, for the repository at `root` (absolute). `server` is the server's absolute path, for hosts that do not
/// see the shell's `PATH`.
#[must_use]
pub fn integrations(root: &str, server: &str) -> Vec<Integration> {
    vec![
        claude_code(),
        codex(root),
        cursor(),
        vs_code(),
        gemini_cli(),
        opencode(),
        zed(root, server),
        goose(root, server),
        claude_desktop(root, server),
        skill(),
    ]
}

fn file(path: &'static str, content: &serde_json::Value) -> Option<HostFile> {
    // The alternate form is indented.
    Some(HostFile { path, format: "json", content: format!("{content:#}") })
}

fn claude_code() -> Integration {
    Integration {
        host: "claude-code",
        name: "Claude Code",
        command: Some(format!("claude mcp add --scope project stepstone -- {SERVER}")),
        file: file(
            ".mcp.json",
            &json!({"mcpServers": {"stepstone": {"type": "stdio", "command": SERVER, "args": []}}}),
        ),
        note: Some(
            "The command writes the file. The plugin brings the server with it; then neither is needed.",
        ),
    }
}

fn codex(root: &str) -> Integration {
    Integration {
        host: "codex",
        name: "Codex",
        command: Some(format!("codex mcp add stepstone -- {SERVER}")),
        file: Some(HostFile {
            path: ".codex/config.toml",
            format: "toml",
            content: format!("[mcp_servers.stepstone]\ncommand = \"{SERVER}\"\ncwd = {}", json!(root)),
        }),
        note: Some(
            "The command writes ~/.codex/config.toml, for all projects. The file is for this one; Codex reads it once the project is trusted.",
        ),
    }
}

fn cursor() -> Integration {
    Integration {
        host: "cursor",
        name: "Cursor",
        command: None,
        file: file(
            ".cursor/mcp.json",
            &json!({"mcpServers": {"stepstone": {
                "type": "stdio", "command": SERVER, "args": [], "env": {ROOT_VARIABLE: "${workspaceFolder}"}
            }}}),
        ),
        note: None,
    }
}

fn vs_code() -> Integration {
    Integration {
        host: "vscode",
        name: "VS Code",
        command: None,
        file: file(
            ".vscode/mcp.json",
            &json!({"servers": {"stepstone": {
                "type": "stdio", "command": SERVER, "args": [], "cwd": "${workspaceFolder}"
            }}}),
        ),
        note: None,
    }
}

fn gemini_cli() -> Integration {
    Integration {
        host: "gemini-cli",
        name: "Gemini CLI",
        command: Some(format!("gemini mcp add --scope project stepstone {SERVER}")),
        file: file(
            ".gemini/settings.json",
            &json!({"mcpServers": {"stepstone": {"command": SERVER, "args": []}}}),
        ),
        note: Some("The command writes the file."),
    }
}

fn opencode() -> Integration {
    Integration {
        host: "opencode",
        name: "opencode",
        command: Some(format!("opencode mcp add stepstone -- {SERVER}")),
        file: file(
            "opencode.json",
            &json!({
                "$schema": "https://opencode.ai/config.json",
                "mcp": {"servers": {"stepstone": {"type": "local", "command": [SERVER]}}}
            }),
        ),
        note: Some(
            "The command writes the file. Before version 2 the entry stands directly below mcp, with \"enabled\": true, and only the file works.",
        ),
    }
}

fn zed(root: &str, server: &str) -> Integration {
    Integration {
        host: "zed",
        name: "Zed",
        command: None,
        file: file(
            ".zed/settings.json",
            &json!({"context_servers": {"stepstone": {
                "command": server, "args": [], "env": {ROOT_VARIABLE: root}
            }}}),
        ),
        note: None,
    }
}

fn goose(root: &str, server: &str) -> Integration {
    Integration {
        host: "goose",
        name: "Goose",
        command: None,
        file: Some(HostFile {
            path: "~/.config/goose/config.yaml",
            format: "yaml",
            // JSON strings are YAML strings.
            content: format!(
                "extensions:\n  stepstone:\n    name: stepstone\n    type: stdio\n    cmd: {}\n    args: []\n    envs:\n      \
                 {ROOT_VARIABLE}: {}\n    enabled: true\n    timeout: 300",
                json!(server),
                json!(root)
            ),
        }),
        note: Some("One repository at a time: the file is for all sessions."),
    }
}

fn claude_desktop(root: &str, server: &str) -> Integration {
    let path = if cfg!(target_os = "macos") {
        "~/Library/Application Support/Claude/claude_desktop_config.json"
    } else {
        "~/.config/Claude/claude_desktop_config.json"
    };
    Integration {
        host: "claude-desktop",
        name: "Claude Desktop",
        command: None,
        file: file(
            path,
            &json!({"mcpServers": {"stepstone": {
                "command": server, "args": [], "env": {ROOT_VARIABLE: root}
            }}}),
        ),
        note: Some(
            "One repository at a time: the file is for all conversations. Start Claude Desktop again afterwards.",
        ),
    }
}

fn skill() -> Integration {
    Integration {
        host: "agent-skill",
        name: "Agent skill",
        command: Some("npx skills add stepstone-dev/stepstone --skill stepstone".to_owned()),
        file: None,
        note: Some(
            "For agents that work through the command line. One of the two is enough: the skill, or the block in AGENTS.md.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_a_command_or_a_file_of_a_valid_shape() {
        let root = "/home/some body/a \"quoted\" \\ root";
        let all = integrations(root, "/opt/bin/stepstone-mcp");
        assert_eq!(all.len(), 10);
        for integration in &all {
            assert!(integration.command.is_some() || integration.file.is_some(), "{}", integration.host);
            let Some(file) = integration.file.as_ref().filter(|file| file.format == "json") else { continue };
            let value: serde_json::Value = serde_json::from_str(&file.content).unwrap();
            assert!(value.to_string().contains("stepstone-mcp"), "{}", integration.host);
        }
        let desktop = all.iter().find(|integration| integration.host == "claude-desktop").unwrap();
        let value: serde_json::Value = serde_json::from_str(&desktop.file.as_ref().unwrap().content).unwrap();
        let found = value.pointer("/mcpServers/stepstone/env/STEPSTONE_PLUGIN_PROJECT_ROOT").unwrap();
        assert_eq!(found, root);
    }
}
