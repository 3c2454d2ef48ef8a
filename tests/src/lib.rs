//! The test bench: the built executables, a home of their own for each test, and the two ways to talk to them.
//!
//! - [`Sandbox`]: a home directory, a cleared environment and a scratch repository. Dropping it stops the daemon that
//!   was started in it.
//! - [`Run`]: one bounded run of an executable, with what it printed.
//! - [`Mcp`]: a small MCP client over the standard streams of `stepstone-mcp`.
//! - [`Answer`]: an envelope, with the assertions that tests make about it.
//! - [`Goal`] and [`worklist()`]: goal files for tests, in the layout that the engine writes.
//! - [`eventually`]: bounded polling, the only way in which a test waits for something.
//! - [`scenario`]: behaviour as data, `tests/scenarios/*.json`.
//!
//! A bench fails by panicking, with everything a reader needs to see in the message.
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stderr)]

mod answer;
mod executables;
mod mcp;
mod processes;
mod run;
mod sandbox;
pub mod scenario;
mod wait;
mod worklist;

pub use answer::Answer;
pub use executables::{Executables, executables, workspace_root};
pub use mcp::{Mcp, Session};
pub use processes::Process;
pub use run::{Finished, Run};
pub use sandbox::Sandbox;
pub use wait::{eventually, skipped};
pub use worklist::{Goal, worklist};
