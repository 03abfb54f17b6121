//! A request as a span and a duration.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Instant;

use opentelemetry::global::BoxedSpan;
use opentelemetry::trace::{Span, SpanKind, Status, Tracer};
use opentelemetry::{Context, KeyValue};
use serde_json::value::RawValue;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::interface::telemetry::{
    ERROR, METHOD, OPERATION, PROMPT, RESOURCE, STATUS_CODE, TOOL, TOOL_ERROR, counted_method,
    plain_address,
};
use trunkline_pool::options::CallOptions;

use super::context::{cut, joined, members};
use super::{Telemetry, guarded, transport};
use crate::client::{CallResult, Callee};
use crate::{Error, ErrorCode, Result};

/// A request under way; nothing of one that nobody watches.
#[derive(Default)]
pub(crate) struct Request(Option<Box<RequestSpan>>);

struct RequestSpan {
    telemetry: Telemetry,
    span: BoxedSpan,
    began: Instant,
    is_tool: bool,
    /// The attributes of its duration: few.
    counted: Vec<KeyValue>,
}

impl Request {
    pub(super) fn begin<'a>(
        telemetry: &Telemetry,
        (callee, params): (Callee<'_>, &'a str),
        options: &'a CallOptions,
        spec: Option<&ServerSpec>,
    ) -> (Cow<'a, str>, Cow<'a, CallOptions>, Request) {
        let said = SpanDescription::of(callee, params);
        let transport = spec.map(transport).unwrap_or_default();
        let mut counted = vec![KeyValue::new(METHOD, counted_method(said.method))];
        counted.extend(transport.first().cloned());
        let attributes = said.attributes.into_iter().chain(transport).collect();
        let span = telemetry.0.tracer.span_builder(said.name);
        let span = span.with_kind(SpanKind::Client).with_attributes::<Vec<KeyValue>>(attributes);
        let span = telemetry.0.tracer.build_with_context(span, &Context::current());
        let (mut params, mut options) = (Cow::Borrowed(params), Cow::Borrowed(options));
        let given = match (&said.meta, &options.meta) {
            (None, given) => Some(given.as_deref()),
            (Some(place), None) => Some(Some(&params[place.clone()])),
            // It is refused.
            (Some(_), Some(_)) => None,
        };
        if let Some(meta) = given.and_then(|given| joined(given, span.span_context())) {
            match said.meta {
                Some(place) => params.to_mut().replace_range(place, &meta),
                None => options.to_mut().meta = Some(meta),
            }
        }
        let (telemetry, began) = (telemetry.clone(), Instant::now());
        let is_tool = matches!(callee, Callee::Tool(_));
        let watched = RequestSpan { telemetry, span, began, is_tool, counted };
        (params, options, Request(Some(Box::new(watched))))
    }

    /// Tells its end, before `done` does.
    pub(crate) fn ending(
        self,
        done: impl FnOnce(Result<CallResult>) + Send + 'static,
    ) -> impl FnOnce(Result<CallResult>) + Send + 'static {
        move |result| {
            if let Some(watched) = self.0 {
                guarded(|| watched.end(&result));
            }
            done(result);
        }
    }
}

impl RequestSpan {
    fn end(mut self, result: &Result<CallResult>) {
        let failed = match result {
            Ok(result) if self.is_tool && result.is_error() => Some((TOOL_ERROR, None)),
            Ok(_) => None,
            Err(error) => Some((error.code().name(), code_of_server(error))),
        };
        if let Some((kind, code)) = failed {
            let told = code.clone().map_or(kind.into(), Cow::Owned);
            self.span.set_attribute(KeyValue::new(ERROR, told));
            if let Some(code) = code {
                self.span.set_attribute(KeyValue::new(STATUS_CODE, code));
            }
            // Servers write some of the words of errors.
            self.span.set_status(Status::error(""));
            self.counted.push(KeyValue::new(ERROR, kind));
        }
        self.span.end();
        self.telemetry.0.operations.record(self.began.elapsed().as_secs_f64(), &self.counted);
    }
}

/// The code of a JSON-RPC error: of these there are as many as servers make up.
fn code_of_server(error: &Error) -> Option<String> {
    let code = error.detail().get("code").filter(|_| error.code() == ErrorCode::ServerError)?;
    Some(code.to_string())
}

/// What a span says of its request from the beginning.
struct SpanDescription<'a> {
    method: &'a str,
    name: String,
    attributes: Vec<KeyValue>,
    /// Where in the params a `_meta` of their own is.
    meta: Option<Range<usize>>,
}

impl<'a> SpanDescription<'a> {
    fn of(callee: Callee<'a>, params: &str) -> SpanDescription<'a> {
        let (method, tool) = match callee {
            Callee::Tool(tool) => ("tools/call", Some(tool)),
            Callee::Method(method) => (method, None),
        };
        let mut attributes = vec![KeyValue::new(METHOD, cut(method).to_owned())];
        let of_tool = |tool| {
            let operation = KeyValue::new(OPERATION.0, OPERATION.1);
            ([operation, KeyValue::new(TOOL, cut(tool).to_owned())], tool)
        };
        if let Some((told, tool)) = tool.map(of_tool) {
            attributes.extend(told);
            return SpanDescription { method, name: named(method, tool), attributes, meta: None };
        }
        let members = members(params).unwrap_or_default();
        let text = |name| {
            members.get(name).and_then(|value: &&RawValue| {
                serde_json::from_str::<Cow<'_, str>>(value.get()).ok()
            })
        };
        let prompt = text("name").filter(|_| method == "prompts/get");
        if let Some(prompt) = &prompt {
            attributes.push(KeyValue::new(PROMPT, cut(prompt).to_owned()));
        }
        if let Some(uri) = text("uri").filter(|_| method.starts_with("resources/")) {
            attributes.push(KeyValue::new(RESOURCE, cut(&plain_address(&uri)).to_owned()));
        }
        let name = prompt.map_or_else(|| cut(method).to_owned(), |prompt| named(method, &prompt));
        let meta = members.get("_meta").map(|meta| {
            // A member is a part of the text that it was read from.
            let from = meta.get().as_ptr().addr() - params.as_ptr().addr();
            from..from + meta.get().len()
        });
        SpanDescription { method, name, attributes, meta }
    }
}

fn named(method: &str, target: &str) -> String {
    format!("{method} {}", cut(target))
}
