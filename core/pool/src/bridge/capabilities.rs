//! What a client declares that it can be asked.

use serde_json::{Map, Value, json};

use super::wire::revisions::LEGACY;
use crate::json::readable;

/// What a client declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientCapabilities {
    sampling: bool,
    sampling_tools: bool,
    sampling_context: bool,
    form: bool,
    url: bool,
    roots: bool,
}

impl ClientCapabilities {
    /// Of a client that declares this; `None` where it is no object.
    pub fn read(capabilities: &str) -> Option<Self> {
        let read = readable(capabilities)?;
        let read = read.as_object()?;
        let (sampling, elicitation) = (read.get("sampling"), read.get("elicitation"));
        let has = |of: Option<&Value>, name: &str| of.is_some_and(|of| of[name].is_object());
        let is_there = |of: Option<&Value>| of.is_some_and(Value::is_object);
        let url = has(elicitation, "url");
        Some(ClientCapabilities {
            sampling: is_there(sampling),
            sampling_tools: has(sampling, "tools"),
            sampling_context: has(sampling, "context"),
            // An empty object means forms.
            form: is_there(elicitation) && (!url || has(elicitation, "form")),
            url,
            roots: is_there(read.get("roots")),
        })
    }

    /// As far as a client of this revision can have it: elicitation came with 2025-06-18, URLs and
    /// tools with 2025-11-25.
    pub fn within(self, revision: &str) -> Self {
        let is_since = |first: usize| revision >= LEGACY[first];
        ClientCapabilities {
            form: self.form && is_since(2),
            url: self.url && is_since(3),
            sampling_tools: self.sampling_tools && is_since(3),
            sampling_context: self.sampling_context && is_since(3),
            ..self
        }
    }

    /// What it does not declare of that which a question needs, as an object of capabilities.
    pub fn lacks(&self, method: &str, params: &str) -> Option<Value> {
        let params = readable(params).unwrap_or_default();
        match method {
            "elicitation/create" if params["mode"] == "url" => {
                (!self.url).then(|| json!({ "elicitation": { "url": {} } }))
            }
            "elicitation/create" => (!self.form).then(|| json!({ "elicitation": { "form": {} } })),
            "sampling/createMessage" if !self.sampling => Some(json!({ "sampling": {} })),
            "sampling/createMessage" => {
                let wants_tools = params["tools"].is_array();
                (wants_tools && !self.sampling_tools)
                    .then(|| json!({ "sampling": { "tools": {} } }))
            }
            "roots/list" => (!self.roots).then(|| json!({ "roots": {} })),
            _ => Some(json!({})),
        }
    }

    /// As it is declared to a modern server. The pool answers questions for roots where
    /// `roots_of_pool` is set.
    pub fn to_json(self, roots_of_pool: bool) -> String {
        let part = |is_there: bool, parts: &[(&str, bool)]| {
            let parts = parts.iter().filter(|(_, is_there)| *is_there);
            let parts: Map<String, Value> =
                parts.map(|(name, _)| ((*name).to_owned(), json!({}))).collect();
            is_there.then_some(Value::Object(parts))
        };
        let sampling = [("tools", self.sampling_tools), ("context", self.sampling_context)];
        let elicitation = [("form", self.form), ("url", self.url)];
        let all = [
            ("roots", part(self.roots || roots_of_pool, &[])),
            ("sampling", part(self.sampling, &sampling)),
            ("elicitation", part(self.form || self.url, &elicitation)),
        ];
        let there = all.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?)));
        Value::Object(there.collect()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 19.5: a question goes only to a client that declared its kind.
    #[test]
    fn a_question_needs_its_capability() {
        let form = r#"{"mode":"form","message":"m"}"#;
        let url = r#"{"mode":"url","message":"m"}"#;
        let tools = r#"{"tools":[]}"#;
        for (declared, revision, method, params, is_asked) in [
            ("{}", "2025-11-25", "elicitation/create", form, false),
            (r#"{"elicitation":{}}"#, "2025-11-25", "elicitation/create", "{}", true),
            (r#"{"elicitation":{}}"#, "2025-06-18", "elicitation/create", form, true),
            (r#"{"elicitation":{}}"#, "2025-03-26", "elicitation/create", form, false),
            (r#"{"elicitation":{}}"#, "2025-11-25", "elicitation/create", url, false),
            (r#"{"elicitation":{"url":{}}}"#, "2025-11-25", "elicitation/create", url, true),
            (r#"{"elicitation":{"url":{}}}"#, "2025-11-25", "elicitation/create", form, false),
            (r#"{"elicitation":{"url":{}}}"#, "2025-06-18", "elicitation/create", url, false),
            (
                r#"{"elicitation":{"url":{},"form":{}}}"#,
                "2026-07-28",
                "elicitation/create",
                form,
                true,
            ),
            (r#"{"sampling":{}}"#, "2024-11-05", "sampling/createMessage", "{}", true),
            (r#"{"sampling":{}}"#, "2025-11-25", "sampling/createMessage", tools, false),
            (r#"{"sampling":{"tools":{}}}"#, "2025-11-25", "sampling/createMessage", tools, true),
            (r#"{"roots":{}}"#, "2026-07-28", "roots/list", "{}", true),
            (r#"{"sampling":{},"roots":{}}"#, "2026-07-28", "tasks/get", "{}", false),
        ] {
            let has = ClientCapabilities::read(declared).unwrap().within(revision);
            let lacks = has.lacks(method, params);
            assert_eq!(lacks.is_none(), is_asked, "{declared} {revision} {method} {params}");
        }
        assert_eq!(ClientCapabilities::read("[]"), None);
    }

    #[test]
    fn a_server_is_declared_what_the_client_declared_and_nothing_more() {
        for (declared, roots, told) in [
            (r#"{"extensions":{"x/y":{}}}"#, false, "{}"),
            ("{}", true, r#"{"roots":{}}"#),
            (r#"{"elicitation":{}}"#, false, r#"{"elicitation":{"form":{}}}"#),
            (r#"{"sampling":{"tools":{}}}"#, false, r#"{"sampling":{"tools":{}}}"#),
        ] {
            let has = ClientCapabilities::read(declared).unwrap();
            assert_eq!(has.to_json(roots), told, "{declared}");
        }
    }
}
