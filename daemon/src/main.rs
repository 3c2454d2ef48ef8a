//! `stepstoned`: the per-user engine that keeps roadmaps open and serializes their changes.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use stepstone_daemon::server::{self, Backend, Mode};
use stepstone_daemon::service::{Engine, EngineSettings, Role};
use stepstone_proto::protocol::VERSION;

const HELP: &str = "\
stepstoned: Stepstone's engine. stepstone and stepstone-mcp start it when they need it.

usage:
  stepstoned             be the daemon of this user, in the foreground
  stepstoned --start     start the daemon in the background, print one line about it, end
  stepstoned --pipe      be the private engine of one client, over standard input and output
  stepstoned --version
  stepstoned --help

STEPSTONE_STATE_DIR moves the state directory, STEPSTONE_IDLE_SECS is how long an unused daemon stays (0: for ever),
STEPSTONE_LOG is the log's level (error, warn, info, debug, trace).
";

fn main() -> ExitCode {
    server::close_foreign();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_str().unwrap_or("?")).collect();
    match arguments.as_slice() {
        [] => server::serve(Mode::Foreground, |directory| engine(Some(directory), Role::Shared)),
        ["--serve"] => server::serve(Mode::Spawned, |directory| engine(Some(directory), Role::Shared)),
        ["--start"] => server::start(),
        ["--pipe"] => server::pipe(|directory| engine(directory, Role::Private)),
        ["--version"] => say(std::io::stdout(), &format!("stepstoned {VERSION}\n"), ExitCode::SUCCESS),
        ["--help" | "-h"] => say(std::io::stdout(), HELP, ExitCode::SUCCESS),
        _ => say(std::io::stderr(), HELP, ExitCode::from(2)),
    }
}

/// A closed stream is nobody's loss.
fn say(mut stream: impl std::io::Write, text: &str, code: ExitCode) -> ExitCode {
    let _ = stream.write_all(text.as_bytes());
    code
}

/// The engine that the server's routes ask.
fn engine(state_directory: Option<&Path>, role: Role) -> Arc<dyn Backend> {
    Engine::new(EngineSettings { state_dir: state_directory.map(Path::to_owned), role, watch: true })
}
