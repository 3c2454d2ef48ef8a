//! The methods of MCP, answered.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientNotification, ClientRequest,
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ResourceContents, ResourceUpdatedNotificationParam, Role, ServerConfig,
    ServerResult, SubscribeRequestParams, SubscriptionFilter, SubscriptionFilterBuilder,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, Service, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use stepstone_proto::contract::tools;
use stepstone_proto::envelope::Envelope;
use stepstone_proto::operation::ClientInfo;
use tokio::sync::watch;

use super::lists;
use super::requests::NotAnObject;
use crate::call::{Arguments, Caller, operation};
use crate::prompts;
use crate::subscriptions::{Subscriber, Subscriptions};
use crate::uri::{self, Resource};

/// Where a request says who sent it, in revisions without a handshake.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What a client that does not say its name is called.
const NAMELESS: &str = "mcp";

type Context = RequestContext<RoleServer>;

/// Answers requests of both eras.
pub(super) struct Handler {
    caller: Arc<Caller>,
    subscriptions: Arc<Subscriptions>,
    /// `resources/subscribe` of this connection.
    session: Session,
    closed: watch::Receiver<bool>,
}

/// The subscriptions of the revisions with a handshake, which belong to the connection.
#[derive(Default)]
struct Session {
    subscriber: Arc<Subscriber>,
    /// Set once somebody tells the client.
    told: Mutex<bool>,
}

impl Handler {
    /// Answers by `caller`. `closed` turns true when no further request comes.
    #[must_use]
    pub(super) fn new(
        caller: Arc<Caller>,
        subscriptions: Arc<Subscriptions>,
        closed: watch::Receiver<bool>,
    ) -> Self {
        Self { caller, subscriptions, session: Session::default(), closed }
    }

    async fn called(&self, request: CallToolRequestParams, context: &Context) -> Result<Envelope, ErrorData> {
        let tool = Caller::tool(&request.name).ok_or_else(|| unknown_tool(&request.name))?;
        let arguments = match context.extensions.get::<NotAnObject>() {
            Some(NotAnObject) => Arguments::NotAnObject,
            None => Arguments::Named(request.arguments.unwrap_or_default()),
        };
        Ok(self.caller.call(tool, arguments, &context.meta, client(context)).await)
    }

    async fn completed(
        &self,
        request: CompleteRequestParams,
        context: &Context,
    ) -> Result<CompletionInfo, ErrorData> {
        let of_ids = match &request.r#ref {
            Reference::Prompt(prompt) if prompts::named(&prompt.name).is_none() => {
                return Err(unknown_prompt(&prompt.name));
            }
            Reference::Resource(resource) if Resource::at(&resource.uri).is_none() => {
                return Err(unknown_resource(&resource.uri));
            }
            Reference::Resource(resource) => uri_of("show").as_ref() == Some(&resource.uri),
            _ => false,
        };
        if !of_ids || request.argument.name != "id" {
            // A topic to plan and a text to find may be anything.
            return Ok(CompletionInfo::default());
        }
        let mut ids = operation("ids");
        ids.insert("prefix".to_owned(), request.argument.value.into());
        ids.insert("limit".to_owned(), CompletionInfo::MAX_VALUES.into());
        Ok(completion(&self.caller.read(ids, client(context)).await))
    }

    /// Sees to it that the connection's own subscriptions are told, from the first one on.
    fn tell_session(&self, peer: &Peer<RoleServer>) {
        let mut told = self.session.told.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *told, true) {
            return;
        }
        let (subscriber, peer) = (Arc::clone(&self.session.subscriber), peer.clone());
        tokio::spawn(async move {
            loop {
                for uri in subscriber.due().await {
                    if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err()
                    {
                        return;
                    }
                }
            }
        });
    }
}

/// What a request is answered with, or nothing that matters once the client no longer wants it.
async fn unless_cancelled<T>(context: &Context, answer: impl Future<Output = T>) -> Result<T, ErrorData> {
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        answer = answer => Ok(answer),
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        lists::server()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        let agreed = request.with_protocol_version(result.protocol_version.clone());
        context.peer.set_peer_info(agreed);
        Ok(result)
    }

    async fn discover(&self, _context: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        Ok(DiscoverResult::from_server_info(versions, lists::server())
            .with_ttl_ms(lists::TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        first_page(request)?;
        Ok(lists::all_tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let envelope = unless_cancelled(&context, self.called(request, &context)).await??;
        Ok(tool_result(&envelope)?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        first_page(request)?;
        Ok(lists::all_resources())
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        first_page(request)?;
        Ok(lists::all_templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let resource = Resource::at(&request.uri).ok_or_else(|| unknown_resource(&request.uri))?;
        let read = self.caller.read(resource.operation(), client(&context));
        let envelope = unless_cancelled(&context, read).await?;
        let text = envelope.into_text().map_err(unprintable)?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type(lists::MIME_TYPE);
        Ok(ReadResourceResult::new(vec![contents])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private)
            .into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        if Resource::at(&request.uri).is_none() {
            return Err(unknown_resource(&request.uri));
        }
        self.tell_session(&context.peer);
        unless_cancelled(&context, self.subscriptions.add(&self.session.subscriber, [request.uri])).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.session.subscriber.drop_uri(&request.uri);
        self.subscriptions.left();
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let known = requested.resource_subscriptions.iter().flatten();
        let known: Vec<&String> = known.filter(|uri| Resource::at(uri).is_some()).collect();
        Some(
            known
                .into_iter()
                .fold(SubscriptionFilter::builder(), SubscriptionFilterBuilder::resource_subscription)
                .build(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let subscriber = context.request_context().extensions.get::<Arc<Subscriber>>().cloned();
        let told = async {
            let Some(subscriber) = &subscriber else { return std::future::pending().await };
            loop {
                for uri in subscriber.due().await {
                    if context.sink().notify_resource_updated(uri).await.is_err() {
                        return;
                    }
                }
            }
        };
        let mut closed = self.closed.clone();
        tokio::select! {
            () = context.cancelled() => {}
            // An error says that the transport is gone, which is the same.
            _ = closed.wait_for(|closed| *closed) => {}
            () = told => {}
        }
        drop(context);
        drop(subscriber);
        self.subscriptions.left();
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        first_page(request)?;
        Ok(lists::all_prompts())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::named(&request.name).ok_or_else(|| unknown_prompt(&request.name))?;
        let arguments = request.arguments.unwrap_or_default();
        prompts::check(prompt, &arguments).map_err(|wrong| ErrorData::invalid_params(wrong, None))?;
        let text = prompts::text(prompt, &arguments, &self.caller, client(&context));
        let text = unless_cancelled(&context, text).await?;
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(prompt.description).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        unless_cancelled(&context, self.completed(request, &context)).await?.map(CompleteResult::new)
    }
}

/// The handler, and what must happen before rmcp acts on a request.
pub(super) struct Server {
    handler: Handler,
}

impl Server {
    /// Serves by this handler.
    #[must_use]
    pub(super) fn new(handler: Handler) -> Self {
        Self { handler }
    }
}

impl Service<RoleServer> for Server {
    async fn handle_request(
        &self,
        request: ClientRequest,
        mut context: Context,
    ) -> Result<ServerResult, ErrorData> {
        // rmcp acknowledges a subscription before it calls the handler, and no change after the acknowledgement may
        // be missed: the watch has to stand by then.
        if let ClientRequest::SubscriptionsListenRequest(listen) = &request
            && is_modern(&context)
        {
            let subscriber = Arc::new(Subscriber::default());
            let accepted = self.handler.accepted_subscription_filter(&listen.params.notifications);
            let uris = accepted.and_then(|filter| filter.resource_subscriptions).unwrap_or_default();
            let added = self.handler.subscriptions.add(&subscriber, uris);
            unless_cancelled(&context, Box::pin(added)).await?;
            context.extensions.insert(subscriber);
        }
        // It has room for every method, so it is kept on the heap.
        Box::pin(Service::handle_request(&self.handler, request, context)).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.handler, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.handler)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.handler)
    }
}

/// Whether a request carries its own context, instead of leaning on a handshake.
fn is_modern(context: &Context) -> bool {
    context.meta.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Who asks. Nothing is taken from the connection for a request that speaks for itself.
fn client(context: &Context) -> ClientInfo {
    let (name, version) = if is_modern(context) {
        let text = |field| {
            let value = context.meta.get(CLIENT_INFO).and_then(|info| info.get(field));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        (text("name"), text("version"))
    } else {
        let info = context.peer.peer_info();
        info.map(|info| (info.client_info.name.clone(), info.client_info.version.clone())).unwrap_or_default()
    };
    let name = if name.trim().is_empty() { NAMELESS.to_owned() } else { name };
    ClientInfo { name, version, pid: std::process::id() }
}

fn tool_result(envelope: &Envelope) -> Result<CallToolResult, ErrorData> {
    let text = serde_json::to_string(envelope).map_err(unprintable)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.is_error = Some(!envelope.ok);
    result.structured_content = Some(serde_json::to_value(envelope).map_err(unprintable)?);
    Ok(result)
}

/// What the `ids` of an answer complete to. A roadmap that cannot be read completes to nothing.
fn completion(envelope: &Envelope) -> CompletionInfo {
    let result = envelope.result.as_ref().and_then(|result| serde_json::from_str::<Value>(result.get()).ok());
    let ids = result.as_ref().and_then(|result| result.get("ids")).and_then(Value::as_array);
    let ids: Vec<String> = ids
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .take(CompletionInfo::MAX_VALUES)
        .map(str::to_owned)
        .collect();
    let total = result.as_ref().and_then(|result| result.get("total")).and_then(Value::as_u64);
    let total = total.and_then(|total| usize::try_from(total).ok()).unwrap_or(ids.len());
    let has_more = total > ids.len();
    CompletionInfo::with_pagination(ids, u32::try_from(total).ok(), has_more).unwrap_or_default()
}

/// No list has more than one page, so that no cursor was ever given.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params(
            "this server gave no such cursor: every list fits on one page. Ask again without cursor",
            None,
        )),
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let known: Vec<&str> = tools::all().map(|tool| tool.name).collect();
    ErrorData::invalid_params(format!("there is no tool {name}; the tools are {}", known.join(", ")), None)
}

fn unknown_prompt(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no prompt {name}"), None)
}

fn unknown_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })))
}

fn uri_of(action: &str) -> Option<String> {
    stepstone_proto::contract::action(action).and_then(uri::of)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
fn unprintable(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the answer cannot be written as JSON: {error}"), None)
}
