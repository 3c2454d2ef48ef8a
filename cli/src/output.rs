//! The one place that writes to standard output and standard error, and asks what they are.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use crate::render::{self, Page};

/// What standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Columns; `None` where nothing has to be cut (a pipe, a file).
    pub(crate) width: Option<usize>,
    /// Colours are wanted.
    pub(crate) colour: bool,
}

impl Screen {
    /// Standard output as it is now. `NO_COLOR`, `TERM=dumb` and anything but a terminal make it plain.
    pub(crate) fn here() -> Self {
        let stdout = io::stdout();
        if !stdout.is_terminal() {
            return Self { width: None, colour: false };
        }
        let dumb = variable("TERM").is_none_or(|term| term == "dumb");
        let width = columns(&stdout);
        Self { width: Some(width), colour: !dumb && variable("NO_COLOR").is_none() }
    }
}

/// Writes a page. A reader that has gone (`| head`) is a quiet end; other faults are the caller's to report.
pub(crate) fn show(page: &Page) -> io::Result<()> {
    // What was asked for first: a warning must not push it off a pager's first screen.
    let written = write(&mut io::stdout().lock(), &page.out);
    // Nobody is left to tell when standard error is gone.
    let _ = write(&mut io::stderr().lock(), &page.err);
    written
}

/// The same page with its messages broken to the width of the terminal that shows them, if one does. Not for
/// envelopes.
pub(crate) fn broken(page: Page) -> Page {
    let stderr = io::stderr();
    if !stderr.is_terminal() {
        return page;
    }
    Page { err: render::broken(&page.err, columns(&stderr)), ..page }
}

/// A terminal's width.
fn columns(terminal: &impl AsFd) -> usize {
    let columns = variable("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    let size = || rustix::termios::tcgetwinsize(terminal).ok().map(|size| usize::from(size.ws_col));
    columns.or_else(size).filter(|width| *width > 0).unwrap_or(80)
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn write(stream: &mut impl Write, text: &str) -> io::Result<()> {
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
