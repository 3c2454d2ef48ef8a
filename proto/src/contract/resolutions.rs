//! Every `resolution` word, and what it asks the caller to do.

/// A word that stands in `details.resolution` or `conflict.resolution`, and the next step that it names.
#[derive(Debug)]
pub struct Resolution {
    /// Stable, for programs.
    pub word: &'static str,
    /// For readers.
    pub meaning: &'static str,
}

const fn word(word: &'static str, meaning: &'static str) -> Resolution {
    Resolution { word, meaning }
}

/// All of them, sorted.
pub const RESOLUTIONS: &[Resolution] = &[
    word(
        "add-batch-goal-or-use-existing-goal-id",
        "Refer to an entry of the same plan by its slug, or to a goal by its exact id.",
    ),
    word(
        "check-outcome-before-retrying",
        "Read the roadmap first: the change may have been carried out although its answer was lost.",
    ),
    word(
        "check-repository-and-retry",
        "See what the system says about the path (space, permission, read-only), mend it, and ask again.",
    ),
    word("choose-another-goal", "Another branch holds this goal: take a different one."),
    word("choose-branch-or-clear", "Give a branch to take the goal for, or clear to give it back; not both."),
    word("choose-confirm-or-dry-run", "Ask for a dry run, or confirm; not both."),
    word("correct-the-command-line", "Write the command line as the message and `details.usage` say."),
    word("fix-agents-markers", "Leave one pair of marker lines in AGENTS.md, or none, and run init again."),
    word("fix-json-plan", "Mend the plan file's JSON."),
    word("follow-the-findings", "Do what each finding that is a problem says."),
    word(
        "merge-worklists-by-hand",
        "Both goal files exist: keep the goals you want in the canonical one and remove the legacy one.",
    ),
    word("provide-a-change", "Name at least one thing to change."),
    word("provide-a-goal-id", "Name the goal."),
    word("provide-a-view", "Name one of the views."),
    word(
        "provide-absolute-http-or-https-urls",
        "Give whole web addresses, beginning with http:// or https://.",
    ),
    word("provide-an-argument-object", "Give the tool's arguments as one JSON object."),
    word("provide-existing-directory", "Run in a directory that exists."),
    word("provide-instant-as-expected-updated-at", "Pass the goal's updatedAt exactly as it was read."),
    word("provide-json-goal-array", "Give the plan as a JSON array of entries."),
    word("provide-non-blank-append-text", "Give the text to append."),
    word(
        "provide-non-blank-expected-updated-at",
        "Give the goal's updatedAt as it was read, or leave the field out.",
    ),
    word("provide-non-blank-goal-ids", "Give ids or unique prefixes, none of them blank."),
    word("provide-non-blank-idempotency-key", "Give a key that is a text and not blank, or none."),
    word("provide-non-blank-search-text", "Give a text to look for."),
    word("provide-non-blank-title", "Give the goal a title."),
    word("provide-one-description-change", "Replace the description or append to it; not both."),
    word("provide-one-line-branch", "Give the branch's name in one line."),
    word("provide-one-placement", "Give exactly one of direction, beforeId and afterId."),
    word("provide-one-placement-anchor", "Give beforeId or afterId; not both."),
    word("provide-project-start-branch", "No branch is checked out here: name one."),
    word(
        "provide-readable-description-file",
        "Give the path of a description file that exists and can be read.",
    ),
    word("provide-readable-json-plan", "Give the path of a plan file that exists and can be read."),
    word("provide-unambiguous-goal-id", "More than one goal begins so: give more of the id."),
    word("provide-utf-8-description-file", "Save the description file as UTF-8."),
    word("provide-valid-values", "Give the named fields values of their own type and range."),
    word("provide-writable-agents-file", "Make AGENTS.md a regular UTF-8 file, and run init again."),
    word(
        "refresh-and-retry",
        "Read the goal (or the file) again, redo the change on what it says now, and pass its new baseline.",
    ),
    word("refresh-and-select-existing", "Read the roadmap again and name a goal that is there."),
    word("remove-an-edge-from-the-cycle", "Leave out one of the edges of the loop."),
    word("remove-surrounding-reference-whitespace", "Write plan references without blanks around them."),
    word("remove-the-worklist-override", "Ask again without an explicit goal file."),
    word(
        "remove-title-or-replace-description",
        "An append stands alone: leave the title out, or replace the description instead.",
    ),
    word("remove-unknown-fields", "Leave the named fields out; nothing knows them here."),
    word("remove-unused-fields", "Leave the named fields out; this view does not use them."),
    word("rename-one-batch-goal", "Two entries of the plan would get one id: change one of the titles."),
    word("reopen-project-goal", "The goal is settled. Reopening it needs the user's own confirmation."),
    word("repair-git-availability", "Make git runnable: install it, or put it on PATH."),
    word("repair-git-repository", "Mend what Git says is wrong with the repository."),
    word("repair-project-file", "Mend the goal file by hand, or take back a good version of it with Git."),
    word(
        "report-this-failure",
        "Stepstone met a state that it should never be in: report it with its message.",
    ),
    word(
        "request-explicit-user-confirmation",
        "Ask the user; only a yes to exactly this allows the same call with the confirmation.",
    ),
    word(
        "reset-project-revision",
        "The file cannot count any further: set its revision to a lower number by hand.",
    ),
    word(
        "restart-from-the-first-page",
        "The goal to go on behind has left this view: read again without `after`.",
    ),
    word("retry-git-command", "Git did not answer in time: ask again."),
    word("run-inside-git-repository", "Run inside a Git work tree, or point the server at one."),
    word("run-stepstone-doctor", "Run `stepstone doctor`: it looks at the daemon and what it needs."),
    word("upgrade-stepstone", "A newer Stepstone wrote this file: upgrade this one."),
    word("use-a-new-idempotency-key", "The key was used for another operation: make a new one."),
    word("use-a-supported-action", "Ask for one of the actions that are listed."),
];

#[cfg(test)]
mod tests {
    use super::RESOLUTIONS;

    #[test]
    fn words_are_sorted_and_stand_once() {
        assert!(RESOLUTIONS.is_sorted_by(|one, other| one.word < other.word));
    }
}
