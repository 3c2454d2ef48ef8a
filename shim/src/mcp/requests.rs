//! The methods that are served, as rmcp's types.
//!
//! rmcp itself takes a known method with wrong parameters for an unknown one. Here each method is read as what it
//! is, so that the client learns which parameter is wrong.

use rmcp::model::ClientRequest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::wire::message::{INVALID_PARAMS, METHOD_NOT_FOUND, WireError};

/// Marks a tool call whose arguments are no object. rmcp cannot hold them, and the refusal is an envelope.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotAnObject;

/// The request of this method with these parameters.
///
/// # Errors
/// A protocol error: nobody knows the method here, or its parameters are not what it takes.
pub(super) fn typed(method: &str, params: Option<Map<String, Value>>) -> Result<ClientRequest, WireError> {
    use ClientRequest as R;
    let message = Message { method, params };
    match method {
        "initialize" => message.read(R::InitializeRequest),
        "ping" => message.read(R::PingRequest),
        "server/discover" => message.or_empty().read(R::DiscoverRequest),
        "tools/list" => message.page()?.read(R::ListToolsRequest),
        "tools/call" => call(message),
        "resources/list" => message.page()?.read(R::ListResourcesRequest),
        "resources/templates/list" => message.page()?.read(R::ListResourceTemplatesRequest),
        "resources/read" => message.read(R::ReadResourceRequest),
        "resources/subscribe" => message.read(R::SubscribeRequest),
        "resources/unsubscribe" => message.read(R::UnsubscribeRequest),
        "subscriptions/listen" => message.read(R::SubscriptionsListenRequest),
        "prompts/list" => message.page()?.read(R::ListPromptsRequest),
        "prompts/get" => message.read(R::GetPromptRequest),
        "completion/complete" => message.read(R::CompleteRequest),
        _ => Err(WireError::new(METHOD_NOT_FOUND, format!("there is no method {method}"))),
    }
}

struct Message<'a> {
    method: &'a str,
    params: Option<Map<String, Value>>,
}

impl Message<'_> {
    /// With parameters, even if there are none in them: their absence is told of where they are looked for.
    fn or_empty(mut self) -> Self {
        self.params.get_or_insert_default();
        self
    }

    /// With a cursor that is one, if there is any: rmcp drops one that is no string.
    fn page(self) -> Result<Self, WireError> {
        match self.params.as_ref().and_then(|params| params.get("cursor")) {
            None | Some(Value::Null | Value::String(_)) => Ok(self),
            Some(_) => Err(self.wrong("a cursor is a string")),
        }
    }

    fn wrong(&self, why: impl std::fmt::Display) -> WireError {
        WireError::new(INVALID_PARAMS, format!("the parameters of {} are wrong: {why}", self.method))
    }

    fn read<T: DeserializeOwned>(mut self, wrap: fn(T) -> ClientRequest) -> Result<ClientRequest, WireError> {
        let mut body = Map::new();
        body.insert("method".to_owned(), self.method.into());
        if let Some(params) = self.params.take() {
            body.insert("params".to_owned(), params.into());
        }
        serde_json::from_value(Value::Object(body)).map(wrap).map_err(|error| self.wrong(error))
    }
}

/// A tool call. Arguments that are no object are taken out and noted.
fn call(mut message: Message<'_>) -> Result<ClientRequest, WireError> {
    let arguments = message.params.as_ref().and_then(|params| params.get("arguments"));
    let wrong = arguments.is_some_and(|arguments| !arguments.is_object() && !arguments.is_null());
    if let Some(params) = &mut message.params
        && wrong
    {
        params.shift_remove("arguments");
    }
    let mut request = message.read(ClientRequest::CallToolRequest)?;
    if let ClientRequest::CallToolRequest(call) = &mut request
        && wrong
    {
        call.extensions.insert(NotAnObject);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn code(method: &str, params: &Value) -> Option<i32> {
        typed(method, params.as_object().cloned()).err().map(|error| error.code)
    }

    #[test]
    fn known_methods_with_wrong_parameters_are_told_from_unknown_methods() {
        for (method, params) in [
            ("initialize", json!({})),
            ("initialize", json!({ "protocolVersion": 1, "capabilities": {}, "clientInfo": {} })),
            ("tools/call", json!({})),
            ("tools/call", json!(null)),
            ("tools/call", json!({ "name": 7 })),
            ("tools/list", json!({ "cursor": 7 })),
            ("tools/list", json!({ "_meta": 7 })),
            ("resources/list", json!({ "cursor": {} })),
            ("resources/templates/list", json!({ "cursor": [] })),
            ("prompts/list", json!({ "cursor": true })),
            ("resources/read", json!({})),
            ("resources/read", json!({ "uri": 1 })),
            ("resources/subscribe", json!({})),
            ("resources/unsubscribe", json!({ "uri": null })),
            ("subscriptions/listen", json!({})),
            ("prompts/get", json!({})),
            ("completion/complete", json!({ "ref": { "type": "ref/other" }, "argument": {} })),
        ] {
            assert_eq!(code(method, &params), Some(INVALID_PARAMS), "{method} {params}");
        }
        for method in
            ["", "tool/call", "tasks/get", "skills/list", "logging/setLevel", "notifications/cancelled"]
        {
            assert_eq!(code(method, &json!({})), Some(METHOD_NOT_FOUND), "{method}");
        }
    }

    #[test]
    fn lists_and_pings_need_no_parameters() {
        for method in ["ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            assert_eq!(code(method, &json!(null)), None, "{method}");
            assert_eq!(code(method, &json!({})), None, "{method}");
        }
    }

    #[test]
    fn arguments_that_are_no_object_do_not_spoil_the_call() {
        for (arguments, wrong) in [
            (json!("{}"), true),
            (json!([]), true),
            (json!(1), true),
            (json!(null), false),
            (json!({}), false),
        ] {
            let params = json!({ "name": "add", "arguments": arguments });
            let Ok(ClientRequest::CallToolRequest(call)) = typed("tools/call", params.as_object().cloned())
            else {
                panic!("{params}");
            };
            assert_eq!(call.extensions.get::<NotAnObject>().is_some(), wrong, "{params}");
        }
    }
}
