//! `daemon status|start|stop|restart|logs`.

use serde::Deserialize;
use stepstone_proto::envelope::Envelope;
use stepstone_proto::protocol::{ConnectedClient, OpenWorklist};

use super::style::Tone;
use super::text::{line, pad};
use super::{Page, View, model, time};

/// Everything that an answer about the daemon may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Daemon {
    running: bool,
    already_running: bool,
    was_running: bool,
    previous_pid: Option<u32>,
    private_engine: Option<String>,
    pid: Option<u32>,
    version: String,
    protocol: String,
    uptime_ms: u64,
    state_directory: Option<String>,
    socket: Option<String>,
    watching: String,
    worklists: Vec<OpenWorklist>,
    clients: Vec<ConnectedClient>,
    path: Option<String>,
    lines: Vec<String>,
}

/// A success of the scope `daemon`.
pub(super) fn page(view: &View<'_>, envelope: &Envelope) -> Page {
    let daemon: Daemon = model::read(envelope.result.as_deref());
    let process = |pid: Option<u32>| pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    let mut err = String::new();
    let out = match envelope.action.as_str() {
        "start" if daemon.already_running => format!("The daemon runs already{}.\n", process(daemon.pid)),
        "start" => format!("The daemon runs{}.\n", process(daemon.pid)),
        "stop" if daemon.was_running => format!("The daemon has stopped{}.\n", process(daemon.pid)),
        "stop" => "The daemon did not run.\n".to_owned(),
        "restart" if daemon.previous_pid.is_some() => {
            format!(
                "The daemon runs anew{}, instead of{}.\n",
                process(daemon.pid),
                process(daemon.previous_pid)
            )
        }
        "restart" => format!("The daemon did not run; now it does{}.\n", process(daemon.pid)),
        "logs" => {
            if daemon.lines.is_empty() {
                err = format!(
                    "stepstone: there is no log yet at {}.\n",
                    line(&daemon.path.unwrap_or_default())
                );
            }
            daemon.lines.iter().map(|text| format!("{}\n", line(text))).collect()
        }
        _ => status(view, &daemon),
    };
    Page { out, err }
}

fn status(view: &View<'_>, daemon: &Daemon) -> String {
    let mut out = if daemon.running {
        let since = time::span(daemon.uptime_ms);
        format!(
            "The daemon runs{}: version {}, protocol {}, {since}.\n",
            daemon.pid.map(|pid| format!(" as process {pid}")).unwrap_or_default(),
            line(&daemon.version),
            line(&daemon.protocol),
        )
    } else {
        "The daemon does not run. It is started when it is needed.\n".to_owned()
    };
    let mut field = |label: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("  {} {}\n", view.brush.paint(Tone::Faint, &pad(label, 10)), line(text)));
        }
    };
    field("state", daemon.state_directory.as_deref().unwrap_or_default());
    field("socket", daemon.socket.as_deref().unwrap_or_default());
    field("watching", &daemon.watching);
    field("own engine", daemon.private_engine.as_deref().unwrap_or_default());
    if !daemon.worklists.is_empty() {
        out.push_str(&format!("\n{}\n", view.brush.paint(Tone::Strong, "Goal files")));
    }
    for worklist in &daemon.worklists {
        let goals =
            if worklist.goals == 1 { "1 goal".to_owned() } else { format!("{} goals", worklist.goals) };
        let queued =
            if worklist.queued > 0 { format!(", {} waiting", worklist.queued) } else { String::new() };
        out.push_str(&format!(
            "  {}  {}\n",
            line(&worklist.path),
            view.brush.paint(Tone::Faint, &format!("revision {}, {goals}{queued}", line(&worklist.revision)))
        ));
    }
    if !daemon.clients.is_empty() {
        out.push_str(&format!("\n{}\n", view.brush.paint(Tone::Strong, "Clients")));
    }
    for client in &daemon.clients {
        out.push_str(&format!(
            "  {} {}  {}\n",
            line(&client.name),
            line(&client.version),
            view.brush.paint(
                Tone::Faint,
                &format!(
                    "process {}, {}, asked {} ago",
                    client.pid,
                    line(&client.root),
                    time::span(client.last_request_ms)
                )
            )
        ));
    }
    out
}
