//! The engine, as this program speaks to it.

use std::sync::Arc;

use serde_json::{Map, Value};
use stepstone_client::{Client, Surroundings, context_here};
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::{ClientInfo, Context};
use stepstone_proto::protocol::VERSION;

use crate::arguments::Everywhere;

/// Somebody who carries operations out.
pub(crate) trait Engine {
    /// Carries one operation out. Never fails: what goes wrong is in the envelope.
    async fn ask(&self, operation: Map<String, Value>) -> Envelope;
}

/// The daemon, or this process's own engine where there is none.
pub(crate) struct Session {
    client: Arc<Client>,
    context: Context,
}

impl Session {
    /// For the repository that the command line means. Contacts nothing yet.
    pub(crate) fn new(surroundings: Surroundings, everywhere: &Everywhere) -> Self {
        let mut context = context_here(everywhere.cwd.as_deref(), everywhere.file.as_deref());
        context.client = ClientInfo { name: "cli".to_owned(), version: VERSION.to_owned(), pid: 0 };
        Self { client: Client::new(surroundings), context }
    }

    /// Why it was not the daemon that answered, if it was not.
    pub(crate) fn note(&self) -> Option<String> {
        self.client.engine_note()
    }

    /// The same, where the user has to do something about it.
    pub(crate) fn warning(&self) -> Option<String> {
        self.client.engine_warning()
    }
}

impl Engine for Session {
    async fn ask(&self, operation: Map<String, Value>) -> Envelope {
        self.client.perform(self.context.clone(), operation).await
    }
}
