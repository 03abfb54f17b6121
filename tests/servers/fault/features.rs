//! What a server has beside tools: prompts, resources, completions, levels of its log, and streams
//! of changes.

use serde_json::{Value, json};

/// What it says of itself; the modern era announces changes on streams that are asked for.
pub fn capabilities(is_modern: bool) -> Value {
    json!({
        "tools": { "listChanged": is_modern }, "prompts": {}, "resources": { "subscribe": true },
        "completions": {}, "logging": {},
    })
}

/// The result of a request that only such a server answers.
pub fn result(method: &str, is_modern: bool) -> Option<Value> {
    let said = json!({ "type": "text", "text": "hello" });
    Some(match (method, is_modern) {
        ("prompts/list", _) => json!({ "prompts": [{ "name": "greet" }] }),
        ("prompts/get", _) => json!({ "messages": [{ "role": "user", "content": said }] }),
        ("resources/list", _) => json!({ "resources": [{ "uri": URI, "name": "one" }] }),
        ("resources/templates/list", _) => {
            json!({ "resourceTemplates": [{ "uriTemplate": "test://{name}", "name": "any" }] })
        }
        ("resources/read", _) => json!({ "contents": [{ "uri": URI, "text": "hello" }] }),
        ("completion/complete", _) => json!({ "completion": { "values": ["hello"] } }),
        ("resources/subscribe" | "resources/unsubscribe" | "logging/setLevel", false) => json!({}),
        _ => return None,
    })
}

/// A stream of changes is open: its request is answered at its end.
pub fn acknowledged(id: &Value, params: &Value) -> Value {
    let tag = json!({ "io.modelcontextprotocol/subscriptionId": id });
    let params = json!({ "_meta": tag, "notifications": params["notifications"] });
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })
}

const URI: &str = "test://one";

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::at::{At, Trouble};

    /// Those of `result`, and the stream of changes.
    const METHODS: [&str; 10] = [
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
        "resources/subscribe",
        "resources/unsubscribe",
        "logging/setLevel",
        "subscriptions/listen",
    ];

    const TROUBLES: [Trouble; 5] =
        [Trouble::Hang, Trouble::Die, Trouble::Error, Trouble::Nothing, Trouble::Unreadable];

    /// Whether the era has such requests.
    fn is_asked(method: &str, is_modern: bool) -> bool {
        let is_stream = method == "subscriptions/listen";
        super::result(method, is_modern).is_some() || is_stream && is_modern
    }

    #[test]
    fn every_request_has_its_outcomes_written_down() {
        let written: Value = serde_json::from_str(include_str!("requests.json")).unwrap();
        let rows = written["requests"].as_array().unwrap();
        for is_modern in [false, true] {
            let there = At::of_era(rows, is_modern);
            let asked: Vec<_> = METHODS.iter().filter(|it| is_asked(it, is_modern)).collect();
            assert_eq!(asked.len(), if is_modern { 7 } else { 9 });
            for (method, trouble) in asked.iter().flat_map(|it| TROUBLES.map(|to| (**it, to))) {
                let is_there = |it: &At| it.method == method && it.trouble == trouble;
                assert!(there.iter().any(is_there), "{trouble:?} at {method}, modern: {is_modern}");
            }
        }
    }
}
