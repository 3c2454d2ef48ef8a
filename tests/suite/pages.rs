//! What README and docs say is true: the transcript, the configurations, the links.

use std::path::{Path, PathBuf};

use serde_json::Value;
use stepstone_tests::{Goal, Mcp, Sandbox, worklist, workspace_root};

fn readme() -> String {
    std::fs::read_to_string(workspace_root().join("README.md")).unwrap()
}

/// The fenced blocks of one language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut parts = page.split("```");
    let mut found = Vec::new();
    while let (Some(_), Some(block)) = (parts.next(), parts.next()) {
        if let Some(body) = block.strip_prefix(language).and_then(|rest| rest.strip_prefix('\n')) {
            found.push(body.to_owned());
        }
    }
    found
}

#[test]
fn the_readmes_transcript_is_what_a_fresh_repository_answers() {
    let sandbox = Sandbox::new();
    let transcript = blocks(&readme(), "console").remove(0);
    let mut said = String::new();
    for command in transcript.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let words = words(command);
        assert_eq!(words[0], "stepstone", "{command}");
        let printed = sandbox.cli(&words[1..]).finish().ended(0);
        said.push_str(&format!("$ {command}\n{printed}"));
    }
    assert_eq!(said, transcript);
}

/// Splits a command at blanks outside of double quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('"').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_json_configuration_in_the_readme_starts_a_server_on_the_repository() {
    let sandbox = Sandbox::new();
    sandbox.write_worklist(worklist(1, [Goal::open("alpha")]));
    let configurations = blocks(&readme(), "json");
    assert!(configurations.len() >= 6, "one for each host with a JSON file");
    for text in configurations {
        let text = text
            .replace("/absolute/path/to/repository", &sandbox.root().to_string_lossy())
            .replace("${workspaceFolder}", &sandbox.root().to_string_lossy())
            .replace("/absolute/path/to/stepstone-mcp", &sandbox.executables().mcp.to_string_lossy());
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        let mut session = session(&sandbox, server(&value).unwrap_or_else(|| panic!("no server in {text}")));
        assert_eq!(session.read("stepstone://worklist/list").ids(), ["alpha"], "{text}");
    }
}

/// The entry of our server, wherever this host's file has it.
fn server(value: &Value) -> Option<&Value> {
    let places = ["/mcpServers", "/servers", "/context_servers", "/mcp/servers", "/mcp"];
    places.iter().find_map(|place| value.pointer(place)?.get("stepstone"))
}

/// Starts a server as its host would, from the home directory where the entry says where it belongs.
fn session(sandbox: &Sandbox, server: &Value) -> Mcp {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    // Most hosts have program and arguments apart, one has them in one array.
    let mut command: Vec<String> = match &server["command"] {
        Value::Array(words) => words.iter().map(word).collect(),
        program => vec![word(program)],
    };
    command.extend(server["args"].as_array().into_iter().flatten().map(word));
    let path = [&sandbox.executables().directory, Path::new("/usr/local/bin"), Path::new("/usr/bin")];
    let mut session = sandbox.session_of(&command[0]).env("PATH", std::env::join_paths(path).unwrap());
    session.command().args(&command[1..]);
    if let Some(directory) = server["cwd"].as_str() {
        session = session.within(directory);
    }
    for (name, value) in server["env"].as_object().into_iter().flatten() {
        session = session.env(name, word(value)).within(sandbox.home());
    }
    session.start()
}

#[test]
fn every_link_between_pages_leads_to_a_file() {
    let root = workspace_root();
    let mut pages: Vec<PathBuf> = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    pages.extend(
        std::fs::read_dir(root.join("docs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md")),
    );
    let dead: Vec<String> = pages.iter().flat_map(|page| dead_links(page)).collect();
    assert_eq!(dead, Vec::<String>::new());
}

fn dead_links(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .filter(|target| !page.parent().unwrap().join(target).exists())
        .map(|target| format!("{}: {target}", page.display()))
        .collect()
}
