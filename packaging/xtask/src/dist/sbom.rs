//! The bill of materials, as CycloneDX 1.6 JSON.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::clock;
use super::dependencies::Dependency;

/// What the release of this version for this platform is made of.
///
/// # Errors
/// When the instant lies beyond the calendar.
pub(crate) fn document(
    dependencies: &[Dependency],
    version: &str,
    triple: &str,
    compiler: &str,
    epoch: u64,
) -> Result<String> {
    let root = format!("stepstone-release@{version}");
    let shipped = dependencies.iter().filter(|each| each.is_own()).map(Dependency::key);
    let mut graph = vec![json!({ "ref": root, "dependsOn": shipped.collect::<Vec<_>>() })];
    graph.extend(dependencies.iter().map(|each| json!({ "ref": each.key(), "dependsOn": each.needs })));
    let release = compiler.lines().find_map(|line| line.strip_prefix("release: ")).unwrap_or("unknown");
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": clock::timestamp(epoch)?,
            "lifecycles": [{ "phase": "build" }],
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "stepstone",
                "version": version,
                "licenses": [{ "expression": "MIT" }],
                "properties": [
                    { "name": "stepstone:target", "value": triple },
                    { "name": "stepstone:rustc", "value": release },
                ],
            },
        },
        "components": dependencies.iter().map(component).collect::<Vec<_>>(),
        "dependencies": graph,
    });
    Ok(format!("{document:#}\n"))
}

fn component(dependency: &Dependency) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("type", json!(if dependency.is_shipped() { "application" } else { "library" }));
    put("bom-ref", json!(dependency.key()));
    put("name", json!(dependency.name));
    put("version", json!(dependency.version));
    if let Some(description) = &dependency.description {
        put("description", json!(description));
    }
    // What runs in the compiler only is needed to build, and is not in the executables itself.
    put("scope", json!(if dependency.is_macro { "excluded" } else { "required" }));
    if let Some(checksum) = &dependency.checksum {
        put("hashes", json!([{ "alg": "SHA-256", "content": checksum }]));
    }
    put("licenses", json!([{ "expression": dependency.licence }]));
    if !dependency.is_own() {
        put(
            "purl",
            json!(format!("pkg:cargo/{}@{}", dependency.name, dependency.version.replace('+', "%2B"))),
        );
    }
    if let Some(repository) = &dependency.repository {
        put("externalReferences", json!([{ "type": "vcs", "url": repository }]));
    }
    Value::Object(fields)
}
