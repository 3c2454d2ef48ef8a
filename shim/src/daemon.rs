//! The engine of this server: the daemon, or whatever the client finds in its place.

use std::sync::Arc;

use serde_json::{Map, Value};
use stepstone_client::{Client, Event as Told, EventStream};
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::Context;

use crate::engine::{Boxed, Engine, Event, Watch};

/// Asks the daemon.
#[derive(Debug)]
pub struct Daemon {
    client: Arc<Client>,
}

impl Daemon {
    /// Asks by this client.
    #[must_use]
    pub fn new(client: Arc<Client>) -> Self {
        Self { client }
    }
}

impl Engine for Daemon {
    fn warm(&self) -> Boxed<'_, ()> {
        Box::pin(self.client.warm())
    }

    fn perform(&self, context: Context, operation: Map<String, Value>) -> Boxed<'_, Envelope> {
        Box::pin(self.client.perform(context, operation))
    }

    fn watch(&self, context: Context) -> Boxed<'_, Box<dyn Watch>> {
        Box::pin(async move {
            let watch: Box<dyn Watch> = Box::new(Changes(self.client.events(context).await));
            watch
        })
    }
}

struct Changes(EventStream);

impl Watch for Changes {
    fn next(&mut self) -> Boxed<'_, Option<Event>> {
        Box::pin(async {
            Some(match self.0.next().await? {
                Told::Changed { .. } => Event::Changed,
                // What cannot be read is answered with a refusal, which is another answer.
                Told::Malformed { .. } | Told::ReadAgain => Event::ReadAgain,
            })
        })
    }
}
