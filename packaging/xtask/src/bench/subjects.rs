//! What is measured of an implementation, through its commands alone.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::placement::OneProcessor;
use super::samples::Samples;
use super::table::Table;
use super::{Effort, LARGE, SMALL, floors};
use crate::memory;

/// The parts of the suite, in their order.
const PARTS: [&str; 7] = ["processes", "handshakes", "reads", "one-processor", "adds", "writers", "memory"];

/// The commands of one implementation.
#[derive(Debug)]
pub(super) struct Implementation {
    pub(super) name: String,
    cli: Vec<String>,
    mcp: Vec<String>,
}

impl Implementation {
    /// The executables in `target`.
    pub(super) fn ours(target: &Path) -> Self {
        let word = |name: &str| vec![target.join(name).to_string_lossy().into_owned()];
        Self { name: "stepstone".to_owned(), cli: word("stepstone"), mcp: word("stepstone-mcp") }
    }

    /// Two command lines, split at blanks.
    pub(super) fn other(cli: Option<String>, mcp: Option<String>) -> Self {
        let words = |line: Option<String>| {
            line.unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        Self { name: "other".to_owned(), cli: words(cli), mcp: words(mcp) }
    }
}

/// One implementation in a home and a repository of its own.
pub(super) struct Subject {
    commands: Implementation,
    home: PathBuf,
    effort: Effort,
}

impl Subject {
    pub(super) fn new(commands: Implementation, home: &Path, effort: Effort) -> Result<Self> {
        std::fs::create_dir_all(home)?;
        Ok(Self { commands, home: home.to_owned(), effort })
    }

    /// Takes every measurement that this implementation has a command for, or those of one part.
    pub(super) fn measure(&self, table: &mut Table, only: Option<&str>) -> Result<()> {
        if let Some(part) = only.filter(|part| !PARTS.contains(part)) {
            bail!("unknown part {part}; known: {}", PARTS.join(", "));
        }
        let wanted = |part: &str| only.is_none_or(|only| only == part);
        let small = self.repository("small", SMALL)?;
        let large = self.repository("large", LARGE)?;
        if !self.commands.cli.is_empty() && wanted("processes") {
            self.whole_processes(table, &small)?;
        }
        if !self.commands.mcp.is_empty() {
            if wanted("handshakes") {
                self.handshakes(table, &small)?;
            }
            if wanted("reads") {
                self.reads(table, &small, &large)?;
            }
            if wanted("one-processor") {
                self.reads_on_one_processor(table, &small)?;
            }
            if wanted("adds") {
                self.adds(table, &small, SMALL, 1.6)?;
                self.adds(table, &large, LARGE, 2.5)?;
            }
            if wanted("writers") {
                self.writers(table)?;
            }
            if wanted("memory") {
                self.memory(table, &small, &large)?;
            }
        }
        self.stop();
        Ok(())
    }

    fn who(&self) -> &str {
        &self.commands.name
    }

    fn whole_processes(&self, table: &mut Table, repository: &Path) -> Result<()> {
        let (mut floor, mut list) = (Samples::default(), Samples::default());
        self.cli(repository, &["project", "list"])?;
        for _ in 0..self.effort.processes {
            floor.time(floors::process)?;
            list.time(|| self.cli(repository, &["project", "list"]))?;
        }
        table.floor("a trivial process", &floor);
        table.row(self.who(), "project list, warm, whole process", &list, &floor, 2.5);
        Ok(())
    }

    fn handshakes(&self, table: &mut Table, repository: &Path) -> Result<()> {
        for (label, variable) in
            [("with a daemon", None), ("without one", Some(("STEPSTONE_NO_DAEMON", "1")))]
        {
            let (mut floor, mut answered) = (Samples::default(), Samples::default());
            for _ in 0..self.effort.processes / 2 {
                floor.time(floors::process)?;
                let begin = Instant::now();
                let session = self.session(repository, variable)?;
                answered.push(begin.elapsed());
                session.close()?;
            }
            let what = format!("spawn to initialize answered, {label}");
            table.row(self.who(), &what, &answered, &floor, 4.0);
        }
        Ok(())
    }

    fn reads(&self, table: &mut Table, small: &Path, large: &Path) -> Result<()> {
        let sockets = floors::socket(&self.home, self.effort.round_trips)?;
        table.floor("a local socket round trip", &sockets);
        let mut medians = Vec::new();
        for (repository, goals, bound) in [(small, SMALL, 16.0), (large, LARGE, 32.0)] {
            let Reads { floor, chain, read } = self.reads_beside_floors(repository)?;
            if goals == SMALL {
                table.floor("a pipe round trip", &floor);
                table.floor("the same through a relay and a local socket", &chain);
            }
            let what = format!("next through a warm session, {goals} goals");
            table.row(self.who(), &what, &read, &floor, bound);
            medians.push(read.median().as_secs_f64());
        }
        if let [small, large] = medians[..] {
            table.figure(self.who(), "the same, large to small", String::new(), large / small, 2.0);
        }
        Ok(())
    }

    /// The same with everything on one processor: without the time that it takes to wake another one.
    fn reads_on_one_processor(&self, table: &mut Table, small: &Path) -> Result<()> {
        let Some(placed) = OneProcessor::begin()? else { return Ok(()) };
        // The daemon has to be there too.
        self.stop();
        let reads = self.reads_beside_floors(small);
        self.stop();
        drop(placed);
        let Reads { floor, chain, read } = reads?;
        table.floor("a pipe round trip, on one processor", &floor);
        table.floor("the same through a relay and a local socket", &chain);
        let what = format!("next through a warm session, {SMALL} goals, on one processor");
        table.row(self.who(), &what, &read, &floor, 16.0);
        Ok(())
    }

    fn reads_beside_floors(&self, repository: &Path) -> Result<Reads> {
        let mut reads = Reads::default();
        let (mut pipe, mut relayed) = (floors::Pipe::new()?, floors::Pipe::relayed()?);
        let mut session = self.session(repository, None)?;
        session.read("next")?;
        for _ in 0..self.effort.round_trips {
            reads.floor.time(|| pipe.round_trip())?;
            reads.chain.time(|| relayed.round_trip())?;
            reads.read.push(session.read("next")?);
        }
        session.close()?;
        Ok(reads)
    }

    fn adds(&self, table: &mut Table, repository: &Path, goals: usize, bound: f64) -> Result<()> {
        let path = repository.join(".worklist/worklist.json");
        let (mut floor, mut add) = (Samples::default(), Samples::default());
        let mut session = self.session(repository, None)?;
        for round in 0..self.effort.writes {
            let bytes = std::fs::read(&path)?;
            floor.time(|| floors::durable_write(&self.home, &bytes))?;
            add.push(session.add(&format!("Measured {goals} {round}"))?);
        }
        session.close()?;
        table.floor(&format!("a durable write of the file, {goals} goals"), &floor);
        table.row(self.who(), &format!("add, {goals} goals"), &add, &floor, bound);
        Ok(())
    }

    /// Changes per second of eight writers on one file, beside one writer's.
    fn writers(&self, table: &mut Table) -> Result<()> {
        let one = self.rate(1)?;
        let eight = self.rate(8)?;
        let figure = format!("{eight:.0}/s against {one:.0}/s");
        table.figure(self.who(), "changes of 8 writers to those of 1 (at least)", figure, eight / one, 3.0);
        Ok(())
    }

    fn rate(&self, writers: usize) -> Result<f64> {
        let repository = self.repository(&format!("writers-{writers}"), SMALL)?;
        let mut sessions =
            (0..writers).map(|_| self.session(&repository, None)).collect::<Result<Vec<_>>>()?;
        let each = self.effort.writes;
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let threads: Vec<_> = sessions
                .iter_mut()
                .enumerate()
                .map(|(writer, session)| {
                    scope.spawn(move || {
                        (0..each)
                            .try_for_each(|round| session.add(&format!("By {writer} in {round}")).map(drop))
                    })
                })
                .collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(_) => bail!("a writer's thread panicked"),
            })
        })?;
        let seconds = begin.elapsed().as_secs_f64();
        sessions.into_iter().try_for_each(Session::close)?;
        Ok((writers * each) as f64 / seconds)
    }

    fn memory(&self, table: &mut Table, small: &Path, large: &Path) -> Result<()> {
        self.stop();
        let mut session = self.session(small, None)?;
        session.read("next")?;
        let mib = |bytes: u64| bytes as f64 / (1024.0 * 1024.0);
        let shim = mib(memory::resident(session.child.id())?);
        table.figure(self.who(), "resident, session (MiB)", format!("{shim:.1} MiB"), shim, 6.0);
        let Some(pid) = self.daemon_pid()? else { return session.close() };
        let idle = memory::resident(pid)?;
        table.figure(
            self.who(),
            "resident, daemon idle (MiB)",
            format!("{:.1} MiB", mib(idle)),
            mib(idle),
            6.0,
        );
        let mut other = self.session(large, None)?;
        other.read("next")?;
        let file = std::fs::metadata(large.join(".worklist/worklist.json"))?.len();
        let grown = memory::resident(pid)?.saturating_sub(idle);
        let ratio = grown as f64 / file as f64;
        let figure = format!("{:.1} MiB", mib(grown));
        table.figure(self.who(), "growth for an open worklist, to its file", figure, ratio, 4.0);
        other.read("list")?;
        let after = mib(memory::resident(other.child.id())?);
        let what = format!("resident, session that listed {LARGE} goals (MiB)");
        table.figure(self.who(), &what, format!("{after:.1} MiB"), after, 6.0);
        other.close()?;
        session.close()
    }

    fn daemon_pid(&self) -> Result<Option<u32>> {
        if self.commands.cli.is_empty() {
            return Ok(None);
        }
        let output =
            self.command(&self.commands.cli, &self.home)?.args(["daemon", "status", "--json"]).output()?;
        let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        Ok(status["result"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()))
    }

    fn stop(&self) {
        if let Ok(mut command) = self.command(&self.commands.cli, &self.home) {
            let _stopped =
                command.args(["daemon", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }

    fn command(&self, words: &[String], cwd: &Path) -> Result<Command> {
        let Some((program, arguments)) = words.split_first() else { bail!("no command") };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(cwd).env("HOME", &self.home).stdin(Stdio::null());
        Ok(command)
    }

    fn cli(&self, repository: &Path, arguments: &[&str]) -> Result<()> {
        let output = self.command(&self.commands.cli, repository)?.args(arguments).output()?;
        if !output.status.success() {
            bail!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    fn session(&self, repository: &Path, variable: Option<(&str, &str)>) -> Result<Session> {
        let mut command = self.command(&self.commands.mcp, repository)?;
        command.envs(variable).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Session::open(command)
    }

    /// A repository with that many goals, each with a description and edges to a few before it.
    fn repository(&self, name: &str, goals: usize) -> Result<PathBuf> {
        let root = self.home.join(name);
        std::fs::create_dir_all(root.join(".worklist"))?;
        let status =
            Command::new("git").args(["init", "-q"]).current_dir(&root).status().context("git init")?;
        if !status.success() {
            bail!("git init failed in {}", root.display());
        }
        std::fs::write(root.join(".worklist/worklist.json"), worklist(goals)?)?;
        Ok(root)
    }
}

/// Reads, and two floors that were taken in between.
#[derive(Default)]
struct Reads {
    floor: Samples,
    chain: Samples,
    read: Samples,
}

fn worklist(goals: usize) -> Result<String> {
    let mut text = String::from("{\n  \"version\": 1,\n  \"revision\": 1,\n  \"goals\": [");
    let description = "What has to be true, and how to see that it is. ".repeat(4);
    for index in 0..goals {
        let separator = if index == 0 { "" } else { "," };
        write!(
            text,
            "{separator}\n    {{\n      \"id\": \"goal-{index}\",\n      \"title\": \"Goal {index}\",\n      \
             \"description\": \"{description}\","
        )?;
        let edges: Vec<String> = [1, 7, 50]
            .iter()
            .filter(|step| index % 3 == 0 && index >= **step)
            .map(|step| format!("        \"goal-{}\"", index - step))
            .collect();
        if !edges.is_empty() {
            write!(text, "\n      \"dependsOn\": [\n{}\n      ],", edges.join(",\n"))?;
        }
        write!(
            text,
            "\n      \"status\": \"open\",\n      \"createdAt\": \"2026-01-01T00:00:00.000Z\",\n      \
             \"updatedAt\": \"2026-01-01T00:00:00.000Z\"\n    }}"
        )?;
    }
    text.push_str("\n  ]\n}\n");
    Ok(text)
}

/// One MCP session, as small as the protocol allows.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Session {
    /// Starts the server and returns when `initialize` is answered.
    fn open(mut command: Command) -> Result<Self> {
        let mut child = command.spawn().context("the MCP server")?;
        let input = child.stdin.take().context("standard input")?;
        let output = BufReader::new(child.stdout.take().context("standard output")?);
        let mut session = Self { child, input, output, next_id: 0 };
        session.request(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "bench", "version": "1"}}),
        )?;
        let initialized = line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session.input.write_all(initialized.as_bytes())?;
        Ok(session)
    }

    /// Asks once. Gives what was answered and how long that took.
    ///
    /// The request is put together before the clock starts, and the answer is taken apart after it stops: neither is
    /// the server's doing.
    fn request(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        self.next_id += 1;
        let id = self.next_id;
        let asked = line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut answered = String::new();
        let begin = Instant::now();
        self.input.write_all(asked.as_bytes())?;
        loop {
            answered.clear();
            if self.output.read_line(&mut answered)? == 0 {
                bail!("the server closed its output during {method}");
            }
            let took = begin.elapsed();
            let reply: Value = serde_json::from_str(&answered)?;
            if reply["id"] == id && reply.get("method").is_none() {
                return match reply.get("error") {
                    Some(error) => bail!("{method}: {error}"),
                    None => Ok((reply["result"].clone(), took)),
                };
            }
        }
    }

    fn read(&mut self, view: &str) -> Result<Duration> {
        let uri = format!("stepstone://worklist/{view}");
        Ok(self.request("resources/read", &json!({"uri": uri}))?.1)
    }

    fn add(&mut self, title: &str) -> Result<Duration> {
        let (result, took) =
            self.request("tools/call", &json!({"name": "add", "arguments": {"title": title}}))?;
        match result["isError"].as_bool() {
            Some(true) => bail!("add was refused: {result}"),
            _ => Ok(took),
        }
    }

    fn close(self) -> Result<()> {
        let Self { mut child, input, output, .. } = self;
        drop(input);
        drop(output);
        child.wait()?;
        Ok(())
    }
}

/// A message as it is sent: in one line, and at once.
fn line(message: &Value) -> String {
    format!("{message}\n")
}
