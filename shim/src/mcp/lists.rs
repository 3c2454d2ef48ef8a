//! What is listed: the same for everyone, made from the contract, without asking anybody.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, MetaObject, Prompt, PromptArgument, ProtocolVersion, Resource, ResourceTemplate,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use stepstone_proto::contract::guidance::{self, INSTRUCTIONS};
use stepstone_proto::contract::{ACTIONS, Action, tools};
use stepstone_proto::protocol::VERSION;

use crate::uri;

/// What every resource is.
pub(super) const MIME_TYPE: &str = "application/json";
/// How long a list may be kept, in milliseconds: it changes with this program only.
pub(super) const TTL_MS: u64 = 300_000;

/// Who answers.
#[must_use]
pub(super) fn implementation() -> Implementation {
    Implementation::new("stepstone", VERSION).with_title("Stepstone")
}

/// What this server can do. No list of it ever changes while it runs, so that none is declared to.
#[must_use]
pub(super) fn server() -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_prompts()
        .enable_completions()
        .build();
    ServerConfig::new(capabilities)
        .with_server_info(implementation())
        .with_instructions(INSTRUCTIONS)
        // Answered to a handshake that asks for a revision that nobody knows, or for one without a handshake.
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

/// `tools/list`.
#[must_use]
pub(super) fn all_tools() -> ListToolsResult {
    ListToolsResult::with_all_items(tools::all().map(tool).collect())
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

fn tool(action: &'static Action) -> Tool {
    let hints = tools::hints(action);
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    Tool::new(action.name, tools::description(action), Arc::new(tools::schema(action)))
        .with_title(action.title)
        .with_annotations(annotations)
        .with_meta(MetaObject(tools::meta(action)))
}

/// `resources/list`.
#[must_use]
pub(super) fn all_resources() -> ListResourcesResult {
    let resources = resources(false).map(|(action, uri)| {
        Resource::new(uri, action.name)
            .with_title(action.title)
            .with_description(action.summary)
            .with_mime_type(MIME_TYPE)
    });
    ListResourcesResult::with_all_items(resources.collect())
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// `resources/templates/list`.
#[must_use]
pub(super) fn all_templates() -> ListResourceTemplatesResult {
    let templates = resources(true).map(|(action, uri)| {
        ResourceTemplate::new(uri, action.name)
            .with_title(action.title)
            .with_description(action.summary)
            .with_mime_type(MIME_TYPE)
    });
    ListResourceTemplatesResult::with_all_items(templates.collect())
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Public)
}

/// The actions that are resources, with their URIs: those with a variable, or those without.
fn resources(with_variable: bool) -> impl Iterator<Item = (&'static Action, String)> {
    ACTIONS.iter().filter_map(move |action| {
        let pattern = action.surfaces.resource?;
        (uri::variable(pattern).is_some() == with_variable)
            .then(|| uri::of(action))
            .flatten()
            .map(|uri| (action, uri))
    })
}

/// `prompts/list`.
#[must_use]
pub(super) fn all_prompts() -> ListPromptsResult {
    let prompts = guidance::PROMPTS.into_iter().map(|prompt| {
        let arguments = prompt.argument.map(|(name, description)| {
            vec![PromptArgument::new(name).with_description(description).with_required(false)]
        });
        Prompt::new(prompt.name, Some(prompt.description), arguments).with_title(prompt.title)
    });
    ListPromptsResult::with_all_items(prompts.collect())
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Public)
}
