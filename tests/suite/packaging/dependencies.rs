//! The licences and the bill of materials.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use stepstone_tests::workspace_root;

use super::artifact;

fn bill() -> Value {
    serde_json::from_slice(&std::fs::read(artifact(".cdx.json")).unwrap()).unwrap()
}

fn licences() -> String {
    std::fs::read_to_string(artifact("-licenses.txt")).unwrap()
}

/// `name version` of each component.
fn components(bill: &Value) -> Vec<(String, &Value)> {
    let list = bill["components"].as_array().unwrap();
    list.iter()
        .map(|each| {
            (format!("{} {}", each["name"].as_str().unwrap(), each["version"].as_str().unwrap()), each)
        })
        .collect()
}

#[test]
fn everything_that_cargo_links_into_the_programs_is_in_the_bill() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tree = Command::new(cargo);
    tree.current_dir(workspace_root());
    tree.args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    tree.args(["-p", "stepstone", "-p", "stepstone-mcp", "-p", "stepstone-daemon"]);
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    // `name v1.2.3 (what else)`
    let linked: BTreeSet<String> = printed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    assert!(linked.len() > 50, "cargo tree says little: {printed}");
    let bill = bill();
    let billed: BTreeSet<String> = components(&bill).into_iter().map(|(name, _)| name).collect();
    assert_eq!(linked.difference(&billed).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn every_component_has_what_identifies_it_and_the_graph_is_closed() {
    let bill = bill();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.6".into()));
    assert_eq!(bill["metadata"]["timestamp"], "2026-01-01T00:00:00Z");
    let mut known: BTreeSet<&str> = [bill["metadata"]["component"]["bom-ref"].as_str().unwrap()].into();
    for (name, component) in components(&bill) {
        assert!(known.insert(component["bom-ref"].as_str().unwrap()), "{name} is there twice");
        let licence = component["licenses"][0]["expression"].as_str().unwrap();
        assert!(!licence.is_empty() && !licence.contains('/'), "{name}: {licence}");
        if name.starts_with("stepstone") {
            continue;
        }
        assert_eq!(component["hashes"][0]["content"].as_str().unwrap().len(), 64, "{name}");
        assert!(component["purl"].as_str().unwrap().starts_with("pkg:cargo/"), "{name}");
    }
    let graph = bill["dependencies"].as_array().unwrap();
    let told: BTreeSet<&str> = graph.iter().map(|node| node["ref"].as_str().unwrap()).collect();
    assert_eq!(told, known);
    for node in graph {
        for needed in node["dependsOn"].as_array().unwrap() {
            assert!(known.contains(needed.as_str().unwrap()), "{needed} is no component");
        }
    }
}

#[test]
fn every_component_by_others_is_listed_with_its_licence_and_texts() {
    let licences = licences();
    let bill = bill();
    for (name, component) in components(&bill) {
        if name.starts_with("stepstone") {
            continue;
        }
        let licence = component["licenses"][0]["expression"].as_str().unwrap();
        assert!(licences.contains(&format!("\n{name}\n    {licence}\n")), "{name} is not listed");
        // Once in the list, and again above each text that it came with.
        assert!(licences.matches(name.as_str()).count() > 1, "{name} has no text");
    }
    for text in [
        "Permission is hereby granted, free of charge",
        "Apache License",
        "UNICODE LICENSE V3",
        "Mozilla Public",
    ] {
        assert!(licences.contains(text), "{text:?} is missing");
    }
}
