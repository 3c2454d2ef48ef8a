//! One piece of the core's work, once, for a tool that counts instructions: `cargo xtask instructions`.
#![allow(missing_docs, unused_crate_dependencies)]

#[allow(dead_code, reason = "the other bench uses the rest")]
mod support;

use std::hint::black_box;
use std::process::ExitCode;

use stepstone_daemon::roadmap::Roadmap;

const GOALS: usize = 1_000;
const EDGES: usize = 3;

fn main() -> ExitCode {
    let text = support::worklist(GOALS, EDGES);
    let parsed = || Roadmap::parse(text.as_bytes()).expect("the file is well-formed");
    let result = match std::env::args().nth(1).as_deref() {
        Some("text") => text.len(),
        Some("parse") => parsed().len(),
        Some("print") => parsed().print().len(),
        Some("ready") => support::read(&parsed(), "ready"),
        Some("waves") => support::read(&parsed(), "waves"),
        Some("add") => support::add(&parsed()),
        // What `cargo bench` calls.
        _ => return ExitCode::SUCCESS,
    };
    black_box(result);
    ExitCode::SUCCESS
}
