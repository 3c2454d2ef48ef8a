//! `cargo xtask bench`: this project's executables against floors taken in the same run.
//!
//! Machines are noisy, so no figure stands alone: each is printed as a ratio to the least work that any program
//! would have to do for the same thing, measured in between. Another implementation's commands can be measured
//! beside ours with `--other-cli` and `--other-mcp`.

mod floors;
mod placement;
mod samples;
mod subjects;
mod table;

use anyhow::{Context, Result, bail};

use subjects::{Implementation, Subject};
use table::Table;

use crate::{build, sizes};

/// How often each thing is measured. `--quick` takes fewer, for trying the suite itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Whole processes.
    processes: usize,
    /// Round trips through something that already runs.
    round_trips: usize,
    /// Durable writes.
    writes: usize,
}

const FULL: Effort = Effort { processes: 200, round_trips: 1000, writes: 100 };
const QUICK: Effort = Effort { processes: 20, round_trips: 50, writes: 10 };

/// The numbers of goals at which roadmaps are measured.
const SMALL: usize = 10;
const LARGE: usize = 10_000;

/// With this word alone the command is the relay of a floor.
const RELAY: &str = "--relay";

/// Runs the suite and prints one table.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if arguments == [RELAY] {
        return floors::relay();
    }
    let options = Options::parse(arguments)?;
    let built = build::release()?;
    let scratch = tempfile::tempdir().context("a scratch directory")?;
    let ours = Implementation::ours(&built.directory);
    let mut implementations = vec![ours];
    if options.other_cli.is_some() || options.other_mcp.is_some() {
        implementations.push(Implementation::other(options.other_cli, options.other_mcp));
    }
    let mut table = Table::new();
    for implementation in implementations {
        let home = scratch.path().join(&implementation.name);
        let subject = Subject::new(implementation, &home, options.effort)?;
        subject.measure(&mut table, options.only.as_deref())?;
    }
    table.print();
    if options.only.is_some() { Ok(()) } else { sizes::compare(&built) }
}

struct Options {
    effort: Effort,
    /// One part of the suite.
    only: Option<String>,
    other_cli: Option<String>,
    other_mcp: Option<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { effort: FULL, only: None, other_cli: None, other_mcp: None };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => options.effort = QUICK,
                "--only" => options.only = Some(value()?),
                "--other-cli" => options.other_cli = Some(value()?),
                "--other-mcp" => options.other_mcp = Some(value()?),
                _ => bail!(
                    "unknown argument {word}; known: --quick, --only PART, --other-cli CMD, --other-mcp CMD"
                ),
            }
        }
        Ok(options)
    }
}
