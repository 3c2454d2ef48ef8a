//! The built executables: made once, in the profile of whoever asks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Where the three executables are.
#[derive(Debug, Clone)]
pub struct Executables {
    /// The directory that holds all of them.
    pub directory: PathBuf,
    /// `stepstone`.
    pub cli: PathBuf,
    /// `stepstone-mcp`.
    pub mcp: PathBuf,
    /// `stepstoned`.
    pub daemon: PathBuf,
}

impl Executables {
    /// The three of one directory.
    #[must_use]
    pub fn within(directory: &Path) -> Self {
        let at = |name: &str| directory.join(name);
        Self {
            directory: directory.to_owned(),
            cli: at("stepstone"),
            mcp: at("stepstone-mcp"),
            daemon: at("stepstoned"),
        }
    }
}

/// The workspace's own directory.
#[must_use]
pub fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate is a member of the workspace")
}

/// The executables of this source tree, in the profile in which the caller was built.
///
/// Built by the first call of a process, so that plain `cargo test` works in a clean clone. A runner with one process
/// per test asks Cargo once per run.
///
/// # Panics
/// When they cannot be built; Cargo's own words stand on standard error.
pub fn executables() -> &'static Executables {
    static BUILT: OnceLock<Executables> = OnceLock::new();
    BUILT.get_or_init(|| {
        let place = Place::of(&std::env::current_exe().expect("the running executable has a path"));
        // The run that they were last built for, where the runner names its runs.
        let marker = place.output.join(".stepstone-built-for");
        let run = std::env::var("NEXTEST_RUN_ID").ok();
        if run.is_none() || std::fs::read_to_string(&marker).ok() != run {
            build(&place);
            if let Some(run) = run {
                std::fs::write(&marker, run).expect("a marker can be written beside the executables");
            }
        }
        Executables::within(&place.output)
    })
}

/// Where Cargo puts what it builds, read off one executable that it built.
struct Place {
    target: PathBuf,
    triple: Option<String>,
    profile: String,
    output: PathBuf,
}

impl Place {
    /// `<target>[/<triple>]/<profile>[/deps]/<executable>`; the target directory is the one with a `CACHEDIR.TAG`.
    fn of(executable: &Path) -> Self {
        let mut output = executable.parent().expect("an executable lies in a directory");
        if output.ends_with("deps") {
            output = output.parent().expect("deps lies in the profile's directory");
        }
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let above = output.parent().expect("the profile's directory lies in the target directory");
        let (target, triple) = if above.join("CACHEDIR.TAG").exists() {
            (above, None)
        } else {
            (above.parent().expect("a triple lies in the target directory"), Some(name(above)))
        };
        let profile = match name(output).as_str() {
            "debug" => "dev".to_owned(),
            other => other.to_owned(),
        };
        Self { target: target.to_owned(), triple, profile, output: output.to_owned() }
    }
}

fn build(place: &Place) {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(workspace_root())
        .args(["build", "--quiet", "--workspace", "--bins", "--profile", &place.profile, "--target-dir"])
        .arg(&place.target)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if let Some(triple) = &place.triple {
        cargo.args(["--target", triple]);
    }
    // Cargo describes the package under test to it; a build of the workspace must not see that.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name.as_ref());
        }
    }
    let status = cargo.status().expect("cargo can be run");
    assert!(status.success(), "the executables could not be built");
}
