//! Git's answers, and what they mean for the root.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use stepstone_proto::state::Identity;

use super::cache::{Cache, Kept, Stamps};
use super::git::{self, Environment, Said};
use super::{CANONICAL, LEGACY, LocateError, Located, failures};
use crate::file_system::path_is_remote;

/// The kept answer while it holds, else Git's own.
pub(super) async fn locate(
    cache: &Arc<Cache>,
    cwd: &Path,
    env: Environment<'_>,
) -> Result<Located, LocateError> {
    if !cwd.is_absolute() {
        return Err(failures::no_directory(cwd, "it is not an absolute path"));
    }
    // One step beside the event loop for all that a kept answer needs.
    let (given, variables, kept) = (cwd.to_owned(), env.variables.clone(), Arc::clone(cache));
    let looked = blocking(move || {
        let kept = kept.look(&given, &variables).filter(|kept| kept.holds_in(&given));
        Ok((directory(&given)?, kept.map(|kept| kept.located.clone())))
    });
    let (directory, answer) = looked.await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failures::no_directory(cwd, "it does not exist"),
        io::ErrorKind::NotADirectory => failures::no_directory(cwd, "it is not a directory"),
        _ => failures::unreadable(cwd, &error),
    })?;
    if let Some(located) = answer {
        return Ok(located);
    }
    let (asked, asked_at) = (Instant::now(), SystemTime::now());
    let above = directory.clone();
    let entries = blocking(move || Ok(Stamps::of_entries(&above))).await.unwrap_or_default();
    let located = Asking { directory: &directory, env }.answer().await?;
    let (of, git_env) = (located.clone(), env.variables.clone());
    let kept = blocking(move || {
        let stamps = entries.up_to(&of).and(Stamps::of_git_directories(&of));
        let near = is_near(&directory, &of);
        let directory = Identity::of(&directory.metadata()?);
        Ok(Kept { located: of, directory, git_env, stamps, asked, near })
    });
    if let Ok(mut kept) = kept.await
        && kept.stamps.were_old_at(asked_at)
    {
        kept.stamps = kept.stamps.without_implied();
        cache.keep(cwd, kept);
    }
    Ok(located)
}

/// The kept answer while it holds, for directories that the event loop itself may look at.
pub(super) fn at_hand(cache: &Cache, cwd: &Path, env: Environment<'_>) -> Option<Located> {
    let kept = cache.look(cwd, env.variables).filter(|kept| kept.near)?;
    kept.holds_in(cwd).then(|| kept.located.clone())
}

/// Whether everything that an operation looks at lies on file systems that answer at once.
fn is_near(directory: &Path, located: &Located) -> bool {
    let Located { root, work_tree, git_dir, common_dir } = located;
    let files = [CANONICAL, LEGACY].map(|file| root.join(file));
    // A file, or its directory, may be a link to elsewhere. What is not there yet is where its directory is.
    let folders = files.iter().filter_map(|file| file.parent());
    let paths = [directory, root, work_tree, git_dir, common_dir].into_iter();
    !paths.chain(folders).chain(files.iter().map(PathBuf::as_path)).any(path_is_remote)
}

/// The branch of a work tree. The HEAD file says it unless references are kept in another format, which only Git
/// reads.
pub(super) async fn branch(located: &Located, env: Environment<'_>) -> Result<Option<String>, LocateError> {
    let head = located.git_dir.join("HEAD");
    match blocking(move || read_head(&head)).await {
        Ok(Head::Branch(name)) => return Ok(Some(name)),
        Ok(Head::Detached) => return Ok(None),
        Ok(Head::AskGit) | Err(_) => {}
    }
    let arguments = ["symbolic-ref", "-q", "HEAD"].map(OsString::from);
    let said = ask(env, &located.work_tree, &arguments).await?;
    if said.success {
        return Ok(branch_name(said.out.trim_ascii_end()));
    }
    // With -q a detached HEAD is status 1 without a word.
    if said.err.is_empty() { Ok(None) } else { Err(failures::git_refused(&located.work_tree, &said.err)) }
}

enum Head {
    Branch(String),
    Detached,
    AskGit,
}

fn read_head(path: &Path) -> io::Result<Head> {
    // A symbolic link is the oldest spelling of a branch.
    if path.symlink_metadata()?.file_type().is_symlink() {
        return Ok(Head::AskGit);
    }
    let content = std::fs::read(path)?;
    let Some(reference) = content.strip_prefix(b"ref:") else {
        let hash = content.trim_ascii();
        let is_hash = matches!(hash.len(), 40 | 64) && hash.iter().all(u8::is_ascii_hexdigit);
        return Ok(if is_hash { Head::Detached } else { Head::AskGit });
    };
    // ".invalid" is what stands there when references are in a table.
    Ok(match branch_name(reference.trim_ascii()) {
        Some(name) if name != ".invalid" => Head::Branch(name),
        _ => Head::AskGit,
    })
}

fn branch_name(reference: &[u8]) -> Option<String> {
    let name = reference.strip_prefix(b"refs/heads/")?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// One search for the root of one directory.
struct Asking<'a> {
    directory: &'a Path,
    env: Environment<'a>,
}

impl Asking<'_> {
    async fn answer(&self) -> Result<Located, LocateError> {
        // One call for everything. `--show-toplevel` comes last: outside a work tree Git gives up there, and what
        // it printed before tells a bare repository from others.
        let said = self
            .git(&[
                "rev-parse",
                "--is-bare-repository",
                "--absolute-git-dir",
                "--git-common-dir",
                "--show-toplevel",
            ])
            .await?;
        let mut lines = lines(&said.out);
        if said.success && lines.len() != 4 {
            // A line break in a path: ask for one at a time.
            lines = self.one_by_one().await?;
        }
        match lines.as_slice() {
            [_, git_dir, common_dir, top] if said.success => {
                let git_dir = real(Path::new(git_dir));
                let common_dir = real(&self.directory.join(common_dir));
                let work_tree = real(Path::new(top));
                let own = Located { root: work_tree.clone(), work_tree, git_dir, common_dir };
                if own.git_dir == own.common_dir { Ok(own) } else { self.main_of(own).await }
            }
            [bare, git_dir, ..] if said.err.contains("must be run in a work tree") => {
                if bare == "true" {
                    self.in_bare(real(Path::new(git_dir))).await
                } else {
                    Err(failures::no_repository(self.directory))
                }
            }
            _ => Err(self.refused(&said)),
        }
    }

    async fn one_by_one(&self) -> Result<Vec<OsString>, LocateError> {
        let mut lines = vec![OsString::from("false")];
        for question in ["--absolute-git-dir", "--git-common-dir", "--show-toplevel"] {
            let said = self.git(&["rev-parse", question]).await?;
            if !said.success {
                return Err(self.refused(&said));
            }
            lines.push(without_line_end(said.out));
        }
        Ok(lines)
    }

    /// A linked worktree: the roadmap is the main worktree's, or, when the repository is bare, that of the worktree
    /// with its HEAD branch.
    async fn main_of(&self, own: Located) -> Result<Located, LocateError> {
        let worktrees = self.worktrees().await?;
        let root = match worktrees.first() {
            Some(main) if main.bare => self.with_head_branch(&own.common_dir, &worktrees).await?,
            Some(main) => self.main_work_tree(&own.common_dir, &main.path).await?,
            None => None,
        };
        Ok(match root {
            Some(root) => Located { root, ..own },
            None => own,
        })
    }

    /// Inside a bare repository itself.
    async fn in_bare(&self, git_dir: PathBuf) -> Result<Located, LocateError> {
        let worktrees = self.worktrees().await?;
        let root = self.with_head_branch(&git_dir, &worktrees).await?;
        let root = root.ok_or_else(|| failures::bare(self.directory))?;
        // There is no work tree of the caller's own, so the one with the roadmap stands for it.
        let arguments = ["rev-parse", "--absolute-git-dir"].map(OsString::from);
        let said = ask(self.env, &root, &arguments).await?;
        if !said.success {
            return Err(self.refused(&said));
        }
        let own = real(Path::new(&without_line_end(said.out)));
        Ok(Located { work_tree: root.clone(), root, git_dir: own, common_dir: git_dir })
    }

    async fn worktrees(&self) -> Result<Vec<Worktree>, LocateError> {
        let said = self.git(&["worktree", "list", "--porcelain", "-z"]).await?;
        if said.success {
            return Ok(worktrees(&said.out, 0));
        }
        // Before Git 2.36 lines end with a line break only.
        let said = self.git(&["worktree", "list", "--porcelain"]).await?;
        if said.success { Ok(worktrees(&said.out, b'\n')) } else { Err(self.refused(&said)) }
    }

    /// The main work tree. Git lists it by taking `/.git` off the common directory, which is wrong for a submodule:
    /// there the configuration says where it is.
    async fn main_work_tree(&self, common: &Path, listed: &Path) -> Result<Option<PathBuf>, LocateError> {
        let listed = real(listed);
        if listed != common && listed.is_dir() {
            return Ok(Some(listed));
        }
        let arguments = ["rev-parse", "--show-toplevel"].map(OsString::from);
        let said = ask(self.env, common, &arguments).await?;
        let top = PathBuf::from(without_line_end(said.out));
        Ok((said.success && top.is_absolute()).then(|| real(&top)))
    }

    async fn with_head_branch(
        &self,
        bare: &Path,
        worktrees: &[Worktree],
    ) -> Result<Option<PathBuf>, LocateError> {
        let mut git_dir = OsString::from("--git-dir=");
        git_dir.push(bare);
        let arguments =
            [git_dir, OsString::from("symbolic-ref"), OsString::from("-q"), OsString::from("HEAD")];
        let said = ask(self.env, self.directory, &arguments).await?;
        let head = said.out.trim_ascii_end();
        let found = worktrees.iter().find(|worktree| {
            !worktree.bare
                && said.success
                && worktree.branch.as_deref() == Some(head)
                && worktree.path.is_dir()
        });
        Ok(found.map(|worktree| real(&worktree.path)))
    }

    async fn git(&self, arguments: &[&str]) -> Result<Said, LocateError> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        ask(self.env, self.directory, &arguments).await
    }

    /// What Git's own words mean. They are the untranslated ones.
    fn refused(&self, said: &Said) -> LocateError {
        let words = said.err.as_str();
        if words.contains("not a git repository (or any") {
            failures::no_repository(self.directory)
        } else if words.starts_with("xcrun: error") || words.starts_with("xcode-select:") {
            failures::not_runnable(words)
        } else if words.is_empty() {
            failures::git_refused(self.directory, "it gave no reason")
        } else {
            failures::git_refused(self.directory, words)
        }
    }
}

async fn ask(env: Environment<'_>, directory: &Path, arguments: &[OsString]) -> Result<Said, LocateError> {
    git::ask(env, directory, arguments).await.map_err(|silence| failures::silence(&silence))
}

#[derive(Debug, Default)]
struct Worktree {
    path: PathBuf,
    bare: bool,
    branch: Option<Vec<u8>>,
}

/// Reads `git worktree list --porcelain`: attributes by line, a worktree at each `worktree`.
fn worktrees(text: &[u8], line_end: u8) -> Vec<Worktree> {
    let mut found: Vec<Worktree> = Vec::new();
    for line in text.split(|byte| *byte == line_end) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            found.push(Worktree { path: PathBuf::from(OsStr::from_bytes(path)), ..Worktree::default() });
        } else if let Some(current) = found.last_mut() {
            if line == b"bare" {
                current.bare = true;
            } else if let Some(branch) = line.strip_prefix(b"branch ") {
                current.branch = Some(branch.to_owned());
            }
        }
    }
    found
}

fn lines(out: &[u8]) -> Vec<OsString> {
    let out = out.strip_suffix(b"\n").unwrap_or(out);
    if out.is_empty() {
        return Vec::new();
    }
    out.split(|byte| *byte == b'\n').map(|line| OsString::from_vec(line.to_owned())).collect()
}

fn without_line_end(mut out: Vec<u8>) -> OsString {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    OsString::from_vec(out)
}

/// Links resolved where that is possible; Git mostly has done it already.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The directory with links resolved.
fn directory(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    if real.metadata()?.is_dir() { Ok(real) } else { Err(io::Error::from(io::ErrorKind::NotADirectory)) }
}

/// Looking at files may take long on a slow disk; it must not hold up the event loop.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
