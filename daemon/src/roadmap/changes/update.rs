//! `update`: a goal's own texts, edges and links.

use std::sync::Arc;

use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::{DescriptionEdit, Edit, Target};

use super::{Decision, Draft, Edits, Moment, about, edges_named, no_op, targeted};
use crate::roadmap::document::Roadmap;
use crate::roadmap::goal::{Goal, Key};
use crate::roadmap::text;

pub(super) fn update(
    roadmap: &Roadmap,
    target: &Target,
    edit: &Edit,
    moment: &Moment<'_>,
) -> Result<Decision, Failure> {
    let (place, goal) = targeted(roadmap, target)?;
    let mut edits = Edits::new();
    edits.extend(title(goal, edit));
    edits.extend(description(goal, edit));
    edits.extend(group(goal, edit));
    edits.extend(links(goal, edit));
    let new_edges = edges(roadmap, goal, edit)?;
    let changes_edges = new_edges.is_some();
    edits.extend(new_edges);
    if edits.is_empty() {
        return no_op(about("update", goal));
    }
    let mut draft = Draft::of(roadmap, moment.now_ms);
    let edited = draft.edit(place, edits)?;
    let mut next = draft.finish()?;
    if changes_edges {
        next = next.without_loop_through(place)?;
    }
    next.write(about("update", &edited))
}

type Change = (Key, Option<String>);

fn title(goal: &Goal, edit: &Edit) -> Option<Change> {
    let title = edit.title.as_deref().filter(|title| *title != &*goal.title)?;
    Some((Key::Title, Some(text::quoted(title))))
}

fn description(goal: &Goal, edit: &Edit) -> Option<Change> {
    let stored = goal.decoded(Key::Description);
    let new = match edit.description.as_ref()? {
        DescriptionEdit::Replace(new) => new.clone(),
        DescriptionEdit::Append(more) => {
            let before = stored.as_deref().unwrap_or_default().trim_end();
            let gap = if before.is_empty() { "" } else { "\n\n" };
            format!("{before}{gap}{}", more.trim())
        }
    };
    (stored.as_deref() != Some(&*new)).then(|| (Key::Description, Some(text::quoted(&new))))
}

fn group(goal: &Goal, edit: &Edit) -> Option<Change> {
    let new = edit.group.as_ref()?.as_deref();
    (goal.group.as_deref() != new).then(|| (Key::Group, new.map(text::quoted)))
}

/// A whole new list; an empty one takes the field out.
fn list<S: AsRef<str>>(key: Key, new: &[S]) -> Change {
    (key, (!new.is_empty()).then(|| text::quoted_all(new)))
}

fn links(goal: &Goal, edit: &Edit) -> Option<Change> {
    let new = edit.links.as_ref()?;
    let is_same = goal.list(Key::Links).iter().eq(new.iter());
    // An empty list in the file is as good as none.
    (!is_same).then(|| list(Key::Links, new))
}

fn edges(roadmap: &Roadmap, goal: &Goal, edit: &Edit) -> Result<Option<Change>, Failure> {
    let Some(selectors) = &edit.depends_on else { return Ok(None) };
    let new: Vec<Arc<str>> = edges_named(roadmap, selectors)?;
    // Stored edges may use former ids; what counts is which goals they mean.
    let meant = |edge: &str| roadmap.names().resolved(edge).and_then(|place| roadmap.goals().get(place));
    let stored = goal.depends_on.iter().map(|edge| meant(edge).map(|goal| &goal.id));
    let is_same = stored.eq(new.iter().map(Some));
    Ok((!is_same).then(|| list(Key::DependsOn, &new)))
}
