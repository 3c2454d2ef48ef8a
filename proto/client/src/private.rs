//! The private engine: `stepstoned --pipe`, a child of this process.

use std::process::Stdio;

use tokio::process::Command;

use crate::surroundings::Surroundings;
use crate::wire::{Connection, Engine};

/// Starts a private engine. It ends by itself when the connection is dropped.
///
/// # Errors
///
/// Why there is none, for people.
pub(crate) async fn start(surroundings: &Surroundings) -> Result<Connection, String> {
    let mut child = crate::executable::spawn_first(surroundings.path.as_deref(), |program| {
        Command::new(program)
            .arg("--pipe")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    })?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the private engine has no pipes".to_owned());
    };
    let pid = child.id();
    let mut connection = Connection::over(tokio::io::join(output, input), Engine::Private)
        .await
        .map_err(|error| format!("the private engine does not speak ({error})"))?;
    connection.pid = pid;
    Ok(connection)
}
