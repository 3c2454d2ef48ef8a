//! `add`: one goal at the end.

use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::NewGoal;

use super::{Decision, Draft, Moment, about, edges_named, goal_at, push_texts};
use crate::roadmap::document::Roadmap;
use crate::roadmap::goal::{Goal, Key};
use crate::roadmap::{ids, instant, text};

/// What a new goal is made of, in the order in which its fields stand.
pub(super) struct Parts<'a, S> {
    pub(super) title: &'a str,
    pub(super) description: Option<&'a str>,
    pub(super) group: Option<&'a str>,
    pub(super) links: &'a [String],
    /// Live ids, each once.
    pub(super) depends_on: &'a [S],
}

impl<S: AsRef<str>> Parts<'_, S> {
    pub(super) fn goal(&self, id: &str, now_ms: i64) -> Result<Goal, Failure> {
        let now = text::quoted(&instant::written(now_ms));
        let mut fields = vec![(Key::Id, text::quoted(id)), (Key::Title, text::quoted(self.title))];
        for (key, value) in [(Key::Description, self.description), (Key::Group, self.group)] {
            fields.extend(value.map(|value| (key, text::quoted(value))));
        }
        push_texts(&mut fields, Key::Links, self.links);
        push_texts(&mut fields, Key::DependsOn, self.depends_on);
        fields.push((Key::Status, text::quoted("open")));
        fields.push((Key::CreatedAt, now.clone()));
        fields.push((Key::UpdatedAt, now));
        Ok(Goal::made_of(&fields)?)
    }
}

pub(super) fn add(roadmap: &Roadmap, new: &NewGoal, moment: &Moment<'_>) -> Result<Decision, Failure> {
    let depends_on = edges_named(roadmap, &new.depends_on)?;
    let parts = Parts {
        title: &new.title,
        description: new.description.as_deref(),
        group: new.group.as_deref(),
        links: &new.links,
        depends_on: &depends_on,
    };
    let id = ids::mint(&new.title, |id| roadmap.names().is_taken(id));
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let place = draft.goals.len();
    draft.push(parts.goal(&id, moment.now_ms)?);
    let goal = goal_at(&draft.goals, place)?.clone();
    // An edge to nothing that stands in the file may become an edge to the new goal.
    draft.finish()?.without_new_loops(place)?.write(about("add", &goal))
}
