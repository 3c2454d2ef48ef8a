//! The agent skill and the block in AGENTS.md, rendered.

/// The line that opens Stepstone's block in AGENTS.md. The npm package of the same name uses the same two lines, so
/// that either refreshes the other's block instead of adding a second one.
pub const AGENTS_START: &str = "<!-- stepstone:project-goals:start -->";
/// The line that closes it.
pub const AGENTS_END: &str = "<!-- stepstone:project-goals:end -->";

/// The agent skill: the whole of `SKILL.md`.
#[must_use]
pub fn skill() -> String {
    String::new()
}

/// The block for AGENTS.md, from the first marker line to the last, without a line end behind it.
#[must_use]
pub fn agents_block() -> String {
    format!("{AGENTS_START}\n{AGENTS_END}")
}
