//! One bounded run of an executable.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::Value;

use crate::wait::LIMIT;
use crate::{Answer, eventually};

/// A run to be: arguments, directory, environment, input.
#[derive(Debug)]
#[must_use]
pub struct Run {
    command: Command,
    input: Option<Vec<u8>>,
}

/// What a run left behind.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    shown: String,
}

impl Run {
    /// Runs `command`, which has its environment already.
    pub fn new(command: Command) -> Self {
        Self { command, input: None }
    }

    /// One more argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// More arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// In this directory, instead of the scratch repository.
    pub fn within(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// With this variable too.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Without this variable.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.command.env_remove(name);
        self
    }

    /// With this on standard input, instead of nothing.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// The command itself, for what the methods here do not offer.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be started, takes over a minute, or leaves its output open behind it.
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        let shown = shown(&self.command);
        self.command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), self.input) {
            // Its own thread: the child may print much before it reads. It may also close its input early.
            std::thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let stdout = collect(child.stdout.take().expect("piped"));
        let stderr = collect(child.stderr.take().expect("piped"));
        let status = wait(&mut child, &shown);
        let bytes = |pipe: &Receiver<Vec<u8>>| {
            pipe.recv_timeout(LIMIT)
                .unwrap_or_else(|_| panic!("{shown} has ended, but somebody holds its output open"))
        };
        Finished {
            code: status.code(),
            signal: status.signal(),
            stdout: bytes(&stdout),
            stderr: bytes(&stderr),
            shown,
        }
    }

    /// Runs it with `--json` and gives the envelope, which stands alone on the stream that its outcome asks for.
    ///
    /// # Panics
    /// As [`Run::finish`], and when anything else was printed.
    #[track_caller]
    pub fn json(self) -> Answer {
        self.arg("--json").finish().envelope()
    }

    /// Starts it without waiting; nothing is captured.
    ///
    /// # Panics
    /// When it cannot be started.
    #[track_caller]
    pub fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.command.spawn().unwrap_or_else(|error| panic!("{}: {error}", shown(&self.command)))
    }
}

/// A command for messages: without its environment, which is the sandbox's.
fn shown(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
    let directory = command.get_current_dir().unwrap_or(Path::new("."));
    format!("{words:?} in {}", directory.display())
}

impl Finished {
    /// Standard output as text.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Asserts the exit code, and gives standard output.
    ///
    /// # Panics
    /// When it ended otherwise.
    #[track_caller]
    pub fn ended(&self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}\nstdout: {}\nstderr: {}", self.shown, self.out(), self.err());
        self.out()
    }

    /// The envelope of a run with `--json`.
    ///
    /// # Panics
    /// When it is not alone on its stream: standard output for exit code 0, standard error for all others.
    #[track_caller]
    pub fn envelope(&self) -> Answer {
        let (own, other) =
            if self.code == Some(0) { (self.out(), self.err()) } else { (self.err(), self.out()) };
        assert!(other.is_empty(), "{}: stray output beside the envelope: {other}", self.shown);
        let value: Value = serde_json::from_str(&own)
            .unwrap_or_else(|error| panic!("{}: no envelope ({error}): {own:?}", self.shown));
        Answer(value)
    }
}

/// Reads a pipe to its end, in its own thread.
fn collect(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

#[track_caller]
pub(crate) fn wait(child: &mut Child, shown: &str) -> std::process::ExitStatus {
    let begin = Instant::now();
    eventually(&format!("the end of {shown}"), || {
        if begin.elapsed() > LIMIT / 2 {
            let _ = child.kill();
        }
        child.try_wait().expect("a child can be waited for")
    })
}
