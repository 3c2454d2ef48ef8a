//! The one place that prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

/// A line of the task's own output.
pub(crate) fn line(text: impl AsRef<str>) {
    println!("{}", text.as_ref());
}

/// Why a task failed, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
