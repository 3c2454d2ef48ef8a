//! `stepstoned`: the per-user engine that keeps roadmaps open and serializes their changes.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stepstone_daemon::server::{self, Answering, Backend, Changes, Mode, Reply};
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure};
use stepstone_proto::operation::{Context, Request};
use stepstone_proto::protocol::{OpenWorklist, VERSION};

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
        [] => server::serve(Mode::Foreground, |directory| engine(Some(directory), true)),
        ["--serve"] => server::serve(Mode::Spawned, |directory| engine(Some(directory), true)),
        ["--start"] => server::start(),
        ["--pipe"] => server::pipe(|directory| engine(directory, false)),
        ["--pipe", "--watch"] => server::pipe(|directory| engine(directory, true)),
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

fn engine(_: Option<&Path>, _: bool) -> Arc<dyn Backend> {
    Arc::new(NoEngine)
}

struct NoEngine;

impl Backend for NoEngine {
    fn execute(self: Arc<Self>, request: Request, _: Arc<AtomicBool>) -> Answering<Reply> {
        let action = request.operation.get("action").and_then(|action| action.as_str()).unwrap_or_default();
        let failure = Failure::new(ErrorCode::Unavailable, "the engine is not here yet");
        let envelope = Envelope::failure(action, failure);
        Box::pin(async move { Reply::Envelope(Box::new(envelope)) })
    }
    fn subscribe(self: Arc<Self>, _: Context) -> Answering<Result<Changes, Reply>> {
        Box::pin(async move { Ok(tokio::sync::mpsc::channel(1).1) })
    }
    fn overview(&self) -> Vec<OpenWorklist> {
        Vec::new()
    }
    fn watching(&self) -> &'static str {
        "off"
    }
    fn finish(self: Arc<Self>) -> Answering<()> {
        Box::pin(async {})
    }
}
