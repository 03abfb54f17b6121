//! The trace of a request in its `_meta`, and texts that others wrote in attributes.

use std::borrow::Cow;
use std::collections::HashMap;

use opentelemetry::trace::SpanContext;
use serde_json::Value;
use serde_json::value::RawValue;

/// `_meta` with the trace in it. Nothing when it is to stay as it is: it has a trace already, or is no object, which is refused where
/// it is put into the request.
pub(super) fn joined(meta: Option<&str>, span: &SpanContext) -> Option<String> {
    let meta = meta.map(str::trim).filter(|meta| !meta.is_empty()).unwrap_or("{}");
    let members = members(meta)?;
    if members.contains_key("traceparent") || !span.is_valid() {
        return None;
    }
    let (trace, id, flags) = (span.trace_id(), span.span_id(), span.trace_flags().to_u8());
    let mut text = format!(r#"{{"traceparent":"00-{trace}-{id}-{flags:02x}""#);
    let state = span.trace_state().header();
    if !state.is_empty() && !members.contains_key("tracestate") {
        text.push_str(&format!(r#","tracestate":{}"#, Value::from(state)));
    }
    if !members.is_empty() {
        text.push(',');
    }
    text.push_str(&meta[1..]);
    Some(text)
}

/// The members of a JSON object, as they are written.
pub(super) fn members(text: &str) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(text).ok()
}

/// The beginning of a text, as much of it as an attribute may have.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// An address without the places in which secrets stand.
pub(super) fn plain(uri: &str) -> String {
    let is_end = ['?', '#'];
    let Some((scheme, rest)) = uri.split_once("//").filter(|(scheme, _)| !scheme.contains('/'))
    else {
        return cut(uri.split(is_end).next().unwrap_or_default()).to_owned();
    };
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let user = authority.rsplit_once('@');
    let host = user.map_or(authority, |(_, host)| host);
    // Behind a named user another `@` stands in a path, or it is the one that ends the user.
    if may_be_user(host, behind) || (user.is_some() && behind.contains('@')) {
        return cut(&format!("{scheme}//")).to_owned();
    }
    let path = behind.split(is_end).next().unwrap_or_default();
    cut(&format!("{scheme}//{host}{path}")).to_owned()
}

/// Whether that is a user and the beginning of a password with a sign in it that ends a host: some write them as they are.
fn may_be_user(authority: &str, behind: &str) -> bool {
    let Some((_, port)) = authority.rsplit_once(':').filter(|_| !authority.ends_with(']')) else {
        return false;
    };
    behind.contains('@') || !port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Models and servers write names as long as they like, and 2,048 spans are kept.
const TEXT_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// S-48: no user and no password of an address, also where it is none that the rules allow.
    #[test]
    fn an_address_is_told_without_what_may_be_secret() {
        for (uri, told) in [
            ("https://user:secret@h:80/a?b#c", "https://h:80/a"),
            ("https://h/a/@b", "https://h/a/@b"),
            ("https://[::1]:80/a", "https://[::1]:80/a"),
            ("file:///a@b", "file:///a@b"),
            ("db://admin:se/cret@h/t", "db://"),
            ("db://admin:se#cret@h/t", "db://"),
            ("db://admin:se?cret@h/t", "db://"),
            ("db://admin:1/cret@h/t", "db://"),
            ("db://me@corp:se/cret@h/t", "db://"),
            ("db://admin:se@cr/et@h/t", "db://"),
            ("db://me@corp:1/cret", "db://corp:1/cret"),
            ("urn:a", "urn:a"),
        ] {
            assert_eq!(plain(uri), told, "{uri}");
        }
    }
}
