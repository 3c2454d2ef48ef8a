//! The real engine behind the routes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stepstone_proto::operation::{Context, Request};
use stepstone_proto::protocol::OpenWorklist;

use super::backend::{Answering, Backend, Changes, Reply};
use crate::service::Engine;

impl Backend for Engine {
    fn execute(self: Arc<Self>, request: Request, wanted: Arc<AtomicBool>) -> Answering<Reply> {
        Box::pin(async move { Self::execute(&self, request, wanted).await })
    }

    fn subscribe(self: Arc<Self>, context: Context) -> Answering<Result<Changes, Reply>> {
        Box::pin(async move {
            let (located, choice) = self.place_of(&context).await?;
            Ok(self.stores().subscribe(&located, &choice).await)
        })
    }

    fn root(self: Arc<Self>, context: Context) -> Answering<Option<String>> {
        Box::pin(async move {
            let (located, _) = self.place_of(&context).await.ok()?;
            Some(located.root.to_string_lossy().into_owned())
        })
    }

    fn overview(&self) -> Vec<OpenWorklist> {
        let open = Self::overview(self).into_iter();
        open.map(|store| OpenWorklist {
            path: store.path.to_string_lossy().into_owned(),
            revision: store.revision.to_string(),
            goals: store.goals,
            queued: store.queued,
        })
        .collect()
    }

    fn watching(&self) -> &'static str {
        self.stores().watching()
    }

    fn finish(self: Arc<Self>) -> Answering<()> {
        Box::pin(async move { Self::finish(&self).await })
    }
}
