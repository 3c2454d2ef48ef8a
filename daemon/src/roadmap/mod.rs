//! The worklist document and everything that can be done with it, without a file, a clock or a task.
//!
//! - [`Roadmap`] is one content of the goal file: parsed, printed, never changed.
//! - [`read()`] answers from it; [`decide`] makes another one of it, or refuses.
//! - Goals keep their text. What a change does not touch is printed as it was read, unknown fields included.
//!
//! Results are derived when they are asked for and kept with the content that they belong to.

mod answer;
mod changes;
mod cycle;
mod difference;
mod document;
mod goal;
mod graph;
mod ids;
mod instant;
mod names;
mod parse;
mod read;
mod refusal;
#[cfg(test)]
mod tests;
mod text;
mod why;

pub use changes::{Decision, Moment, decide};
pub use difference::{Difference, difference};
pub use document::Roadmap;
pub use ids::slug;
pub use instant::nanoseconds;
pub use parse::Defect;
pub use read::read;
