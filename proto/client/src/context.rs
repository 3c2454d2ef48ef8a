//! Who asks, and from where, read off this process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use stepstone_proto::operation::Context;

/// What `git` must see of the caller's environment.
const GIT_ENVIRONMENT: [&str; 3] = ["PATH", "HOME", "XDG_CONFIG_HOME"];

/// The context of an operation asked for by this process.
///
/// `cwd` is the directory to work in instead of the process's own; `file` is an explicit goal file, which beats
/// `$STEPSTONE_WORKLIST`. A relative `file` starts at the process's own directory, a relative variable at `cwd`.
/// The caller fills in `client`; the [`crate::Client`] adds the process id and a key.
#[must_use]
pub fn context_here(cwd: Option<&Path>, file: Option<&str>) -> Context {
    let own = working_directory();
    let directory = cwd.map_or_else(|| own.clone(), |cwd| own.join(cwd));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let given = file.map(str::to_owned);
    let worklist = given.clone().or_else(|| {
        let variable = std::env::var_os("STEPSTONE_WORKLIST")?;
        Some(variable.to_string_lossy().into_owned()).filter(|text| !text.trim().is_empty())
    });
    let worklist_base = (given.is_some() && cwd.is_some()).then(|| text(&own));
    Context {
        cwd: text(&directory),
        worklist,
        worklist_base,
        git_env: git_environment(),
        ..Context::default()
    }
}

/// Read once: this process does not change its own environment.
pub(crate) fn git_environment() -> BTreeMap<String, String> {
    static OWN: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
        let text = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
        GIT_ENVIRONMENT.into_iter().filter_map(|name| Some((name.to_owned(), text(name)?))).collect()
    });
    OWN.clone()
}

/// The process's directory, asked for anew. A deleted one is named as it was, where the system tells: the engine can
/// say that it does not exist, or work in the one that was made in its place.
#[must_use]
pub fn working_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| {
        let link = std::fs::read_link("/proc/self/cwd").unwrap_or_default();
        let text = link.to_string_lossy();
        PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text))
    })
}
