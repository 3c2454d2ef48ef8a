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
    give_back_large_buffers();
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

/// Has what a large answer took given back to the system as soon as it has been sent. Otherwise the allocator learns
/// from the first one that large buffers come and go, and keeps room for them: more than all else that a session needs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no library has a safe way to the allocator's settings")]
fn give_back_large_buffers() {
    /// In bytes; what it is before the allocator has learned anything.
    const LARGE: libc::c_int = 128 << 10;
    // SAFETY: it sets a number of the allocator's, and there is no other thread yet.
    let _is_set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const fn give_back_large_buffers() {}
