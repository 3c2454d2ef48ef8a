//! Every test that runs the built executables, one module per theme.
//!
//! A new file is added to the list below; a test fails when one is not. Each test makes its own
//! [`stepstone_tests::Sandbox`] and waits for things only with [`stepstone_tests::eventually`].
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stderr)]

mod bad_files;
mod bench;
mod command_line;
mod daemon;
mod interop;
mod mcp;
mod packaging;
mod pages;
mod places;
mod refusals;
mod scenarios;
mod story;
mod transcripts;
mod untouched;
