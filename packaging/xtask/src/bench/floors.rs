//! The least work that any program would have to do for the same thing.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::samples::Samples;

/// What is sent there and back, in bytes.
const MESSAGE: usize = 100;

/// Starts a process that does nothing, reads what it prints, and waits for it.
pub(super) fn process() -> Result<()> {
    Command::new("true").stdin(Stdio::null()).output().context("true")?;
    Ok(())
}

/// A child that sends back every byte it gets.
pub(super) struct Pipe(Child);

impl Pipe {
    pub(super) fn new() -> Result<Self> {
        Self::to(Command::new("cat"))
    }

    /// The same through a second process: a pipe to one, a local socket to the other, and back.
    pub(super) fn relayed() -> Result<Self> {
        let mut relay = Command::new(std::env::current_exe()?);
        relay.args(["bench", super::RELAY]);
        Self::to(relay)
    }

    fn to(mut command: Command) -> Result<Self> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Ok(Self(child.with_context(|| format!("{command:?}"))?))
    }

    /// One line there and back.
    pub(super) fn round_trip(&mut self) -> Result<()> {
        let line = [b'x'; MESSAGE];
        self.0.stdin.as_mut().context("standard input")?.write_all(&line)?;
        self.0.stdout.as_mut().context("standard output")?.read_exact(&mut line.clone())?;
        Ok(())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}

/// Passes every message from standard input on to a child over a local socket, and its answer to standard output.
pub(super) fn relay() -> Result<()> {
    let (mut near, far) = UnixStream::pair()?;
    let (input, output) = (OwnedFd::from(far.try_clone()?), OwnedFd::from(far));
    let mut echo = Command::new("cat").stdin(input).stdout(output).spawn().context("cat")?;
    let mut message = [0; MESSAGE];
    while std::io::stdin().read_exact(&mut message).is_ok() {
        near.write_all(&message)?;
        near.read_exact(&mut message)?;
        std::io::stdout().write_all(&message)?;
        std::io::stdout().flush()?;
    }
    near.shutdown(std::net::Shutdown::Write)?;
    echo.wait()?;
    Ok(())
}

/// Round trips over a local socket to a thread that sends every byte back.
pub(super) fn socket(directory: &Path, count: usize) -> Result<Samples> {
    let path = directory.join("floor.sock");
    let listener = UnixListener::bind(&path)?;
    let echo = std::thread::spawn(move || -> std::io::Result<()> {
        let (mut peer, _) = listener.accept()?;
        let mut buffer = [0; MESSAGE];
        while peer.read_exact(&mut buffer).is_ok() {
            peer.write_all(&buffer)?;
        }
        Ok(())
    });
    let mut samples = Samples::default();
    let mut stream = UnixStream::connect(&path)?;
    let mut buffer = [b'x'; MESSAGE];
    for _ in 0..count {
        samples.time(|| {
            stream.write_all(&buffer)?;
            Ok(stream.read_exact(&mut buffer)?)
        })?;
    }
    drop(stream);
    let _echoed = echo.join();
    std::fs::remove_file(&path)?;
    Ok(samples)
}

/// Replaces a file by as many bytes, durably: write, sync, rename, sync the directory.
pub(super) fn durable_write(directory: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = directory.join("floor.tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&temporary, directory.join("floor.json"))?;
    File::open(directory)?.sync_all()?;
    Ok(())
}
