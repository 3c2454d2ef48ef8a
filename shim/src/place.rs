//! Where this server works: the directory whose repository is meant, and the goal file if one is named.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use stepstone_proto::operation::{ClientInfo, Context};

/// The Claude Code plugin's handoff: the project's directory, since that host starts plugins' servers elsewhere.
pub const PROJECT_ROOT: &str = "STEPSTONE_PLUGIN_PROJECT_ROOT";
/// The one override of the goal file.
pub const WORKLIST: &str = "STEPSTONE_WORKLIST";

/// What the environment says about where this server works. Looked at once: it does not change in a process.
#[derive(Debug, Clone, Default)]
pub struct Place {
    project: Option<PathBuf>,
    worklist: Option<String>,
}

impl Place {
    /// As this process's environment says.
    #[must_use]
    pub fn from_env() -> Self {
        Self::new(std::env::var_os(PROJECT_ROOT), std::env::var_os(WORKLIST))
    }

    /// As these values of the two variables say. Blank ones say nothing.
    #[must_use]
    pub fn new(project: Option<OsString>, worklist: Option<OsString>) -> Self {
        let text = |value: Option<OsString>| {
            value.map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.trim().is_empty())
        };
        Self { project: text(project).map(PathBuf::from), worklist: text(worklist) }
    }

    /// The context of a request by this client.
    ///
    /// The working directory is asked for again each time: it may be renamed under a running process. A relative
    /// goal file starts where the repository is looked for.
    #[must_use]
    pub fn context(&self, client: ClientInfo) -> Context {
        let here = stepstone_client::working_directory();
        let cwd = self.directory(&here).to_string_lossy().into_owned();
        Context {
            worklist: self.worklist.clone(),
            worklist_base: self.worklist.is_some().then(|| cwd.clone()),
            cwd,
            client,
            ..Context::default()
        }
    }

    fn directory(&self, here: &Path) -> PathBuf {
        match &self.project {
            Some(project) => here.join(project),
            None => here.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(project: Option<&str>, worklist: Option<&str>) -> Place {
        Place::new(project.map(OsString::from), worklist.map(OsString::from))
    }

    #[test]
    fn the_plugin_s_project_is_used_unless_it_is_blank() {
        let here = Path::new("/here");
        assert_eq!(place(None, None).directory(here), here);
        assert_eq!(place(Some(" "), None).directory(here), here);
        assert_eq!(place(Some("/there"), None).directory(here), Path::new("/there"));
        assert_eq!(place(Some("below"), None).directory(here), Path::new("/here/below"));
    }

    #[test]
    fn a_goal_file_is_resolved_from_the_directory_of_the_repository() {
        let context = place(Some("/there"), Some("goals.json")).context(ClientInfo::default());
        assert_eq!(context.cwd, "/there");
        assert_eq!(context.worklist.as_deref(), Some("goals.json"));
        assert_eq!(context.worklist_base.as_deref(), Some("/there"));
        let context = place(None, Some("  ")).context(ClientInfo::default());
        assert_eq!((context.worklist, context.worklist_base), (None, None));
    }
}
