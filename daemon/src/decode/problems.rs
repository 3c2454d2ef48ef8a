//! Everything that is wrong with one input, gathered into one refusal.

use stepstone_proto::contract::{Action, Kind};
use stepstone_proto::envelope::{ErrorCode, Failure};

/// So many things are told in the message. The fields are always named in full.
const TOLD: usize = 8;

/// What is wrong with an input so far.
#[derive(Debug)]
pub(super) struct Problems {
    changes: bool,
    found: Vec<Problem>,
}

#[derive(Debug)]
struct Problem {
    fields: Vec<String>,
    resolution: &'static str,
    sentence: String,
}

impl Problems {
    /// Nothing wrong yet with an input of this action.
    pub(super) fn of(action: &Action) -> Self {
        Self { changes: action.kind != Kind::Read, found: Vec::new() }
    }

    /// One field is wrong.
    pub(super) fn add(
        &mut self,
        field: impl Into<String>,
        resolution: &'static str,
        sentence: impl Into<String>,
    ) {
        self.add_all([field], resolution, sentence);
    }

    /// Several fields are wrong together.
    pub(super) fn add_all<S: Into<String>>(
        &mut self,
        fields: impl IntoIterator<Item = S>,
        resolution: &'static str,
        sentence: impl Into<String>,
    ) {
        let fields = fields.into_iter().map(Into::into).collect();
        self.found.push(Problem { fields, resolution, sentence: sentence.into() });
    }

    /// Whether this field is among what is wrong.
    pub(super) fn names(&self, field: &str) -> bool {
        self.found.iter().any(|problem| problem.fields.iter().any(|named| named == field))
    }

    /// The refusal of one field of a read.
    pub(super) fn refusal(sentence: &str, field: &str, resolution: &'static str) -> Failure {
        Failure::new(ErrorCode::ValidationFailed, format!("Nothing was read. {sentence}"))
            .fields([field])
            .resolution(resolution)
    }

    /// The refusal of all that was found: every field is named; the resolution is the first problem's.
    ///
    /// # Errors
    ///
    /// `VALIDATION_FAILED` when anything was found.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Some(first) = self.found.first() else { return Ok(()) };
        let told = self.found.iter().take(TOLD).map(|problem| problem.sentence.as_str());
        let more = (self.found.len() > TOLD)
            .then_some("There is more of this kind; details.fields names all of it.");
        let sentences: Vec<&str> = told.chain(more).collect();
        let opening = if self.changes { "Nothing was changed" } else { "Nothing was read" };
        let message = format!("{opening}. {}", sentences.join(" "));
        let fields = self.found.iter().flat_map(|problem| problem.fields.iter().cloned());
        Err(Failure::new(ErrorCode::ValidationFailed, message).fields(fields).resolution(first.resolution))
    }
}
