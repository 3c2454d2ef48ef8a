//! What reaches people and the system: the fatal error on standard error, and whether standard output is still read.

use rustix::event::{PollFd, PollFlags, poll};

use crate::wire::outbox::Breaker;

/// Says on standard error why this server does not start.
#[expect(clippy::print_stderr, reason = "this is what the function is for")]
pub fn fatal(message: &str) {
    eprintln!("stepstone-mcp: {message}");
}

/// Notices that the reader of standard output has gone, also while nothing is written.
pub fn watch_standard_output(breaker: Breaker) {
    // Without this thread a closed output is noticed with the next line that is written.
    let _ = std::thread::Builder::new().name("output".to_owned()).stack_size(64 * 1024).spawn(move || {
        let output = std::io::stdout();
        loop {
            // Nothing is asked for: errors and hang-ups are always reported.
            let mut watched = [PollFd::new(&output, PollFlags::empty())];
            match poll(&mut watched, None) {
                Ok(_) if watched.iter().any(|output| output.revents().intersects(PollFlags::NVAL)) => return,
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return breaker.trip(),
                Err(_) => return,
            }
        }
    });
}
