//! The one table: every action with its names, texts, arguments, confirmation and surfaces.
//!
//! Help, man pages, completions, `docs/cli.md`, tool schemas, the agent skill, the AGENTS.md block and the engine's
//! argument decoder are all made from it, so that they cannot disagree. Longer texts are files beside it.

pub mod command_line;
pub mod guidance;
pub mod integrations;
pub mod resolutions;
mod table;
pub mod tools;

pub use table::ACTIONS;

/// One thing that can be asked of a roadmap.
#[derive(Debug)]
pub struct Action {
    /// As it crosses the socket and stands in envelopes.
    pub name: &'static str,
    /// A few words, for hosts that show tools to people.
    pub title: &'static str,
    /// One sentence, for help and lists.
    pub summary: &'static str,
    /// What it does to the file.
    pub kind: Kind,
    /// Needs `confirm: true` from the user for exactly this goal (or file).
    pub confirm: bool,
    /// Where it is offered.
    pub surfaces: Surfaces,
    /// In the order in which they are shown.
    pub arguments: &'static [Argument],
}

/// What an action does to the goal file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads only.
    Read,
    /// Changes goals.
    Change,
    /// Moves the file, or writes beside it; asked for by people only.
    Upkeep,
}

/// Where an action is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surfaces {
    /// `stepstone project <action>`.
    pub cli: bool,
    /// An MCP tool of the same name.
    pub tool: bool,
    /// An MCP resource (or template): what follows `stepstone://worklist/`.
    pub resource: Option<&'static str>,
    /// A `view` of `read_goals`.
    pub view: bool,
}

/// One argument, by the camel-case name that it has in operations and tool schemas.
#[derive(Debug)]
pub struct Argument {
    /// Camel case.
    pub name: &'static str,
    /// What values it takes.
    pub shape: Shape,
    /// Refused when absent. `confirm` never is: its absence is answered by the confirmation's own refusal.
    pub required: bool,
    /// What a blank text means.
    pub blank: Blank,
    /// For readers of schemas and help; says every constraint, since some hosts strip the rest.
    pub description: &'static str,
    /// How it is given on the command line.
    pub cli: Cli,
}

/// The values that an argument takes. `null` means absent for all but [`Shape::Confirmation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A string.
    Text,
    /// An array of strings.
    Texts,
    /// A boolean; `false` means absent.
    Flag,
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// A string out of these.
    Choice(&'static [&'static str]),
    /// An array of strings out of these.
    Choices(&'static [&'static str]),
    /// An array of plan entries.
    Plan,
    /// Only literal `true` confirms; nothing else is a shape error.
    Confirmation,
}

/// What a blank text (empty after trimming) means for an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// The same as leaving it out.
    Absent,
    /// Refused, with this resolution.
    Refused(&'static str),
    /// A value like any other (descriptions).
    Value,
    /// Clears what is stored.
    Clears,
}

/// How an argument is given on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cli {
    /// Not at all.
    No,
    /// A word at its place, shown as this.
    Word(&'static str),
    /// All free words, joined by blanks.
    Words(&'static str),
    /// `--name VALUE` (the second part is the value's name in help), or `--name` when the second part is empty.
    Flag(&'static str, &'static str),
    /// `--name VALUE`, again for each further value.
    Repeated(&'static str, &'static str),
    /// By a syntax of the command's own (`move <id> before <id>`, plan files).
    Own,
}

/// The action with this name; hyphen spellings are the command line's own matter.
#[must_use]
pub fn action(name: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.name == name)
}

impl Action {
    /// The argument with this name.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&'static Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}
