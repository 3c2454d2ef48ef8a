//! What a contributor or packager would otherwise script: `cargo xtask <task>`, and `cargo demo` for one of them.

mod bench;
mod build;
mod demo;
mod dist;
mod docs;
mod install;
mod instructions;
mod memory;
mod say;
mod sizes;
mod soak;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

fn main() -> ExitCode {
    let outcome = match arguments().get_matches().subcommand() {
        Some(("bench", given)) => bench::run(&words(given)),
        Some(("demo", _)) => demo::run(),
        Some(("docs", given)) => docs::run(given.get_flag("check")),
        Some(("dist", given)) => dist::run(path(given, "from"), path(given, "out")),
        Some(("install", given)) => {
            prefix(given).and_then(|prefix| install::install(&prefix, path(given, "from")))
        }
        Some(("uninstall", given)) => prefix(given).and_then(|prefix| install::uninstall(&prefix)),
        Some(("instructions", given)) => instructions::run(given.get_flag("update")),
        Some(("sizes", _)) => sizes::run(),
        Some(("soak", given)) => soak(given),
        _ => Ok(()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Command {
    let prefix = path_argument("prefix", "Where bin/ and share/ are; ~/.local unless given");
    let from = path_argument("from", "Built executables to take, instead of a release build");
    Command::new("cargo xtask")
        .about("What a contributor or packager would otherwise script")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            Command::new("demo").about("Build the executables and show the main job in a scratch repository"),
            Command::new("bench")
                .about("Measure the release executables against floors of the same run")
                .arg(Arg::new("words").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true)),
            Command::new("docs").about("Write the pages that are rendered from the contract").arg(
                Arg::new("check").long("check").action(ArgAction::SetTrue).help("Only say which differ"),
            ),
            Command::new("install")
                .about("Build for release and install executables, completions, man page and skill")
                .arg(prefix.clone())
                .arg(from.clone()),
            Command::new("dist")
                .about("Build for release and pack everything that a release has for this platform")
                .arg(path_argument("out", "The folder to fill; target/dist unless given"))
                .arg(from),
            Command::new("uninstall").about("Remove what install put there").arg(prefix),
            Command::new("soak")
                .about("Run clients of all kinds under kills, checkouts and foreign writers, and check the books")
                .arg(
                    Arg::new("minutes")
                        .long("minutes")
                        .value_name("N")
                        .default_value("5")
                        .value_parser(value_parser!(f64)),
                )
                .arg(
                    Arg::new("seed")
                        .long("seed")
                        .value_name("N")
                        .value_parser(value_parser!(u64))
                        .help("Decides all chances; the clock unless given"),
                ),
            Command::new("sizes")
                .about("Build for release, hold the executables to their size limits, count dependencies"),
            Command::new("instructions").about("Count the core's instructions and compare").arg(
                Arg::new("update").long("update").action(ArgAction::SetTrue).help("Write the counts down"),
            ),
        ])
}

fn path_argument(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("DIR").value_parser(value_parser!(PathBuf)).help(help)
}

fn path<'a>(given: &'a ArgMatches, name: &str) -> Option<&'a Path> {
    given.get_one::<PathBuf>(name).map(PathBuf::as_path)
}

fn prefix(given: &ArgMatches) -> anyhow::Result<PathBuf> {
    if let Some(prefix) = given.get_one::<PathBuf>("prefix") {
        return Ok(std::path::absolute(prefix)?);
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| anyhow::anyhow!("HOME is not set: say where with --prefix DIR"))?;
    Ok(PathBuf::from(home).join(".local"))
}

/// What follows the task's name, as it was given.
fn words(given: &ArgMatches) -> Vec<String> {
    given.get_many("words").into_iter().flatten().cloned().collect()
}

fn soak(given: &ArgMatches) -> anyhow::Result<()> {
    let minutes = given.get_one::<f64>("minutes").copied().unwrap_or(5.0);
    anyhow::ensure!(minutes > 0.0 && minutes.is_finite(), "--minutes takes a number above zero");
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed = given.get_one::<u64>("seed").copied().unwrap_or(clock.as_secs());
    soak::run(minutes, seed)
}
