//! The bench itself.

use std::path::Path;

use stepstone_tests::{Goal, Sandbox, worklist, workspace_root};

#[test]
fn every_test_file_is_a_listed_module() {
    assert_eq!(unlisted(&workspace_root().join("tests/suite"), "main.rs"), Vec::<String>::new());
}

/// The files and directories beside `list` that it does not declare, and the same below each directory.
fn unlisted(directory: &Path, list: &str) -> Vec<String> {
    let declared = std::fs::read_to_string(directory.join(list)).unwrap_or_default();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if path.ends_with(list) || !(is_source || path.is_dir()) {
            continue;
        }
        if !declared.lines().any(|line| line.trim() == format!("mod {name};")) {
            found.push(path.display().to_string());
        }
        if path.is_dir() {
            found.extend(unlisted(&path, "mod.rs"));
        }
    }
    found
}

#[test]
fn a_sandbox_has_a_home_and_an_environment_of_its_own() {
    let sandbox = Sandbox::new();
    let shown = stepstone_tests::Run::new(sandbox.command("env")).finish().ended(0);
    let mut names: Vec<_> = shown.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "PATH"]);
    assert_eq!(sandbox.git(["rev-parse", "--show-toplevel"]).trim(), sandbox.root().to_string_lossy());
    assert_eq!(sandbox.engines(), []);
}

#[test]
fn the_builder_of_goal_files_writes_the_engines_layout() {
    let text = worklist(3, [Goal::open("a").title("A").depends_on(&["b"])]);
    let expected = r#"{
  "version": 1,
  "revision": 3,
  "goals": [
    {
      "id": "a",
      "title": "A",
      "status": "open",
      "createdAt": "2026-01-01T00:00:00.000Z",
      "updatedAt": "2026-01-01T00:00:00.000Z",
      "dependsOn": [
        "b"
      ]
    }
  ]
}
"#;
    assert_eq!(text, expected);
}
