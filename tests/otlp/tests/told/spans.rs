//! Spans: one of each request, whatever becomes of it, in the trace of the host.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::rig::{Answers, HANG, Receiver, Rig, call, host, testserver, texts};
use opentelemetry::Context;
use opentelemetry::trace::{
    FutureExt, SpanContext, SpanId, SpanKind, TraceContextExt, TraceFlags, TraceId, TraceState,
};
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use serde_json::{Value, json};
use trunkline::otlp::{Export, Telemetry};
use trunkline::{
    AcquireOptions, CallOptions, ErrorCode, HostConnection, HostServer, Lease, Session,
    SessionOptions,
};

/// The host's own span.
fn current(state: &str) -> Context {
    let (trace, id) = (TraceId::from(0x4bf9_2f35), SpanId::from(0xf067));
    let state = state.parse::<TraceState>().unwrap();
    let span = SpanContext::new(trace, id, TraceFlags::SAMPLED, true, state);
    Context::new().with_remote_span_context(span)
}

/// What a span says, beside its ids and times.
fn said(span: &Span) -> (String, BTreeMap<String, String>, bool) {
    let has_failed = span.status.as_ref().is_some_and(|status| {
        assert_eq!(status.message, "");
        status.code == StatusCode::Error as i32
    });
    assert_eq!(span.kind, 3, "CLIENT");
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano && span.events.is_empty());
    (span.name.clone(), texts(&span.attributes), has_failed)
}

fn expected(name: &str, attributes: Value) -> (String, BTreeMap<String, String>, bool) {
    let of_tool = name.strip_prefix("tools/call ");
    let mut all = BTreeMap::from([("network.transport".to_owned(), "pipe".to_owned())]);
    all.insert("mcp.method.name".into(), name.split(' ').next().unwrap().into());
    if let Some(tool) = of_tool {
        all.insert("gen_ai.operation.name".into(), "execute_tool".into());
        all.insert("gen_ai.tool.name".into(), tool.into());
    }
    for (name, value) in attributes.as_object().unwrap() {
        match value.as_str() {
            Some(text) => all.insert(name.clone(), text.into()),
            None => all.remove(name),
        };
    }
    let has_failed = all.contains_key("error.type");
    (name.into(), all, has_failed)
}

/// Requests of every kind, and of every end that does not need a time of its own.
async fn all_kinds(session: &Session, lease: &Lease) {
    let options = CallOptions::default();
    assert!(call(lease, "echo", json!({ "message": "hi" })).await.is_ok());
    assert!(call(lease, "fail", json!({ "text": "said" })).await.unwrap().is_error());
    let error = json!({ "code": -32042, "message": "said" });
    let code = call(lease, "error", error).await.map(drop).map_err(|error| error.code());
    assert_eq!(code, Err(ErrorCode::ServerError));
    assert!(call(lease, "no_such", json!({})).await.is_err());
    let exposed = session.call_tool("mcp__s__add", r#"{"a":1,"b":2}"#, &options);
    assert!(exposed.await.is_ok());
    assert!(session.call_tool("mcp__none__x", "{}", &options).await.is_err());
    assert!(session.call_tool("mcp__s__echo", "no JSON", &options).await.is_err());
    assert!(lease.request("ping", "{}", &options).await.is_ok());
    // The server has no such prompt or resource: the news of them come from the request.
    let _ = lease.request("prompts/get", r#"{"name":"p q","_meta":{"own":1}}"#, &options).await;
    let _ = lease.read_resource("https://user:pass@host/a?b=c#d", &options).await;
}

#[test]
fn each_request_is_a_span_below_that_of_the_host() {
    let receiver = Receiver::start(Answers::Well);
    host(async {
        let mut to = Export::to(receiver.endpoint());
        to.service = Some("my-agent".into());
        let rig = Rig::with(&to);
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        all_kinds(&session, &lease).with_context(current("")).await;
        drop(lease);
        rig.end().await;
    });
    let told = receiver.told();
    assert_eq!(told.service.as_deref(), Some("my-agent"));
    for span in &told.spans {
        assert_eq!(span.parent_span_id, SpanId::from(0xf067).to_bytes(), "{span:?}");
        assert_eq!(span.trace_id, TraceId::from(0x4bf9_2f35).to_bytes());
    }
    let mut all: Vec<_> = told.spans.iter().map(said).collect();
    let resource = all.pop().unwrap();
    let prompt = all.pop().unwrap();
    let failed = |code: &str| json!({ "error.type": code });
    assert_eq!(
        all,
        [
            expected("tools/call echo", json!({})),
            expected("tools/call fail", failed("tool_error")),
            expected(
                "tools/call error",
                json!({ "error.type": "-32042", "rpc.response.status_code": "-32042" })
            ),
            expected("tools/call no_such", failed("tool_not_found")),
            expected("tools/call mcp__s__add", json!({})),
            expected(
                "tools/call mcp__none__x",
                json!({ "error.type": "tool_not_found", "network.transport": null })
            ),
            expected("tools/call mcp__s__echo", failed("invalid_argument")),
            expected("ping", json!({})),
        ]
    );
    assert_eq!(prompt.1["error.type"], "-32602");
    assert_eq!((&*prompt.0, &*prompt.1["gen_ai.prompt.name"]), ("prompts/get p q", "p q"));
    assert_eq!(
        (&*resource.0, &*resource.1["mcp.resource.uri"]),
        ("resources/read", "https://host/a")
    );
}

/// Two ends that a host does not wait for the server with.
#[test]
fn a_call_that_is_over_before_its_answer_is_a_span_of_its_time() {
    let receiver = Receiver::start(Answers::Well);
    host(async {
        let rig = Rig::new(&receiver);
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        let mut options = CallOptions::default();
        options.timeout = Some(Duration::from_millis(30));
        let late = lease.call_tool("sleep", r#"{"ms":60000}"#, &options).await;
        assert_eq!(late.map(drop).map_err(|error| error.code()), Err(ErrorCode::Timeout));
        let (send, ended) = channel();
        let exposed = "mcp__s__sleep";
        let options = CallOptions::default();
        let started =
            session.start_call_tool(exposed, r#"{"ms":60000}"#, &options, move |result| {
                let _ = send.send(result.map(drop).map_err(|error| error.code()));
            });
        started.cancel();
        assert_eq!(ended.recv_timeout(HANG).unwrap(), Err(ErrorCode::Cancelled));
        // A future that is dropped: it has begun once it was polled.
        let call = call(&lease, "block", json!({ "ms": 500 }));
        assert!(tokio::time::timeout(Duration::from_millis(1), call).await.is_err());
        rig.end().await;
    });
    let told = receiver.told();
    let late = told.span("tools/call sleep");
    assert_eq!(said(late), expected("tools/call sleep", json!({ "error.type": "timeout" })));
    assert!(late.end_time_unix_nano - late.start_time_unix_nano >= 30_000_000);
    assert!(late.parent_span_id.is_empty());
    for name in ["tools/call mcp__s__sleep", "tools/call block"] {
        let cancelled = expected(name, json!({ "error.type": "cancelled" }));
        assert_eq!(said(told.span(name)), cancelled);
    }
}

/// The `_meta` that the server saw.
async fn seen(lease: &Lease, meta: Option<&str>) -> Value {
    let mut options = CallOptions::default();
    options.meta = meta.map(str::to_owned);
    let result = lease.call_tool("meta", "{}", &options).await.unwrap();
    let result: Value = serde_json::from_str(result.json()).unwrap();
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

/// A span, as the server hears of it.
fn parent(span: &Span) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id))
}

#[test]
fn the_server_sees_the_span_of_its_call_unless_the_host_says_otherwise() {
    let receiver = Receiver::start(Answers::Well);
    let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (plain, mine, with_state, with_own_state, given) = host(async {
        let rig = Rig::new(&receiver);
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        let plain = seen(&lease, None).await;
        let mine = seen(&lease, Some(r#" {"k":1} "#)).await;
        let with_state = seen(&lease, Some("{}")).with_context(current("a=b")).await;
        let state = r#"{"tracestate":"own=1"}"#;
        let with_own_state = seen(&lease, Some(state)).with_context(current("a=b")).await;
        let given = seen(&lease, Some(&json!({ "traceparent": own }).to_string())).await;
        // What cannot be sent is refused as ever.
        let mut options = CallOptions::default();
        options.meta = Some("[1]".into());
        let refused = lease.call_tool("meta", "{}", &options).await.unwrap_err();
        assert_eq!(refused.detail()["path"], "meta");
        rig.end().await;
        (plain, mine, with_state, with_own_state, given)
    });
    let spans = receiver.told().spans;
    let parent = |number: usize| parent(&spans[number]);
    assert_eq!(plain, json!({ "traceparent": parent(0) }));
    assert_eq!(mine, json!({ "traceparent": parent(1), "k": 1 }));
    assert_eq!(with_state, json!({ "traceparent": parent(2), "tracestate": "a=b" }));
    assert_eq!(with_own_state, json!({ "traceparent": parent(3), "tracestate": "own=1" }));
    assert_eq!(given, json!({ "traceparent": own }));
    assert_eq!(spans.len(), 6);
}

/// A server of the host's own, whose answer to what it does not know is what it was sent.
struct AnswersParams;

impl HostServer for AnswersParams {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        let message: Value = serde_json::from_str(frame).unwrap();
        let Some(id) = message.get("id") else { return };
        let result = match message["method"].as_str() {
            Some("initialize") => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "own", "version": "1" } })
            }
            Some("tools/list") => {
                json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] })
            }
            _ => message["params"].clone(),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        connection.send(&answer.to_string()).unwrap();
    }
}

#[test]
fn the_trace_joins_the_meta_that_stands_in_params() {
    let receiver = Receiver::start(Answers::Well);
    let own = json!({ "_meta": { "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" } });
    let mine = host(async {
        let rig = Rig::new(&receiver);
        let session = rig.session("a").await;
        session.provide("own", AnswersParams).unwrap();
        let lease = session.acquire("own", None, &AcquireOptions::default()).await.unwrap();
        let mut options = CallOptions::default();
        let sent = async |params: &str, options: &CallOptions| -> Value {
            let answer = lease.request("x/y", params, options).await.unwrap();
            serde_json::from_str(answer.json()).unwrap()
        };
        let mine = sent(r#"{ "_meta" : {"m": 1} ,"k":1}"#, &options).await;
        assert_eq!(sent(&own.to_string(), &options).await, own);
        // What can be no `_meta` is the server's to refuse, and twice stays once too often, as
        // without a trace.
        assert_eq!(sent(r#"{"_meta":null}"#, &options).await, json!({ "_meta": null }));
        options.meta = Some("{}".into());
        let refused = lease.request("x/y", &own.to_string(), &options).await.unwrap_err();
        assert_eq!(refused.detail()["path"], "meta");
        drop(lease);
        rig.end().await;
        mine
    });
    let parent = parent(&receiver.told().spans[0]);
    assert_eq!(mine, json!({ "_meta": { "traceparent": parent, "m": 1 }, "k": 1 }));
}

/// SPEC 14.1: it waits, and then is a call as any other.
#[test]
fn a_call_that_waits_for_its_server_is_one_span() {
    let receiver = Receiver::start(Answers::Well);
    host(async {
        let rig = Rig::new(&receiver);
        rig.configure(json!({ "s": { "command": testserver(), "start": "lazy" } })).await;
        let session = rig.pool.session(SessionOptions::new("a")).unwrap();
        session.ready(Some("s"), None).await.unwrap();
        let called = session.call_tool("mcp__s__pid", "{}", &CallOptions::default()).await;
        called.unwrap();
        rig.end().await;
    });
    let told = receiver.told();
    assert_eq!(told.spans.len(), 1);
    assert_eq!(said(&told.spans[0]), expected("tools/call mcp__s__pid", json!({})));
}

#[test]
fn an_address_is_told_without_its_user_and_what_is_asked_for_and_no_text_is_endless() {
    let receiver = Receiver::start(Answers::Well);
    let addresses = [
        ("https://a@b@host:8/a?token=1", "https://host:8/a"),
        ("https://a@b@host:8/a@b?token=1", "https://"),
        ("postgres://u@db/t#x", "postgres://db/t"),
        ("file:///home/a@b", "file:///home/a@b"),
        ("//u:p@host", "//host"),
        ("memo:a@b?c", "memo:"),
    ];
    let long = "é".repeat(1_000);
    host(async {
        let rig = Rig::new(&receiver);
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        for (address, _) in addresses {
            let _ = lease.read_resource(address, &CallOptions::default()).await;
        }
        assert!(call(&lease, &long, json!({})).await.is_err());
        drop(lease);
        rig.end().await;
    });
    let mut spans = receiver.told().spans;
    let of_tool = texts(&spans.pop().unwrap().attributes);
    assert_eq!(of_tool["gen_ai.tool.name"], "é".repeat(512));
    let told = spans.iter().map(|span| texts(&span.attributes)["mcp.resource.uri"].clone());
    assert_eq!(told.collect::<Vec<_>>(), addresses.map(|(_, told)| told));
}

/// A provider's exporter that keeps what it gets, and panics at a name.
#[derive(Clone, Debug, Default)]
struct Kept(std::sync::Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        assert!(
            batch.iter().all(|span| span.name != "tools/call add"),
            "a fault of the host's own"
        );
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

#[test]
fn a_host_may_have_providers_of_its_own() {
    let kept = Kept::default();
    let tracers = SdkTracerProvider::builder().with_simple_exporter(kept.clone()).build();
    let telemetry = Telemetry::through(&tracers, &SdkMeterProvider::default());
    let rig = Rig::watched(telemetry.clone());
    let meta = host(async {
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        let meta = seen(&lease, None).with_context(current("")).await;
        rig.end().await;
        meta
    });
    let spans = kept.0.lock().unwrap();
    assert_eq!((spans.len(), &*spans[0].name), (1, "tools/call meta"));
    assert_eq!(
        (&spans[0].span_kind, spans[0].parent_span_id),
        (&SpanKind::Client, SpanId::from(0xf067))
    );
    let id = spans[0].span_context.span_id();
    assert!(meta["traceparent"].as_str().unwrap().contains(&id.to_string()), "{meta}");
    // It is not the library's to shut down.
    assert!(tracers.force_flush().is_ok() && tracers.shutdown().is_ok());
}

#[test]
fn a_fault_of_the_host_spoils_no_call() {
    let tracers = SdkTracerProvider::builder().with_simple_exporter(Kept::default()).build();
    let rig = Rig::watched(Telemetry::through(&tracers, &SdkMeterProvider::default()));
    host(async {
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        assert!(call(&lease, "add", json!({ "a": 1, "b": 2 })).await.is_ok());
        drop(lease);
        rig.end().await;
    });
}
