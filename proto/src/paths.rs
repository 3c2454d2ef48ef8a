//! Where the state directory, the socket, the locks and the journals are.
//!
//! A pure function of (home directory, uid, host name), shared by the three executables. It never looks at `XDG_*`,
//! `TMPDIR` or the working directory, because hosts start MCP servers with a filtered environment and everyone must
//! arrive at the same daemon. `STEPSTONE_STATE_DIR` moves it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Moves the state directory to this absolute path.
pub const STATE_DIR_VARIABLE: &str = "STEPSTONE_STATE_DIR";

/// The longest socket path that `connect` takes, in bytes, without the closing zero.
#[cfg(target_os = "macos")]
pub const SOCKET_PATH_LIMIT: usize = 103;
/// The longest socket path that `connect` takes, in bytes, without the closing zero.
#[cfg(not(target_os = "macos"))]
pub const SOCKET_PATH_LIMIT: usize = 107;

/// Below the home directory, above the host's own directory.
#[cfg(target_os = "macos")]
const BELOW_HOME: &str = "Library/Application Support/stepstone";
/// Below the home directory, above the host's own directory.
#[cfg(not(target_os = "macos"))]
const BELOW_HOME: &str = ".local/state/stepstone";

/// The paths of one user's daemon on one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    directory: PathBuf,
    socket: PathBuf,
    home: Option<PathBuf>,
}

/// Why there is no state directory to speak of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoLayout {
    /// The account has no home directory, or `HOME` is relative.
    #[error("there is no home directory; set HOME to an absolute path, or STEPSTONE_STATE_DIR")]
    NoHome,
    /// Everyone must arrive at the same place, wherever they were started.
    #[error("STEPSTONE_STATE_DIR is {0:?}; it must be an absolute path")]
    Relative(PathBuf),
}

impl Layout {
    /// The layout below a home directory.
    #[must_use]
    pub fn below(home: &Path, uid: u32, host: &OsStr) -> Self {
        let directory = home.join(BELOW_HOME).join(host_component(host));
        Self { home: Some(home.to_owned()), ..Self::at(directory, uid) }
    }

    /// The layout in a directory that was chosen by name.
    #[must_use]
    pub fn at(directory: PathBuf, uid: u32) -> Self {
        let mut socket = directory.join("daemon.sock");
        if socket.as_os_str().len() > SOCKET_PATH_LIMIT {
            let digest = Sha256::digest(directory.as_os_str().as_bytes());
            let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            socket = PathBuf::from(format!("/tmp/stepstone-{uid}/{name}.sock"));
        }
        Self { directory, socket, home: None }
    }

    /// The layout that `STEPSTONE_STATE_DIR` (blank: not set) or else the home directory gives.
    ///
    /// # Errors
    ///
    /// When neither is an absolute path.
    pub fn choose(
        chosen: Option<&OsStr>,
        home: Option<&Path>,
        uid: u32,
        host: &OsStr,
    ) -> Result<Self, NoLayout> {
        if let Some(chosen) = chosen.filter(|text| !text.as_bytes().trim_ascii().is_empty()) {
            let directory = PathBuf::from(chosen);
            return if directory.is_absolute() {
                Ok(Self::at(directory, uid))
            } else {
                Err(NoLayout::Relative(directory))
            };
        }
        home.filter(|home| home.is_absolute())
            .map(|home| Self::below(home, uid, host))
            .ok_or(NoLayout::NoHome)
    }

    /// The state directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The home directory above it, which is never made; `None` when the directory was chosen by name.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The daemon's socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The directory of the socket, when that is not the state directory.
    #[must_use]
    pub fn socket_directory(&self) -> Option<&Path> {
        self.socket.parent().filter(|parent| *parent != self.directory)
    }

    /// Held by the daemon for life.
    #[must_use]
    pub fn daemon_lock(&self) -> PathBuf {
        self.directory.join("daemon.lock")
    }

    /// Held by the client that starts the daemon.
    #[must_use]
    pub fn start_lock(&self) -> PathBuf {
        self.directory.join("start.lock")
    }

    /// Facts about the daemon, for people; nothing relies on it.
    #[must_use]
    pub fn info(&self) -> PathBuf {
        self.directory.join("daemon.json")
    }

    /// The daemon's log.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.directory.join("daemon.log")
    }

    /// The log before the last rotation.
    #[must_use]
    pub fn previous_log(&self) -> PathBuf {
        self.directory.join("daemon.log.1")
    }

    /// Kernel locks, one file per worklist.
    #[must_use]
    pub fn locks(&self) -> PathBuf {
        self.directory.join("locks")
    }

    /// Journals, one file per worklist.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.directory.join("journal")
    }
}

/// A host name as one path component: what is no letter, digit, `.`, `-` or `_` becomes `-`.
fn host_component(host: &OsStr) -> String {
    let name: String = host
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(*byte),
            _ => '-',
        })
        .collect();
    match name.trim_matches('.') {
        "" => "localhost".to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(home: &str) -> Layout {
        Layout::below(Path::new(home), 1000, OsStr::new("box"))
    }

    #[test]
    fn everything_lies_in_one_directory_per_host() {
        let layout = below("/home/ann");
        let directory = Path::new("/home/ann").join(BELOW_HOME).join("box");
        assert_eq!(layout.directory(), directory);
        assert_eq!(layout.home(), Some(Path::new("/home/ann")));
        assert_eq!(layout.socket(), directory.join("daemon.sock"));
        assert_eq!(layout.socket_directory(), None);
        for (path, name) in [
            (layout.daemon_lock(), "daemon.lock"),
            (layout.start_lock(), "start.lock"),
            (layout.info(), "daemon.json"),
            (layout.log(), "daemon.log"),
            (layout.locks(), "locks"),
            (layout.journal(), "journal"),
        ] {
            assert_eq!(path, directory.join(name));
        }
    }

    #[test]
    fn a_socket_path_moves_exactly_when_it_passes_the_limit() {
        let length = |directory: &str| Layout::at(directory.into(), 7).socket().as_os_str().len();
        let rest = "/daemon.sock".len();
        let fits = format!("/{}", "x".repeat(SOCKET_PATH_LIMIT - rest - 1));
        assert_eq!(length(&fits), SOCKET_PATH_LIMIT);
        assert_eq!(Layout::at(fits.clone().into(), 7).socket_directory(), None);
        let long = Layout::at(format!("{fits}x").into(), 7);
        assert_eq!(long.socket_directory(), Some(Path::new("/tmp/stepstone-7")));
        assert!(long.socket().as_os_str().len() <= SOCKET_PATH_LIMIT);
        assert_ne!(long.socket(), Layout::at(format!("{fits}y").into(), 7).socket());
        assert_eq!(long, Layout::at(format!("{fits}x").into(), 7));
    }

    #[test]
    fn a_directory_chosen_by_name_beats_the_home() {
        let choose = |chosen: Option<&str>, home: Option<&str>| {
            Layout::choose(chosen.map(OsStr::new), home.map(Path::new), 1, OsStr::new("box"))
        };
        assert_eq!(choose(Some("/s"), Some("/h")), Ok(Layout::at("/s".into(), 1)));
        assert_eq!(choose(Some("/s"), None), Ok(Layout::at("/s".into(), 1)));
        for blank in [None, Some(""), Some("  ")] {
            assert_eq!(choose(blank, Some("/h")), Ok(Layout::below(Path::new("/h"), 1, OsStr::new("box"))));
            assert_eq!(choose(blank, None), Err(NoLayout::NoHome));
            assert_eq!(choose(blank, Some("h")), Err(NoLayout::NoHome));
        }
        assert_eq!(choose(Some("s"), Some("/h")), Err(NoLayout::Relative("s".into())));
    }

    #[test]
    fn a_host_name_is_one_harmless_component() {
        let table: [(&[u8], &str); 6] = [
            (b"box.lan", "box.lan"),
            (b"a/b", "a-b"),
            (b"..", "localhost"),
            (b"", "localhost"),
            (b"Ann's Mac", "Ann-s-Mac"),
            (b"\xff\0", "--"),
        ];
        for (name, expected) in table {
            assert_eq!(host_component(OsStr::from_bytes(name)), expected);
        }
    }
}
