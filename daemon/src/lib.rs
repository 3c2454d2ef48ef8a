//! The engine behind `stepstoned`: an operation in, an envelope out.
//!
//! - [`roadmap`] is pure: the worklist document, ids, selectors, the graph, plans, changes. It sees no path, no clock
//!   and no task; instants come in as values.
//! - [`decode`] turns arguments as given into typed operations, by the contract table.
//! - [`repository`] answers which root and which file, asked of Git and the file system.
//! - [`store`] keeps one worklist on disk: stamps, locks, durable replacement, queue, journal, watching.
//! - `file_system` tells file systems that answer at once from others.
//! - [`service`] is the only place that knows both an operation and a store.
//! - [`server`] is the engine's life: routes, events, start, idle, drain, signals, log.

pub mod decode;
mod file_system;
pub mod repository;
pub mod roadmap;
pub mod server;
pub mod service;
pub mod store;
