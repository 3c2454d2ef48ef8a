//! Stepstone's client half: connect, start the daemon, own engine, when to send again.
//!
//! - [`Surroundings`]: what the process was started with that matters here.
//! - [`Client`]: an operation in, an envelope out, whatever happens to the daemon meanwhile.
//! - [`EventStream`]: what changes in one worklist, across any number of daemons.
//! - [`follow_launcher`]: ending with the npm package's launcher.
//! - [`control`]: `stepstone daemon status|start|stop|restart|logs`.
//!
//! There is no roadmap logic here: arguments are passed on as they were given.
//!
//! Whatever goes wrong with the daemon, the answer is the same, quickly, without it: the client runs
//! `stepstoned --pipe` as its own child and speaks the same HTTP over its standard streams.

mod answers;
mod client;
mod context;
pub mod control;
mod events;
mod executable;
mod find;
mod launcher;
mod pool;
mod private;
mod surroundings;
#[cfg(test)]
mod tests;
mod wire;

pub use client::Client;
pub use context::{context_here, working_directory};
pub use events::{Event, EventStream};
pub use launcher::{LAUNCHER_VARIABLE, Launcher, follow_launcher};
pub use surroundings::Surroundings;
