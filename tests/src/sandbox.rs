//! A home directory, a cleared environment and a scratch repository.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::processes::{self, Process};
use crate::{Executables, Mcp, Run, Session, eventually, executables};

/// Everything that one test needs to run the executables apart from all others.
///
/// Dropping it stops the daemon that was started in its home.
#[derive(Debug)]
pub struct Sandbox {
    base: PathBuf,
    environment: BTreeMap<OsString, OsString>,
    executables: Executables,
    // Removes the directory; dropped after the daemon is stopped.
    _directory: TempDir,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// With an empty Git repository on branch `main`.
    ///
    /// # Panics
    /// When the system refuses the directories, or Git the repository.
    pub fn new() -> Self {
        let sandbox = Self::without_repository();
        sandbox.git(["init", "-q", "-b", "main"]);
        sandbox
    }

    /// With a directory that is no repository, at the same place.
    ///
    /// # Panics
    /// When the system refuses the directories.
    pub fn without_repository() -> Self {
        let directory = tempfile::Builder::new().prefix("stepstone-").tempdir().expect("a scratch directory");
        let base = directory.path().canonicalize().expect("it was just made");
        for name in ["home", "repo"] {
            std::fs::create_dir(base.join(name)).expect("a fresh directory takes entries");
        }
        let config = "[user]\n\tname = A Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n\
                      [gc]\n\tauto = 0\n[commit]\n\tgpgSign = false\n[advice]\n\tdetachedHead = false\n";
        std::fs::write(base.join("home/.gitconfig"), config).expect("the home is ours");
        let environment = BTreeMap::from([
            ("HOME".into(), base.join("home").into()),
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
        ]);
        Self { base, environment, executables: executables().clone(), _directory: directory }
    }

    /// Runs this build instead of the one of the source tree.
    #[must_use]
    pub fn with_executables(mut self, executables: Executables) -> Self {
        self.executables = executables;
        self
    }

    /// The executables that this sandbox runs.
    pub fn executables(&self) -> &Executables {
        &self.executables
    }

    /// The directory around home and repository, links resolved.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The home directory; `set_env("HOME", …)` moves it.
    pub fn home(&self) -> PathBuf {
        self.environment.get(&OsString::from("HOME")).map_or_else(|| self.base.join("home"), PathBuf::from)
    }

    /// The repository's main work tree.
    pub fn root(&self) -> PathBuf {
        self.base.join("repo")
    }

    /// The canonical goal file.
    pub fn worklist_path(&self) -> PathBuf {
        self.root().join(".worklist/worklist.json")
    }

    /// Takes the lock that all software on the goal file shares, when it is free: a change lets go of it after its answer.
    ///
    /// # Panics
    /// When somebody else keeps it.
    #[must_use]
    pub fn take_lock(&self) -> PathBuf {
        let path = self.path(".worklist/.worklist.lock");
        std::fs::create_dir_all(self.path(".worklist")).expect("a directory");
        eventually("the lock is free", || std::fs::create_dir(&path).ok());
        path
    }

    /// Waits until nothing but the goal file is in its directory. What changes leave there goes when it is quiet.
    ///
    /// # Panics
    /// When something stays.
    pub fn becomes_clean(&self) {
        let beside = || -> Vec<_> {
            let entries = std::fs::read_dir(self.path(".worklist")).expect("the directory of the goal file");
            let names = entries.map(|entry| entry.expect("a name").file_name());
            names.filter(|name| name != "worklist.json").collect()
        };
        eventually("nothing is left beside the goal file", || beside().is_empty().then_some(()));
    }

    /// The state directory of this home and host, once something has made it.
    pub fn state_directory(&self) -> Option<PathBuf> {
        if let Some(moved) = self.environment.get(&OsString::from("STEPSTONE_STATE_DIR")) {
            return Some(moved.into()).filter(|path: &PathBuf| path.exists());
        }
        [".local/state/stepstone", "Library/Application Support/stepstone"]
            .iter()
            .filter_map(|place| std::fs::read_dir(self.home().join(place)).ok())
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .find(|path| path.is_dir())
    }

    /// Sets a variable for everything that is run from now on.
    pub fn set_env(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.insert(name.into(), value.into());
    }

    /// A path below the repository; an absolute one is kept.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file below the repository, with the directories above it.
    ///
    /// # Panics
    /// When the system refuses.
    #[track_caller]
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file lies in a directory")).expect("directories");
        std::fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Writes the canonical goal file.
    ///
    /// # Panics
    /// As [`Sandbox::write`].
    #[track_caller]
    pub fn write_worklist(&self, content: impl AsRef<[u8]>) {
        self.write(".worklist/worklist.json", content);
    }

    /// Reads a file below the repository.
    ///
    /// # Panics
    /// When the system refuses.
    #[track_caller]
    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        let path = self.path(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The canonical goal file's text.
    ///
    /// # Panics
    /// When it is not there, or no UTF-8.
    #[track_caller]
    pub fn read_worklist(&self) -> String {
        String::from_utf8(self.read(".worklist/worklist.json")).expect("goal files are UTF-8")
    }

    /// A command with this sandbox's environment and nothing else, in the repository.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.environment).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    /// `git` in the repository; gives what it printed.
    ///
    /// # Panics
    /// When Git refuses.
    #[track_caller]
    pub fn git<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        self.git_in(&self.root(), arguments)
    }

    /// `git` in another directory.
    ///
    /// # Panics
    /// When Git refuses.
    #[track_caller]
    pub fn git_in<S: AsRef<std::ffi::OsStr>>(
        &self,
        directory: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> String {
        let mut command = self.command("git");
        command.env("GIT_CONFIG_NOSYSTEM", "1").args(arguments);
        Run::new(command).within(directory).finish().ended(0)
    }

    /// Commits everything in the repository.
    ///
    /// # Panics
    /// When Git refuses.
    #[track_caller]
    pub fn commit_all(&self, message: &str) {
        self.git(["add", "--all"]);
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// A linked worktree beside the repository, on a new branch of the same name. The repository needs a commit.
    ///
    /// # Panics
    /// When Git refuses.
    #[track_caller]
    pub fn worktree(&self, branch: &str) -> PathBuf {
        let path = self.base.join(branch);
        self.git(["worktree", "add", "-q", "-b", branch, &path.to_string_lossy()]);
        path
    }

    /// `stepstone` with these arguments.
    pub fn cli<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        Run::new(self.command(&self.executables.cli)).args(arguments)
    }

    /// An MCP session to be, in the repository unless told otherwise.
    pub fn session(&self) -> Session {
        Session::new(self.command(&self.executables.mcp))
    }

    /// An MCP session to be, with another program as the server.
    pub fn session_of(&self, program: impl AsRef<std::ffi::OsStr>) -> Session {
        Session::new(self.command(program))
    }

    /// An MCP session in the repository.
    ///
    /// # Panics
    /// When the server does not answer its initialization.
    #[track_caller]
    pub fn mcp(&self) -> Mcp {
        self.session().start()
    }

    /// Every `stepstoned` that runs in this home: the daemon and private engines.
    pub fn engines(&self) -> Vec<Process> {
        processes::engines(&self.home())
    }

    /// The shared daemons that run in this home; more than one only while one of them is leaving.
    pub fn daemons(&self) -> Vec<Process> {
        self.engines().into_iter().filter(Process::is_daemon).collect()
    }

    /// The one daemon of this home.
    ///
    /// # Panics
    /// When it does not come to be that exactly one runs.
    pub fn daemon(&self) -> Process {
        eventually("exactly one daemon", || match self.daemons().as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        })
    }

    /// The end of the daemon's log, for messages.
    pub fn daemon_log(&self) -> String {
        let log = self.state_directory().map(|directory| directory.join("daemon.log"));
        log.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    }

    /// Stops whatever engine runs in this home, politely first.
    fn stop_engines(&self) {
        if !self.daemons().is_empty() {
            let mut stop = self.command(&self.executables.cli);
            stop.args(["daemon", "stop"]).current_dir(&self.base).stdout(Stdio::null()).stderr(Stdio::null());
            // A daemon that does not leave is ended below.
            let _ = stop.status();
        }
        for engine in self.engines() {
            engine.signal(Signal::CONT);
            engine.signal(Signal::KILL);
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.daemon_log();
            if !log.is_empty() {
                eprintln!("daemon.log:\n{log}");
            }
        }
        self.stop_engines();
    }
}
