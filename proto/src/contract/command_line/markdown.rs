//! `docs/cli.md`, rendered.

/// The command reference as Markdown: the whole of `docs/cli.md`.
#[must_use]
pub fn cli_reference() -> String {
    String::new()
}
