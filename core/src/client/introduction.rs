//! What a server said of itself when it was connected to (SPEC 16.8).

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::json::readable_members;

use crate::transport::redact::Redactor;

/// What a server said of itself: unverified, and without the secrets that it has of the host. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introduction(Arc<str>);

impl Introduction {
    /// Of the answer to the first question, as far as it can be read.
    pub(super) fn new(
        revision: &str,
        (said, server_info): (&Value, &Value),
        redactor: &Redactor,
    ) -> Introduction {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let text = json!({
            "protocol_version": revision,
            "server_info": object(server_info),
            "capabilities": object(&said["capabilities"]),
            "instructions": said["instructions"].as_str(),
        });
        Introduction(redactor.json(&text.to_string()).into())
    }

    /// All of it: the text of `{protocol_version, server_info, capabilities, instructions}`.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// The revision of the protocol that is spoken with it.
    pub fn protocol_version(&self) -> String {
        self.text("protocol_version").unwrap_or_default()
    }

    /// Its name, version and what else it says of itself, in the protocol's spelling; empty when it says nothing.
    pub fn server_info(&self) -> Map<String, Value> {
        self.object("server_info")
    }

    /// What it offers, in the protocol's spelling.
    pub fn capabilities(&self) -> Map<String, Value> {
        self.object("capabilities")
    }

    /// How it is to be used, in words for a model.
    pub fn instructions(&self) -> Option<String> {
        self.text("instructions")
    }

    fn text(&self, name: &str) -> Option<String> {
        readable_members(&self.0).get(name)?.as_str().map(str::to_owned)
    }

    fn object(&self, name: &str) -> Map<String, Value> {
        let members = readable_members(&self.0);
        members.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }
}
