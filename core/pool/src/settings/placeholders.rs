//! A configuration whose variables are not expanded yet, parsed as far as that goes.

use serde_json::{Map, Value};

use crate::config::{ADDRESSES, ServerSpec, Transport, check_address};
use crate::error::Result;

/// What stands for the path of a socket.
const SOME_PATH: &str = "/variable";

/// Parses a configuration, its variables standing for something that fits. The texts that it gives
/// are those of the file.
pub(super) fn parse(server: &str, configuration: &Map<String, Value>) -> Result<ServerSpec> {
    let mut masked = configuration.clone();
    let mut addresses = Vec::new();
    // They are judged by their form, which a variable hides until it is expanded.
    for name in ADDRESSES {
        if let Some(Value::String(address)) = masked.get_mut(name) {
            let written = std::mem::take(address);
            *address = with_some_address(&written, configuration, name);
            addresses.push((name, written));
        }
    }
    let mut socket = None;
    for name in ["socket_path", "socketPath"] {
        if let Some(Value::String(path)) = masked.get_mut(name)
            && has_variable(path)
        {
            socket = Some(std::mem::replace(path, SOME_PATH.into()));
        }
    }
    let mut spec = ServerSpec::with_some_address(server, &Value::Object(masked))?;
    if let Transport::Remote(remote) = &mut spec.transport {
        // Two addresses in one entry were refused.
        if let Some((name, address)) = addresses.pop() {
            if !has_variable(&address) {
                check_address(server, name, &address)?;
            }
            remote.url = address;
        }
        remote.socket_path = socket.or(remote.socket_path.take());
    }
    Ok(spec)
}

/// Whether a text names a variable.
fn has_variable(text: &str) -> bool {
    let is_start = |c: char| c == '{' || c == '_' || c.is_ascii_alphabetic();
    text.split('$').skip(1).any(|rest| rest.starts_with(is_start))
}

/// The address with something that fits for each variable.
fn with_some_address(address: &str, configuration: &Map<String, Value>, name: &str) -> String {
    if !has_variable(address) {
        return address.to_owned();
    }
    let before = address.split('$').next().unwrap_or_default();
    if before.contains("://") {
        return without_variables(address);
    }
    let stated =
        ["transport", "type", "transportType"].iter().find_map(|name| configuration.get(*name));
    let is_websocket = matches!(stated.and_then(Value::as_str), Some("ws" | "websocket"));
    let scheme = if is_websocket || name == "tcp" { "ws" } else { "http" };
    format!("{scheme}://variable.invalid/")
}

/// The text with one letter for each variable.
fn without_variables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        out.push_str(&rest[..start]);
        let name = &rest[start + 1..];
        rest = match name.strip_prefix('{') {
            Some(inside) => end_of_braces(inside),
            None => name.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric()),
        };
        out.push(if rest.len() == name.len() { '$' } else { 'v' });
    }
    out.push_str(rest);
    out
}

/// What follows the brace that closes; a default may hold braces of its own.
fn end_of_braces(text: &str) -> &str {
    let mut depth = 1_usize;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[offset + 1..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 10.5: whatever a variable may become, the rest of an address is judged as it stands.
    #[test]
    fn an_address_is_judged_around_its_variables() {
        let url = |text: &str| {
            let configuration = serde_json::json!({ "url": text });
            let spec = parse("s", configuration.as_object().unwrap())
                .map_err(|error| error.message().to_owned());
            spec.map(|spec| match spec.transport {
                Transport::Remote(remote) => remote.url,
                _ => String::new(),
            })
        };
        for text in [
            "${URL}",
            "$URL",
            "${URL:-http://a b}/mcp",
            "https://${HOST}:8080/${PATH}",
            "${SCHEME}://host/mcp",
            "https://h/${input:the key}/x",
            "https://h/${A:-${B}}/x",
            "https://h/$5",
        ] {
            assert_eq!(url(text).as_deref(), Ok(text));
        }
        for text in ["ftp://${HOST}/", "https://a b/${X}", "file.txt", "https://:80/${X}"] {
            assert!(url(text).is_err(), "{text}");
        }
    }
}
