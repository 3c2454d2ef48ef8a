//! The place that an operation is about: which repository, which goal file.

use std::path::{Path, PathBuf};

use stepstone_proto::envelope::{Envelope, Failure, Meta};
use stepstone_proto::operation::Context;

use super::{Engine, Reply, Role, Stop, answers};
use crate::repository::{self, Choice, Located};
use crate::store::{Found, StoreError};

/// The place that an operation is about.
pub(super) struct Place {
    pub(super) located: Located,
    pub(super) choice: Choice,
    /// Where the chosen file is. An error matters only to who needs the file.
    pub(super) found: Result<Found, StoreError>,
}

impl Place {
    /// Looks for the goal file: `explicit`, from `base` when relative, or the one that the root has.
    fn look(located: Located, explicit: Option<&str>, base: &Path) -> Self {
        let choice = repository::choose(&located, explicit, base);
        let found = Found::chosen(&choice);
        Self { located, choice, found }
    }

    /// What every envelope says about the place.
    pub(super) fn meta(&self) -> Meta {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        Meta {
            shadowed_worklist_path: self.choice.shadowed.as_ref().map(text),
            worklist_path: self.choice.report.then(|| text(&self.choice.path)),
            ..Meta::default()
        }
    }
}

impl Engine {
    /// The root and the explicit file that a context names: what an event stream is about.
    ///
    /// # Errors
    ///
    /// The refusals of [`crate::repository::Repositories::locate`].
    pub async fn place_of(&self, context: &Context) -> Result<(Located, Choice), Reply> {
        let place = self.place(context).await;
        match place.and_then(|place| self.mine(&place).map(|()| place)) {
            Ok(Place { located, choice, .. }) => Ok((located, choice)),
            Err(Stop::CallerMust(reason)) => Err(Reply::CallerMust { reason }),
            Err(Stop::Failure(failure)) => {
                Err(Reply::Envelope(Box::new(Envelope::failure("events", *failure))))
            }
        }
    }

    /// Where a context is. A handful of looks at a file system that answers at once is done right here; everything
    /// else may take long, is done beside the event loop, and does not hold up anybody else.
    pub(super) async fn place(&self, context: &Context) -> Result<Place, Stop> {
        let cwd = Path::new(&context.cwd);
        let explicit = context.worklist.clone().filter(|given| !given.trim().is_empty());
        if explicit.is_none()
            && let Some(located) = self.repositories.at_hand(cwd, &context.git_env)
        {
            return Ok(Place::look(located, None, cwd));
        }
        let located = self
            .repositories
            .locate(cwd, &context.git_env)
            .await
            .map_err(|error| self.stop(error.caller_must(), error.failure()))?;
        let base = context.worklist_base.as_deref().map_or(cwd, Path::new).to_owned();
        let looked = tokio::task::spawn_blocking(move || Place::look(located, explicit.as_deref(), &base));
        looked.await.map_err(|_| Stop::Failure(Box::new(answers::broke_off())))
    }

    /// The shared engine neither reads nor writes outside the work tree that it was asked about; whoever asks may
    /// lack the right to.
    pub(super) fn mine(&self, place: &Place) -> Result<(), Stop> {
        if self.role == Role::Shared && place.choice.outside_root {
            return Err(Stop::CallerMust("the goal file lies outside the work tree".to_owned()));
        }
        Ok(())
    }

    /// What the shared engine may not do, its caller may.
    pub(super) fn stop(&self, caller_must: Option<String>, failure: Failure) -> Stop {
        match (self.role, caller_must) {
            (Role::Shared, Some(reason)) => Stop::CallerMust(reason),
            _ => Stop::Failure(Box::new(failure)),
        }
    }

    pub(super) fn store_stop(&self, error: &StoreError) -> Stop {
        self.stop(error.caller_must(), error.failure())
    }
}
