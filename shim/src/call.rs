//! Tool calls, resource reads and completions as operations.

use std::sync::Arc;

use serde_json::{Map, Value};
use stepstone_proto::contract::{Action, tools};
use stepstone_proto::envelope::{Envelope, ErrorCode, Failure};
use stepstone_proto::operation::ClientInfo;

use crate::engine::Engine;
use crate::key;
use crate::place::Place;

/// An argument that Gemini CLI adds to every call, about its own scheduling. Dropped before anything else looks.
const HOSTS_OWN_ARGUMENT: &str = "wait_for_previous";
/// What an operation says beside its arguments. An argument of that name would speak in its place.
const ACTION: &str = "action";

/// A tool call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// An object, or nothing.
    Named(Map<String, Value>),
    /// Some other JSON value.
    NotAnObject,
}

/// Turns what hosts ask for into operations, and has them carried out.
pub struct Caller {
    engine: Arc<dyn Engine>,
    place: Place,
    process: String,
}

impl Caller {
    /// Has operations carried out by `engine`, for the repository at `place`.
    #[must_use]
    pub fn new(engine: Arc<dyn Engine>, place: Place) -> Self {
        Self { engine, place, process: key::process_name() }
    }

    /// The tool with this name.
    #[must_use]
    pub fn tool(name: &str) -> Option<&'static Action> {
        tools::all().find(|action| action.name == name)
    }

    /// Calls a tool. `meta` is the call's `_meta`.
    pub async fn call(
        &self,
        tool: &'static Action,
        arguments: Arguments,
        meta: &Map<String, Value>,
        client: ClientInfo,
    ) -> Envelope {
        let Arguments::Named(mut arguments) = arguments else {
            let failure = Failure::new(
                ErrorCode::ValidationFailed,
                "Nothing was done: the arguments of a tool call must be one JSON object. Send the call again with an object.",
            );
            return self
                .refuse(tool, failure.fields(["arguments"]).resolution("provide-an-argument-object"), client)
                .await;
        };
        arguments.shift_remove(HOSTS_OWN_ARGUMENT);
        if arguments.contains_key(ACTION) {
            let failure = Failure::new(
                ErrorCode::ValidationFailed,
                format!(
                    "Nothing was done: {} has no argument named action. Leave it out; the tool's name says what is done.",
                    tool.name
                ),
            );
            return self
                .refuse(tool, failure.fields([ACTION]).resolution("remove-unknown-fields"), client)
                .await;
        }
        let mut operation = Map::with_capacity(arguments.len() + 1);
        operation.insert(ACTION.to_owned(), tool.name.into());
        operation.extend(arguments);
        let mut context = self.place.context(client);
        key::put(&mut context, meta, &self.process);
        advised(self.engine.perform(context, operation).await)
    }

    /// Carries a read out.
    pub async fn read(&self, operation: Map<String, Value>, client: ClientInfo) -> Envelope {
        advised(self.engine.perform(self.place.context(client), operation).await)
    }

    /// The engine, and the context in which it is asked.
    #[must_use]
    pub fn engine(&self) -> (&Arc<dyn Engine>, &Place) {
        (&self.engine, &self.place)
    }

    /// Refuses what cannot be passed on as an operation. The facts beside the refusal are those of a read, so that
    /// this envelope is like every other one.
    async fn refuse(&self, tool: &Action, failure: Failure, client: ClientInfo) -> Envelope {
        let beside = self.read(operation("next"), client).await;
        Envelope { meta: beside.meta, ..Envelope::failure(tool.name, failure) }
    }
}

/// An operation without arguments.
#[must_use]
pub fn operation(action: &str) -> Map<String, Value> {
    Map::from_iter([(ACTION.to_owned(), action.into())])
}

/// The same answer; where the directory is gone, with what to do about it in this kind of server.
fn advised(mut envelope: Envelope) -> Envelope {
    if let Some(failure) = &mut envelope.error
        && let Some(details) = &failure.details
        && details.get("resolution").and_then(Value::as_str) == Some("provide-existing-directory")
    {
        failure.message.push_str(
            " To point this MCP server at a repository, set cwd in the host's configuration of it to a directory \
             inside that repository, or start the host there.",
        );
    }
    envelope
}
