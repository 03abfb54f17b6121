//! The frames that a client gets: one JSON-RPC message in one line.

use std::borrow::Cow;

use serde_json::Value;

/// A text of JSON without line feeds: they can only stand between its tokens.
pub(in crate::bridge) fn one_line(json: &str) -> Cow<'_, str> {
    match json.contains(['\n', '\r']) {
        true => Cow::Owned(json.replace(['\n', '\r'], " ")),
        false => Cow::Borrowed(json),
    }
}

/// An answer; `id` and `result` are JSON.
pub(in crate::bridge) fn result(id: &str, result: &str) -> String {
    let result = one_line(result);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An error; an id that could not be read is `null`.
pub(in crate::bridge) fn error(
    id: Option<&str>,
    code: i64,
    message: &str,
    attached: Option<&Value>,
) -> String {
    let (id, message) = (id.unwrap_or("null"), text(message));
    let attached = attached.map_or(String::new(), |attached| format!(r#","data":{attached}"#));
    let error = format!(r#"{{"code":{code},"message":{message}{attached}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A question to the client.
pub(in crate::bridge) fn request(id: u64, method: &str, params: &str) -> String {
    let (method, params) = (text(method), one_line(params));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

/// A notification, with params unless they are empty.
pub(in crate::bridge) fn notification(method: &str, params: &str) -> String {
    let (method, params) = (text(method), one_line(params));
    match params.is_empty() {
        true => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
        false => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
    }
}

/// A text as JSON.
pub(in crate::bridge) fn text(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_line_whatever_a_server_wrote() {
        let pretty = "{\r\n  \"a\": \"b\\nc\"\n}";
        let frame = result("\"x\"", pretty);
        assert!(!frame.contains(['\n', '\r']), "{frame}");
        let read: Value = serde_json::from_str(&frame).unwrap();
        assert_eq!(read["result"]["a"], "b\nc");
        let denied = error(None, -32700, "a \"quote\"\nand a line", None);
        assert!(!denied.contains('\n'));
        let read: Value = serde_json::from_str(&denied).unwrap();
        assert_eq!((&read["id"], &read["error"]["code"]), (&Value::Null, &Value::from(-32700)));
        assert_eq!(notification("a", ""), r#"{"jsonrpc":"2.0","method":"a"}"#);
    }
}
