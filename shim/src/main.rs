//! `stepstone-mcp`: the stdio MCP server, a client of the daemon.

use std::process::ExitCode;
use std::sync::Arc;

use stepstone_client::{Client, Launcher, Surroundings, follow_launcher};
use stepstone_mcp::daemon::Daemon;
use stepstone_mcp::place::Place;
use stepstone_mcp::{mcp, output};

fn main() -> ExitCode {
    if follow_launcher() == Launcher::Gone {
        return ExitCode::FAILURE;
    }
    if std::env::args_os().nth(1).is_some() {
        output::fatal(
            "it takes no arguments and no subcommands: it speaks MCP on standard input and output. \
             For the command line use stepstone.",
        );
        return ExitCode::from(2);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::fatal(&format!("the event loop cannot be made: {error}"));
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(async {
        let client = Client::new(Surroundings::from_env());
        let (input, output) = mcp::standard_streams();
        let engine = Arc::new(Daemon::new(client));
        mcp::serve(input, output, engine, Place::from_env(), output::watch_standard_output).await;
    });
    // A read of standard input that never ends must not hold the process.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}
