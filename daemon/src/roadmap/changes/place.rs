//! `move`: a goal's place in file order. No goal is stamped: none of them says anything else than before.

use stepstone_proto::envelope::Failure;
use stepstone_proto::operation::Placement;

use super::{Decision, Draft, about, no_op};
use crate::roadmap::document::Roadmap;
use crate::roadmap::refusal::Entity;

pub(super) fn place(roadmap: &Roadmap, id: &str, placement: &Placement) -> Result<Decision, Failure> {
    let from = roadmap.goal_named("id", id)?;
    let anchor = |field, selector: &str| roadmap.entity_named(Entity::Anchor, field, selector);
    let to = match placement {
        Placement::Up => from.saturating_sub(1),
        Placement::Down => (from + 1).min(roadmap.len().saturating_sub(1)),
        Placement::Before(selector) => {
            let anchor = anchor("beforeId", selector)?;
            if anchor > from { anchor - 1 } else { anchor }
        }
        Placement::After(selector) => {
            let anchor = anchor("afterId", selector)?;
            if anchor < from { anchor + 1 } else { anchor }
        }
    };
    let answer = about("move", roadmap.goal_at(from)?);
    if to == from {
        return no_op(answer);
    }
    let mut draft = Draft::of(roadmap, 0);
    draft.reorder(from, to);
    draft.finish()?.write(answer)
}
