//! The trace of a request in its `_meta`, and texts that others wrote in attributes.

use std::borrow::Cow;
use std::collections::HashMap;

use opentelemetry::trace::SpanContext;
use serde_json::Value;
use serde_json::value::RawValue;

/// `_meta` with the trace in it. Nothing when it is to stay as it is: it has a trace already, or is
/// no object, which is refused where it is put into the request.
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

/// Models and servers write names as long as they like, and 2,048 spans are kept.
const TEXT_BYTES_MAX: usize = 1024;
