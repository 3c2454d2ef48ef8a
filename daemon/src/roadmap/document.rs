//! The whole goal file as it is kept in memory.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::goal::Goal;
use super::graph::Graph;
use super::names::{Names, Selected};
use super::text;

/// The largest revision: every reader of JSON holds it exactly.
pub(super) const REVISION_LIMIT: u64 = (1 << 53) - 1;

/// One content of the goal file. Cheap to clone, never changed: a change makes another one.
#[derive(Debug, Clone)]
pub struct Roadmap(Arc<Content>);

#[derive(Debug)]
struct Content {
    /// The file's own fields, in order.
    fields: Vec<Field>,
    revision: u64,
    goals: Vec<Arc<Goal>>,
    retired: Arc<[Box<str>]>,
    names: Names,
    /// Made when it is first asked for.
    graph: OnceLock<Graph>,
}

/// One field of the file itself.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// As it is spelled, with its quotes.
    pub(super) name: Box<str>,
    pub(super) value: FieldValue,
}

/// What a field of the file holds. Texts are in our layout.
#[derive(Debug, Clone)]
pub(super) enum FieldValue {
    Goals,
    Revision(Box<str>),
    Retired(Box<str>),
    /// The version, and anything that means nothing here.
    Kept(Box<str>),
}

/// What a change makes of a content.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) goals: Vec<Arc<Goal>>,
    /// The names of `goals`, when the change knows them already.
    pub(super) names: Option<Names>,
    /// The new retired ids, when they change.
    pub(super) retired: Option<Vec<Box<str>>>,
}

impl Roadmap {
    /// The content that a missing file stands for: revision 0, no goals.
    #[must_use]
    pub fn empty() -> Self {
        let field = |name: &str, value| Field { name: text::quoted(name).into(), value };
        let fields = vec![
            field("version", FieldValue::Kept("1".into())),
            field("revision", FieldValue::Revision("0".into())),
            field("goals", FieldValue::Goals),
        ];
        Self::made_of(fields, 0, Vec::new(), Arc::from([]), Names::default())
    }

    pub(super) fn made_of(
        fields: Vec<Field>,
        revision: u64,
        goals: Vec<Arc<Goal>>,
        retired: Arc<[Box<str>]>,
        names: Names,
    ) -> Self {
        Self(Arc::new(Content { fields, revision, goals, retired, names, graph: OnceLock::new() }))
    }

    /// Whether this is the very same content, and not only an equal one.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The file's revision; 0 when it has none.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.0.revision
    }

    /// How many goals there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.goals.len()
    }

    /// Whether there is no goal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.goals.is_empty()
    }

    /// The file's bytes in our layout. Goals that were in this layout when they were read keep every byte.
    #[must_use]
    pub fn print(&self) -> Vec<u8> {
        let goals: usize = self.0.goals.iter().map(|goal| goal.text().len() + 8).sum();
        let mut out = String::with_capacity(goals + 1024);
        out.push('{');
        for (index, field) in self.0.fields.iter().enumerate() {
            out.push_str(if index == 0 { "\n  " } else { ",\n  " });
            out.push_str(&field.name);
            out.push_str(": ");
            match &field.value {
                FieldValue::Goals => self.print_goals(&mut out),
                FieldValue::Revision(value) | FieldValue::Retired(value) | FieldValue::Kept(value) => {
                    out.push_str(value);
                }
            }
        }
        out.push_str(if self.0.fields.is_empty() { "}\n" } else { "\n}\n" });
        out.into_bytes()
    }

    fn print_goals(&self, out: &mut String) {
        out.push('[');
        for (index, goal) in self.0.goals.iter().enumerate() {
            out.push_str(if index == 0 { "\n    " } else { ",\n    " });
            out.push_str(goal.text());
        }
        out.push_str(if self.0.goals.is_empty() { "]" } else { "\n  ]" });
    }

    /// `id`, `title`, `status` and `updatedAt` of the goal that a selector means, if it means exactly one.
    #[must_use]
    pub fn brief(&self, selector: &str) -> Option<Map<String, Value>> {
        let Selected::One(place) = self.selected(selector) else { return None };
        let goal = self.goals().get(place)?;
        let entries = [
            ("id", &*goal.id),
            ("title", &goal.title),
            ("status", goal.status.name()),
            ("updatedAt", &goal.updated_at),
        ];
        Some(entries.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))).collect())
    }

    /// All goals in file order.
    pub(super) fn goals(&self) -> &[Arc<Goal>] {
        &self.0.goals
    }

    pub(super) fn names(&self) -> &Names {
        &self.0.names
    }

    pub(super) fn retired(&self) -> &[Box<str>] {
        &self.0.retired
    }

    pub(super) fn selected(&self, selector: &str) -> Selected {
        self.0.names.selected(&self.0.goals, selector)
    }

    /// The edges and what follows from them.
    pub(super) fn graph(&self) -> &Graph {
        self.0.graph.get_or_init(|| Graph::of(self))
    }

    /// The content after a change, with the next revision. `None` at the last revision there is.
    pub(super) fn followed_by(&self, changed: Changed) -> Option<Self> {
        let revision = self.0.revision.checked_add(1).filter(|revision| *revision <= REVISION_LIMIT)?;
        let mut fields = self.0.fields.clone();
        set(&mut fields, "revision", FieldValue::Revision(revision.to_string().into()));
        let retired = match changed.retired {
            None => Arc::clone(&self.0.retired),
            Some(retired) => {
                let mut value = String::new();
                text::lay_out(&text::quoted_all(&retired), 1, &mut value);
                set(&mut fields, "retiredIds", FieldValue::Retired(value.into()));
                retired.into()
            }
        };
        let names = match changed.names {
            Some(names) => names,
            // Changes mint ids that are not taken, so two goals never share one.
            None => Names::of(&changed.goals, &retired).ok()?,
        };
        Some(Self::made_of(fields, revision, changed.goals, retired, names))
    }
}

impl Default for Roadmap {
    fn default() -> Self {
        Self::empty()
    }
}

/// Puts a value in the place of the one of its kind, or at the end.
fn set(fields: &mut Vec<Field>, name: &str, value: FieldValue) {
    let kind = std::mem::discriminant(&value);
    match fields.iter_mut().find(|field| std::mem::discriminant(&field.value) == kind) {
        Some(field) => field.value = value,
        None => fields.push(Field { name: text::quoted(name).into(), value }),
    }
}
