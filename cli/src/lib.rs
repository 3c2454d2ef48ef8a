//! The command line: arguments, one file per command, human rendering, exit codes.
//!
//! - `arguments`: an argument vector in, what was asked for or a usage error out. Pure.
//! - `commands`: one file per family, from what was given to what is done.
//! - `session`: the engine. `render`: envelopes as text. `json`: envelopes as they are.
//! - `exit`: exit codes, in one place. `output`: the only place that prints.

mod arguments;
mod commands;
mod exit;
mod json;
mod output;
mod render;
mod run;
mod session;

pub use run::run;
