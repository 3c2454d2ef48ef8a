//! An operation in, an envelope out: the only place that knows both an operation and a store.
//!
//! The order of refusals is the same everywhere: the input's shape, the root, the file, the confirmation, the file's
//! content, the goal, the preconditions, the change itself. The file is looked up before the shape is answered for,
//! so that `meta` is complete on every refusal.

mod answers;
pub mod init;
mod migrate;
mod place;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use stepstone_proto::envelope::{Envelope, Failure, Meta};
use stepstone_proto::operation::{Change, Context, Operation, Read, Request, Start};

use crate::decode::{self, Decoded};
use crate::repository::Repositories;
use crate::roadmap::{self, Moment};
use crate::store::{IdempotencyKey, Job, Settings, Snapshot, Store, StoreOverview, Stores, Verdict};
use place::Place;

/// Whether the engine serves everyone, or one client as its child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The daemon. It leaves to the caller's own engine what only the caller may do.
    Shared,
    /// A client's own child, with that client's rights.
    Private,
}

/// How an engine is set up.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// The verified state directory. `None`: no kernel locks and no journal.
    pub state_dir: Option<PathBuf>,
    /// Shared or private.
    pub role: Role,
    /// Whether to watch open worklists.
    pub watch: bool,
}

/// What the server sends back.
#[derive(Debug)]
pub enum Reply {
    /// The answer.
    Envelope(Box<Envelope>),
    /// The caller's own engine must do this; nothing was written. HTTP status 421.
    CallerMust {
        /// Why, in a few words.
        reason: String,
    },
}

/// Why an operation has no answer from this engine.
#[derive(Debug)]
enum Stop {
    Failure(Box<Failure>),
    CallerMust(String),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

/// The engine: repositories and stores, and the rules of each operation between them.
#[derive(Debug)]
pub struct Engine {
    role: Role,
    repositories: Repositories,
    stores: Arc<Stores>,
}

/// One operation on its way to an answer.
struct Call<'a> {
    context: &'a Context,
    given: &'a Map<String, Value>,
    decoded: Decoded,
    wanted: Arc<AtomicBool>,
}

impl Engine {
    /// An engine with nothing open.
    #[must_use]
    pub fn new(settings: EngineSettings) -> Arc<Self> {
        let EngineSettings { state_dir, role, watch } = settings;
        Arc::new(Self {
            role,
            repositories: match role {
                Role::Shared => Repositories::shared(),
                Role::Private => Repositories::new(),
            },
            stores: Stores::new(Settings { state_dir, watch }),
        })
    }

    /// Carries out one request. `wanted` turns false when the asker is gone: a change whose turn has not come by
    /// then is not carried out.
    pub async fn execute(&self, request: Request, wanted: Arc<AtomicBool>) -> Reply {
        let Request { context, operation } = request;
        let place = self.place(&context).await;
        let mut meta = place.as_ref().map_or_else(|_| Meta::default(), Place::meta);
        let decoded = match decode::decode(&operation) {
            Ok(decoded) => decoded,
            Err(failure) => {
                let action = operation.get("action").and_then(Value::as_str).unwrap_or_default();
                return reply(Envelope::failure(action, failure), meta);
            }
        };
        let action = decoded.view_action;
        let call = Call { context: &context, given: &operation, decoded, wanted };
        let outcome = match call.shape() {
            Err(failure) => Err(failure.into()),
            Ok(operation) => match place {
                Err(stop) => Err(stop),
                Ok(place) => self.perform(&call, operation, &place, &mut meta).await,
            },
        };
        match outcome {
            Ok(mut envelope) => {
                envelope.meta.shadowed_worklist_path = meta.shadowed_worklist_path.take();
                envelope.meta.worklist_path = meta.worklist_path.take();
                Reply::Envelope(Box::new(envelope))
            }
            Err(Stop::Failure(failure)) => reply(Envelope::failure(action, *failure), meta),
            Err(Stop::CallerMust(reason)) => Reply::CallerMust { reason },
        }
    }

    /// The worklists that are open, for `daemon status`.
    #[must_use]
    pub fn overview(&self) -> Vec<StoreOverview> {
        self.stores.overview()
    }

    /// The stores, for event streams.
    #[must_use]
    pub const fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    /// Returns when everything accepted so far has been carried out.
    pub async fn finish(&self) {
        self.stores.finish().await;
    }

    async fn perform(
        &self,
        call: &Call<'_>,
        operation: Operation,
        place: &Place,
        meta: &mut Meta,
    ) -> Result<Envelope, Stop> {
        self.mine(place)?;
        // It is about AGENTS.md, and works whatever the goal file looks like.
        if matches!(operation, Operation::Init) {
            return self.init(place).await;
        }
        let found = place.found.clone().map_err(|error| self.store_stop(&error))?;
        let store = self.stores.open(found, &place.located.root);
        if call.decoded.action.confirm && !call.decoded.confirmed && !is_shown_only(&operation) {
            return Err(approval_required(call, &store, meta).await.into());
        }
        match operation {
            Operation::Read(read) => self.read(call, &read, &store, place, meta).await,
            Operation::Change(change) => self.change(call, change, &store, place).await,
            Operation::MigratePath { dry_run } => self.migrate_path(&store, place, dry_run).await,
            Operation::Init => self.init(place).await,
        }
    }

    async fn init(&self, place: &Place) -> Result<Envelope, Stop> {
        let done = init::init(&place.located.root).await;
        let done = done.map_err(|error| self.stop(error.caller_must(), error.failure()))?;
        let mut envelope = Envelope::success("init", done.result);
        envelope.meta.changed = done.changed;
        envelope.meta.semantic_no_op = !done.changed;
        if done.changed {
            envelope.meta.changed_fields = vec!["/agentsPath".to_owned()];
        }
        Ok(envelope)
    }

    async fn read(
        &self,
        call: &Call<'_>,
        read: &Read,
        store: &Store,
        place: &Place,
        meta: &mut Meta,
    ) -> Result<Envelope, Stop> {
        let Snapshot { roadmap, .. } = store.read().await.map_err(|error| self.store_stop(&error))?;
        meta.revisions = Some(answers::revisions(roadmap.revision()));
        let action = call.decoded.view_action;
        let result = roadmap::read(&roadmap, action, read)
            .map_err(|failure| answers::with_searched_path(failure, &place.choice.path))?;
        let mut envelope = Envelope::success(action, result);
        envelope.meta.revisions.clone_from(&meta.revisions);
        Ok(envelope)
    }

    async fn change(
        &self,
        call: &Call<'_>,
        change: Change,
        store: &Store,
        place: &Place,
    ) -> Result<Envelope, Stop> {
        let branch = self.callers_branch(&change, call.context, place).await?;
        // A dry run changes nothing, so there is nothing to remember of it.
        let key = if is_dry_run(&change) { None } else { call.idempotency_key()? };
        let action = call.decoded.view_action;
        let claimed_by = claimed_by(call.context);
        let path = place.choice.path.clone();
        let decide = move |roadmap: &roadmap::Roadmap, now_ms: i64| {
            let moment = Moment { now_ms, claimed_by: &claimed_by, branch: branch.as_deref() };
            match roadmap::decide(roadmap, &change, &moment) {
                Ok(decision) => answers::verdict(action, roadmap, decision),
                Err(failure) => {
                    let failure = answers::with_searched_path(failure, &path);
                    let mut envelope = Envelope::failure(action, failure);
                    envelope.meta.revisions = Some(answers::revisions(roadmap.revision()));
                    Verdict::Answer(envelope)
                }
            }
        };
        let wanted = Arc::clone(&call.wanted);
        let wanted = move || wanted.load(Ordering::Relaxed);
        let job = Job { key, decide: Box::new(decide), wanted: Box::new(wanted) };
        store.change(job).await.map_err(|error| self.store_stop(&error))
    }

    /// Only `start` asks Git which branch the caller is on: to take a goal for it, and to know a claim as its own.
    async fn callers_branch(
        &self,
        change: &Change,
        context: &Context,
        place: &Place,
    ) -> Result<Option<String>, Stop> {
        match change {
            Change::Start(
                Start::Next { branch: None }
                | Start::Take { branch: None, .. }
                | Start::Clear { take_over: false, .. },
            ) => self
                .repositories
                .branch(&place.located, &context.git_env)
                .await
                .map_err(|error| self.stop(error.caller_must(), error.failure())),
            _ => Ok(None),
        }
    }
}

impl Call<'_> {
    /// The decoded operation, or the refusal of its shape or of the key's.
    fn shape(&self) -> Result<Operation, Failure> {
        let operation = self.decoded.operation.clone()?;
        self.given_key()?;
        Ok(operation)
    }

    fn given_key(&self) -> Result<Option<&str>, Failure> {
        match &self.context.idempotency_key {
            None => Ok(None),
            Some(Value::String(key)) if !key.trim().is_empty() => Ok(Some(key)),
            Some(_) => Err(answers::bad_idempotency_key()),
        }
    }

    /// The caller's key for this change, if it gave one.
    fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, Failure> {
        Ok(self.given_key()?.map(|key| IdempotencyKey {
            key: key.to_owned(),
            digest: digest(self.given),
            derived: self.context.idempotency_key_derived,
        }))
    }
}

fn reply(mut envelope: Envelope, meta: Meta) -> Reply {
    envelope.meta = meta;
    Reply::Envelope(Box::new(envelope))
}

const fn is_shown_only(operation: &Operation) -> bool {
    match operation {
        Operation::MigratePath { dry_run } => *dry_run,
        Operation::Change(change) => is_dry_run(change),
        Operation::Read(_) | Operation::Init => false,
    }
}

const fn is_dry_run(change: &Change) -> bool {
    matches!(change, Change::MigrateIds { dry_run: true } | Change::ApplyPlan { dry_run: true, .. })
}

/// The refusal of an unconfirmed action. It names the goal when the id resolves; a file that cannot be read does not
/// stand in its way.
async fn approval_required(call: &Call<'_>, store: &Store, meta: &mut Meta) -> Failure {
    let snapshot = store.read().await.ok();
    meta.revisions = snapshot.as_ref().map(|snapshot| answers::revisions(snapshot.roadmap.revision()));
    let goal = match (&snapshot, &call.decoded.id) {
        (Some(snapshot), Some(id)) => snapshot.roadmap.brief(id),
        _ => None,
    };
    answers::approval_required(call.decoded.action, goal)
}

/// Who a claim is written down for.
fn claimed_by(context: &Context) -> String {
    let name = context.client.name.trim();
    if name.is_empty() { "cli".to_owned() } else { name.to_owned() }
}

/// Tells two operations apart, whatever order their arguments came in.
fn digest(operation: &Map<String, Value>) -> String {
    let mut sorted = Value::Object(operation.clone());
    sorted.sort_all_objects();
    let hash = Sha256::digest(sorted.to_string().as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
