//! `stepstone`: a repository's roadmap at the command line.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    stepstone_cli::run(&arguments)
}
