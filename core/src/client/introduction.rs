//! What a server said of itself when it was connected to (SPEC 16.8).

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trunkline_pool::json::readable_members;

use crate::net::redact::Redactor;

/// The most bytes of a member; one that is longer is left out. It stays for as long as the server's
/// entry does.
const MEMBER_BYTES_MAX: usize = 1 << 20;

/// What a server said of itself: unverified, and without the secrets that it has of the host. Cheap
/// to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introduction(Arc<str>);

impl Introduction {
    /// Of the answer to the first question, as far as it can be read.
    pub(super) fn new(
        revision: &str,
        (said, server_info): (&Value, &Value),
        redactor: &Redactor,
    ) -> Introduction {
        let object = |value: &Value| {
            let object = value.as_object().filter(|_| value.to_string().len() <= MEMBER_BYTES_MAX);
            object.cloned().unwrap_or_default()
        };
        let instructions = said["instructions"].as_str();
        let text = json!({
            "protocol_version": revision,
            "server_info": object(server_info),
            "capabilities": object(&said["capabilities"]),
            "instructions": instructions.filter(|text| text.len() <= MEMBER_BYTES_MAX),
        });
        Introduction(redactor.json(&text.to_string()).into())
    }

    /// All of it: the text of `{protocol_version, server_info, capabilities, instructions}`.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// Its members, read once for all who want several.
    pub(crate) fn members(&self) -> Map<String, Value> {
        readable_members(&self.0)
    }

    /// The revision of the protocol that is spoken with it.
    pub fn protocol_version(&self) -> String {
        self.text("protocol_version").unwrap_or_default()
    }

    /// Its name, version and what else it says of itself, in the protocol's spelling; empty when it
    /// says nothing.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 16.8: what is kept of a server's words is bounded, each member by itself.
    #[test]
    fn a_member_that_is_too_long_is_left_out() {
        let long = "x".repeat(MEMBER_BYTES_MAX + 1);
        for (instructions, name, capability, kept) in [
            ("short", "s", "c", [true, true, true]),
            (&*long, "s", "c", [false, true, true]),
            ("short", &*long, "c", [true, false, true]),
            ("short", "s", &*long, [true, true, false]),
        ] {
            let said =
                json!({ "capabilities": { "one": capability }, "instructions": instructions });
            let named = json!({ "name": name });
            let redactor = Redactor::new([].iter(), 64);
            let introduction = Introduction::new("r", (&said, &named), &redactor);
            let found = [
                introduction.instructions().is_some(),
                !introduction.server_info().is_empty(),
                !introduction.capabilities().is_empty(),
            ];
            assert_eq!(found, kept);
            assert_eq!(introduction.protocol_version(), "r");
        }
    }
}
