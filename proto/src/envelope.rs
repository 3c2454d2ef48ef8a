//! One answer, the same on every interface.
//!
//! Success: `{"ok": true, "scope", "action", "result", "meta"}`. Failure: `{"ok": false, "scope", "action",
//! "error", "meta"}`. Keys are only ever added; readers ignore unknown ones.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::state;

/// What the answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The repository's roadmap.
    Project,
    /// The engine itself (`daemon`, `doctor`).
    Daemon,
}

/// One answer. Exactly one of `result` and `error` is there, as `ok` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Envelope {
    /// Whether it was done (or was so already).
    pub ok: bool,
    /// What the answer is about.
    pub scope: Scope,
    /// The action that was asked for.
    pub action: String,
    /// The whole result object (`scope` and `action` again, then the action's own fields), as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Why not, and what to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What changed, and where.
    pub meta: Meta,
}

impl Envelope {
    /// A success with nothing said in `meta` yet.
    #[must_use]
    pub fn success(action: &str, result: Box<RawValue>) -> Self {
        Self {
            ok: true,
            scope: Scope::Project,
            action: action.to_owned(),
            result: Some(result),
            error: None,
            meta: Meta::default(),
        }
    }

    /// A failure with nothing said in `meta` yet.
    #[must_use]
    pub fn failure(action: &str, error: Failure) -> Self {
        Self {
            ok: false,
            scope: Scope::Project,
            action: action.to_owned(),
            result: None,
            error: Some(error),
            meta: Meta::default(),
        }
    }

    /// The envelope that `text` is. A large result is not copied out of the text: it becomes the result, and nothing is
    /// left of it.
    ///
    /// # Errors
    ///
    /// When the text is no envelope; then it stays as it is.
    pub fn take_from(text: &mut Vec<u8>) -> serde_json::Result<Self> {
        if text.len() < LARGE {
            return serde_json::from_slice(text);
        }
        let Beside { ok, scope, action, result, error, meta } = serde_json::from_slice(text)?;
        let place = result.map(|result| {
            let begin = result.get().as_ptr().addr() - text.as_ptr().addr();
            begin..begin + result.get().len()
        });
        let result = match place {
            Some(place) => {
                text.truncate(place.end);
                text.drain(..place.start);
                let result = String::from_utf8(std::mem::take(text)).map_err(serde::de::Error::custom)?;
                Some(RawValue::from_string(result)?)
            }
            None => None,
        };
        Ok(Self { ok, scope, action, result, error, meta })
    }

    /// The envelope as JSON text, in pieces that follow each other. A large result is a piece of its own, as it was made.
    ///
    /// # Errors
    ///
    /// When something in it cannot be written as JSON.
    pub fn into_pieces(mut self) -> serde_json::Result<Vec<String>> {
        let Some(result) = self.result.take_if(|result| result.get().len() >= LARGE) else {
            return Ok(vec![serde_json::to_string(&self)?]);
        };
        // It stands for the result, and nobody has said it before.
        let mark = format!("\"{}\"", state::fresh_id());
        self.result = Some(RawValue::from_string(mark.clone())?);
        let text = serde_json::to_string(&self)?;
        let Some((before, after)) = text.split_once(&mark) else {
            self.result = Some(result);
            return Ok(vec![serde_json::to_string(&self)?]);
        };
        Ok(vec![before.to_owned(), String::from(Box::<str>::from(result)), after.to_owned()])
    }

    /// The envelope as JSON text. A large result is not copied.
    ///
    /// # Errors
    ///
    /// As [`Self::into_pieces`].
    pub fn into_text(self) -> serde_json::Result<String> {
        let mut pieces = self.into_pieces()?.into_iter();
        let first = pieces.next().unwrap_or_default();
        let Some(mut text) = pieces.next() else { return Ok(first) };
        text.insert_str(0, &first);
        text.extend(pieces);
        Ok(text)
    }
}

/// A shorter text is copied: that costs less than anything else.
const LARGE: usize = 64 << 10;

/// An envelope in the text that it stands in.
#[derive(Deserialize)]
struct Beside<'a> {
    ok: bool,
    scope: Scope,
    action: String,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Failure>,
    meta: Meta,
}

/// The facts beside an answer. Reads, refusals and dry runs leave `changed` and `semanticNoOp` false.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// The file was written.
    pub changed: bool,
    /// It already was what was asked for; nothing was written.
    pub semantic_no_op: bool,
    /// Sorted JSON Pointers: `/goals`, or `/worklistPath` for a path migration.
    pub changed_fields: Vec<String>,
    /// Every goal that changed; there when something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_entities: Option<ChangedEntities>,
    /// The file's revision whenever it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisions: Option<Revisions>,
    /// The legacy file that is passed over because the canonical one exists too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_worklist_path: Option<String>,
    /// The file in use, when it is not the canonical one of the caller's own work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worklist_path: Option<String>,
    /// This answer was given before, for the same idempotency key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// `unsynced`: written and visible, but the system could not confirm that it reached the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<String>,
}

/// Ids of the goals that changed, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedEntities {
    /// Sorted, each once.
    pub project_goal_ids: Vec<String>,
}

/// Revisions of the files that were read, as decimal text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revisions {
    /// The goal file's.
    pub project: String,
}

/// Why something was not done. Every failure says what to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The stable kind.
    pub code: ErrorCode,
    /// What did not happen, why, and the right next step, for people and models.
    pub message: String,
    /// The same call may succeed later, unchanged or on refreshed state.
    pub retryable: bool,
    /// The two states that differ, or the claim that is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Conflict>,
    /// Machine-readable facts: `fields`, `resolution`, `path` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
}

impl Failure {
    /// A failure that the same call would meet again, with no details yet.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: false, conflict: None, details: None }
    }

    /// The same, saying that a later try may succeed.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The same, with one more fact in `details`.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.get_or_insert_default().insert(key.to_owned(), value.into());
        self
    }

    /// The same, with `details.resolution`.
    #[must_use]
    pub fn resolution(self, resolution: &str) -> Self {
        self.with("resolution", resolution)
    }

    /// The same, with `details.fields`, sorted.
    #[must_use]
    pub fn fields<S: Into<String>>(self, fields: impl IntoIterator<Item = S>) -> Self {
        let mut fields: Vec<String> = fields.into_iter().map(Into::into).collect();
        fields.sort_unstable();
        fields.dedup();
        self.with("fields", fields)
    }
}

/// The stable kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// No repository, no Git, no engine.
    Unavailable,
    /// An action nobody knows, or a usage error on the command line.
    InvalidRequest,
    /// A bad, missing, unknown or contradictory input.
    ValidationFailed,
    /// A selector that names nothing.
    NotFound,
    /// The edges asked for would wait for themselves.
    DependencyCycle,
    /// A confirmation is missing.
    ApprovalRequired,
    /// The state is not the one that the caller read, or somebody else holds the goal.
    Conflict,
    /// The file is malformed, or the disk refused.
    PersistenceFailed,
}

impl ErrorCode {
    /// The exit code of the command line for this kind (a usage error ends with 2 instead).
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::ApprovalRequired => 3,
            Self::Conflict => 4,
            Self::Unavailable
            | Self::InvalidRequest
            | Self::ValidationFailed
            | Self::NotFound
            | Self::DependencyCycle
            | Self::PersistenceFailed => 1,
        }
    }
}

/// What stood against the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Conflict {
    /// The goal was changed since the caller read it.
    GoalUpdatedAt {
        /// The goal.
        id: String,
        /// As the caller gave it.
        expected_updated_at: String,
        /// As it is stored.
        actual_updated_at: String,
        /// `refresh-and-retry`.
        resolution: String,
    },
    /// The file was changed since the caller read it.
    Revision {
        /// As the caller gave it.
        expected_revision: String,
        /// The file's.
        actual_revision: String,
        /// `refresh-and-retry`.
        resolution: String,
    },
    /// Another branch holds the goal.
    GoalClaimed {
        /// The goal.
        id: String,
        /// The branch that holds it.
        branch: String,
        /// Since when, if that is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed_at: Option<String>,
        /// By whom, if that is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed_by: Option<String>,
        /// `choose-another-goal`.
        resolution: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(size: usize) -> Envelope {
        let result = RawValue::from_string(format!("\"{}\"", "x".repeat(size))).unwrap();
        let mut envelope = Envelope::success("list", result);
        envelope.meta.worklist_path = Some("/else\"where".to_owned());
        envelope
    }

    fn place(envelope: &Envelope) -> *const u8 {
        envelope.result.as_ref().unwrap().get().as_ptr()
    }

    const SIZES: [usize; 6] = [0, 1, LARGE - 3, LARGE - 2, LARGE, 3 * LARGE];

    #[test]
    fn the_pieces_are_the_envelope_and_a_large_result_is_not_copied() {
        for size in SIZES {
            let envelope = envelope(size);
            let (place, is_large) = (place(&envelope), size + 2 >= LARGE);
            let whole = serde_json::to_string(&envelope).unwrap();
            let pieces = envelope.clone().into_pieces().unwrap();
            assert_eq!(pieces.concat(), whole);
            assert_eq!(envelope.clone().into_text().unwrap(), whole);
            let pieces = envelope.into_pieces().unwrap();
            assert_eq!(pieces.len(), if is_large { 3 } else { 1 });
            assert_eq!(pieces.get(1).is_some_and(|piece| piece.as_ptr() == place), is_large);
        }
        let refused = Envelope::failure("list", Failure::new(ErrorCode::NotFound, "x".repeat(2 * LARGE)));
        assert_eq!(refused.clone().into_text().unwrap(), serde_json::to_string(&refused).unwrap());
    }

    #[test]
    fn an_envelope_is_the_same_whatever_its_size_when_it_is_read_back() {
        let failure = Failure::new(ErrorCode::NotFound, "x".repeat(2 * LARGE)).retryable();
        let refused = Envelope::failure("list", failure);
        for envelope in SIZES.map(envelope).into_iter().chain([refused]) {
            let text = serde_json::to_string(&envelope).unwrap();
            for written in [text.clone(), text.replace("\":", "\" :\n ") + "\n"] {
                let read = Envelope::take_from(&mut written.into_bytes()).unwrap();
                assert_eq!(serde_json::to_string(&read).unwrap(), text);
            }
        }
    }

    #[test]
    fn what_is_no_envelope_is_refused_and_stays_whatever_its_size() {
        for size in SIZES {
            let text = serde_json::to_vec(&envelope(size)).unwrap();
            let mut not_text = text.clone();
            not_text[text.len() / 2] = 0xff;
            let elsewhere = format!("{{\"callerMust\": \"{}\"}}", "x".repeat(size)).into_bytes();
            let broken =
                [text[1..].to_vec(), text[..text.len() - 1].to_vec(), vec![b' '; size], not_text, elsewhere];
            for mut text in broken {
                let before = text.clone();
                assert!(Envelope::take_from(&mut text).is_err());
                assert_eq!(text, before);
            }
        }
    }
}
