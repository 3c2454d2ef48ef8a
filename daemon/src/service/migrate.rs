//! `migrate_path`: the legacy file goes to the canonical path, its bytes untouched.

use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;
use stepstone_proto::envelope::{ChangedEntities, Envelope, ErrorCode, Failure, Meta};

use super::place::Place;
use super::{Engine, Stop, answers};
use crate::repository::{self, ChoiceKind};
use crate::store::Store;

const ACTION: &str = "migrate_path";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Migrated<'a> {
    scope: &'static str,
    action: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    worklist_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_worklist_path: Option<&'a str>,
}

impl Engine {
    /// Moves the legacy file, says what would move, or finds nothing to move. `store` is the file in use.
    pub(super) async fn migrate_path(
        &self,
        store: &Store,
        place: &Place,
        dry_run: bool,
    ) -> Result<Envelope, Stop> {
        if place.choice.kind == ChoiceKind::Override {
            return Err(override_refused(&place.choice.path).into());
        }
        if let Some(legacy) = &place.choice.shadowed {
            return Err(two_files(&place.choice.path, legacy).into());
        }
        let snapshot = store.read().await.map_err(|error| self.store_stop(&error))?;
        let revision = Some(answers::revisions(snapshot.roadmap.revision()));
        let canonical = repository::canonical_path(&place.located);
        let target = canonical.to_string_lossy();
        let legacy = (place.choice.kind == ChoiceKind::Legacy).then_some(&place.choice.path);
        let source = legacy.map(|path| path.to_string_lossy());
        let result = result(dry_run, &target, source.as_deref())?;
        let mut envelope = Envelope::success(ACTION, result);
        envelope.meta.revisions = revision;
        match legacy {
            None => envelope.meta.semantic_no_op = !dry_run,
            Some(_) if dry_run => {}
            Some(legacy) => {
                let moved = self.stores.migrate(legacy, &canonical).await;
                moved.map_err(|error| self.store_stop(&error))?;
                envelope.meta = Meta {
                    changed: true,
                    changed_fields: vec!["/worklistPath".to_owned()],
                    changed_entities: Some(ChangedEntities::default()),
                    ..envelope.meta
                };
            }
        }
        Ok(envelope)
    }
}

fn result(dry_run: bool, target: &str, source: Option<&str>) -> Result<Box<RawValue>, Failure> {
    let result = Migrated {
        scope: "project",
        action: ACTION,
        dry_run,
        worklist_path: target,
        previous_worklist_path: source,
    };
    serde_json::value::to_raw_value(&result).map_err(|error| {
        Failure::new(ErrorCode::Unavailable, format!("The answer could not be written: {error}."))
    })
}

fn two_files(canonical: &Path, legacy: &Path) -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "Nothing was moved: both {} and {} exist, and only a person can say which goals belong together. Merge \
             the goals you want to keep into the first, remove the second, and ask again.",
            canonical.display(),
            legacy.display()
        ),
    )
    .with("path", canonical.to_string_lossy().into_owned())
    .with("conflictingPath", legacy.to_string_lossy().into_owned())
    .resolution("merge-worklists-by-hand")
}

fn override_refused(path: &Path) -> Failure {
    Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "Nothing was moved: an explicit goal file is in use ({}), and only the repository's own legacy file is \
             migrated. Ask again without --file and without STEPSTONE_WORKLIST.",
            path.display()
        ),
    )
    .with("path", path.to_string_lossy().into_owned())
    .resolution("remove-the-worklist-override")
}
