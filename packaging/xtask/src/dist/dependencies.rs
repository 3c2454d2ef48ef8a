//! The packages that the executables are built from, as Cargo resolved them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use stepstone_tests::workspace_root;

/// The packages whose executables are shipped.
const SHIPPED: [&str; 3] = ["stepstone", "stepstone-daemon", "stepstone-mcp"];

/// One package in the executables.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its licence, as an SPDX expression.
    pub(crate) licence: String,
    /// What it is.
    pub(crate) description: Option<String>,
    /// Where its source is kept.
    pub(crate) repository: Option<String>,
    /// SHA-256 of the package as downloaded; none for the workspace's own.
    pub(crate) checksum: Option<String>,
    /// Where its source is on this machine.
    pub(crate) directory: PathBuf,
    /// Runs in the compiler only (a procedural macro).
    pub(crate) is_macro: bool,
    /// The packages it needs, by [`Dependency::key`], sorted.
    pub(crate) needs: Vec<String>,
}

impl Dependency {
    /// Whether it is part of this workspace.
    pub(crate) fn is_own(&self) -> bool {
        self.checksum.is_none()
    }

    /// Whether it is one of the packages with the executables.
    pub(crate) fn is_shipped(&self) -> bool {
        self.is_own() && SHIPPED.contains(&self.name.as_str())
    }

    /// `name@version`, unique among the packages.
    pub(crate) fn key(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Every package in the executables for this platform, the workspace's own included, sorted by name and version.
/// Packages that only tests or build scripts need are not among them.
///
/// # Errors
/// When Cargo refuses, or a package is in no registry, has no checksum or states no licence.
pub(crate) fn all(triple: &str) -> Result<Vec<Dependency>> {
    let metadata = metadata(triple)?;
    let checksums = checksums(&fs_err::read_to_string(workspace_root().join("Cargo.lock"))?);
    let packages: BTreeMap<&str, &Value> = by_id(&metadata["packages"]).collect();
    let nodes: BTreeMap<&str, &Value> = by_id(&metadata["resolve"]["nodes"]).collect();

    let shipped = |package: &&Value| package["name"].as_str().is_some_and(|name| SHIPPED.contains(&name));
    let mut waiting: Vec<&str> = packages
        .values()
        .filter(|package| shipped(package))
        .filter_map(|package| package["id"].as_str())
        .collect();
    ensure!(waiting.len() == SHIPPED.len(), "cargo metadata does not list the shipped packages");
    let mut reached = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(id) = waiting.pop() {
        if !reached.insert(id) {
            continue;
        }
        let node = nodes.get(id).with_context(|| format!("cargo metadata resolves no {id}"))?;
        let needs: Vec<&str> = normal_dependencies(node).collect();
        waiting.extend(&needs);
        let package = packages.get(id).with_context(|| format!("cargo metadata lists no {id}"))?;
        let needs = needs.iter().filter_map(|id| packages.get(id)).map(|package| key(package));
        found.push(dependency(package, needs.collect(), &checksums)?);
    }
    found.sort_by_key(Dependency::key);
    Ok(found)
}

fn metadata(triple: &str) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(workspace_root())
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", triple])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be run")?;
    ensure!(output.status.success(), "cargo metadata failed");
    serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
}

fn by_id(list: &Value) -> impl Iterator<Item = (&str, &Value)> {
    list.as_array().into_iter().flatten().filter_map(|each| Some((each["id"].as_str()?, each)))
}

/// What a package is linked with: neither what its tests nor what its build script needs.
fn normal_dependencies(node: &Value) -> impl Iterator<Item = &str> {
    node["deps"].as_array().into_iter().flatten().filter_map(|dependency| {
        let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.any(|kind| kind["kind"].is_null()).then(|| dependency["pkg"].as_str())?
    })
}

fn key(package: &Value) -> String {
    let text = |field: &str| package[field].as_str().unwrap_or_default();
    format!("{}@{}", text("name"), text("version"))
}

fn dependency(
    package: &Value,
    mut needs: Vec<String>,
    checksums: &BTreeMap<String, String>,
) -> Result<Dependency> {
    let key = key(package);
    let text = |field: &str| package[field].as_str().map(str::to_owned);
    let checksum = checksums.get(&key).cloned();
    ensure!(checksum.is_some() || package["source"].is_null(), "{key} has no checksum in Cargo.lock");
    let licence = text("license").with_context(|| format!("{key} states no licence"))?;
    let manifest = PathBuf::from(text("manifest_path").unwrap_or_default());
    let mut kinds =
        package["targets"].as_array().into_iter().flatten().filter_map(|target| target["kind"].as_array());
    needs.sort();
    needs.dedup();
    Ok(Dependency {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        // The older spelling of a choice, which SPDX does not have.
        licence: licence.replace('/', " OR "),
        description: text("description").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        repository: text("repository"),
        checksum,
        directory: manifest.parent().with_context(|| format!("{key} has no manifest"))?.to_owned(),
        is_macro: kinds.any(|kind| kind.iter().any(|kind| kind == "proc-macro")),
        needs,
    })
}

/// The checksums in a Cargo.lock, by `name@version`. Its layout is Cargo's own and fixed: one `key = "value"` a line.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let value = |package: &str, key: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        line.strip_suffix('"').map(str::to_owned)
    };
    let packages = lock.split("[[package]]").skip(1);
    let entry = |package: &str| {
        let name = format!("{}@{}", value(package, "name")?, value(package, "version")?);
        Some((name, value(package, "checksum")?))
    };
    packages.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::checksums;

    #[test]
    fn checksums_are_read_by_name_and_version() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"s\"\nchecksum = \"c1\"\n\
                    dependencies = [\n \"b\",\n]\n\n[[package]]\nname = \"a\"\nversion = \"2.0.0\"\nsource = \"s\"\n\
                    checksum = \"c2\"\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let found = checksums(lock);
        assert_eq!(found.get("a@1.0.0").map(String::as_str), Some("c1"));
        assert_eq!(found.get("a@2.0.0").map(String::as_str), Some("c2"));
        assert_eq!(found.len(), 2);
    }
}
