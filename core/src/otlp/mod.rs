//! Spans and metrics after OpenTelemetry's conventions for MCP, and their export by OTLP. Feature
//! `otlp`.
//!
//! A host makes one [`Telemetry`] and gives it to its pools. Each request of a session or lease
//! then is a span, a child of the host's current one. Its `traceparent` goes to the server in the
//! request's `_meta`; requests, connections and pools are counted. Where that goes is either an
//! address that takes OTLP over HTTP ([`Export`]), or what the host has of the crates
//! `opentelemetry` 0.33 ([`Telemetry::through`]).
//!
//! ```no_run
//! use std::time::Duration;
//! use trunkline::{Pool, PoolOptions};
//! use trunkline::otlp::{Export, Telemetry};
//!
//! # fn main() -> trunkline::Result<()> {
//! let telemetry = Telemetry::export(&Export::to("http://localhost:4318"))?;
//! let pool = Pool::with_telemetry(PoolOptions::default(), &telemetry)?;
//! // Its sessions' calls are told from here on.
//! # drop(pool);
//! telemetry.shutdown(Duration::from_secs(2))
//! # }
//! ```
//!
//! # What is told
//!
//! | | |
//! | --- | --- |
//! | span `tools/call NAME`, `prompts/get NAME`, or the method alone; kind `CLIENT` | `mcp.method.name`, `gen_ai.operation.name` (`execute_tool`), `gen_ai.tool.name`, `gen_ai.prompt.name`, `mcp.resource.uri`, `network.transport` (`pipe`, `tcp`, `unix`), `network.protocol.name` (`http`, `websocket`); of one that failed `error.type` and `rpc.response.status_code` |
//! | histogram `mcp.client.operation.duration`, seconds | `mcp.method.name` (`_OTHER` beyond those of tools, prompts, resources and completions), `network.transport`, `error.type` |
//! | histogram `mcp.client.session.duration`, seconds | one of each connection, when it ends: `network.transport`, `mcp.protocol.version`, `error.type` of one that was lost |
//! | counters `trunkline.call.errors`, `trunkline.sent`, `trunkline.received` (bytes) | `server`; errors also `error.type` |
//! | gauges `trunkline.servers`, `trunkline.server.up`, … | what [`Pool::metrics`](crate::Pool::metrics) has, summed over the pools that are open |
//!
//! `error.type` is the code of a JSON-RPC error (spans alone), `tool_error`, or
//! [`ErrorCode::name`](crate::ErrorCode::name). Nothing of arguments, results, headers or
//! environments is told, nor the words of errors, nor `mcp.session.id`, which is what lets a client
//! in; the address of a resource is told without user, password, query and fragment. A text is cut
//! after 1,024 bytes.
//!
//! # What goes wrong
//!
//! Telling never waits: at most 2,048 spans are kept for the exporter's thread, and what comes when
//! they are that many is lost. What a receiver refuses, or takes longer than [`Export::timeout`]
//! for, is lost too; the first of such losses is logged as a warning. Metrics are totals, so that
//! the next batch makes up for a lost one.
//!
//! `tracing-opentelemetry` needs a registry that the host installs. A trait that is always there
//! would be a look on the way of each call.

mod context;
mod export;
mod gauges;
mod request;
mod send;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry::global::BoxedTracer;
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider};
use opentelemetry::trace::{Tracer, TracerProvider};
use opentelemetry::{InstrumentationScope, KeyValue};
use serde_json::Value;
use trunkline_pool::config::{RemoteKind, ServerSpec, Transport};
use trunkline_pool::interface::telemetry::{
    BOUNDS, DurationRow, ERROR, OPERATIONS, PROTOCOL, REVISION, SCOPE, SESSIONS, TRANSPORT,
};
use trunkline_pool::options::CallOptions;
use trunkline_pool::state::LossReason;

pub use self::export::Export;
use self::export::Exporter;
use self::gauges::Pools;
pub(crate) use self::request::Request;
use crate::base::usage::CallEnd;
use crate::client::Callee;
use crate::{Result, platform};

/// What pools are watched with. Cheap to clone; all clones are one.
///
/// Usable from any thread. Pools keep it, so that it ends with the last of them and of its clones;
/// what an exporter has not sent by then is lost, unless [`shutdown`](Self::shutdown) came before.
#[derive(Clone)]
pub struct Telemetry(Arc<TelemetryState>);

struct TelemetryState {
    tracer: BoxedTracer,
    operations: Histogram<f64>,
    sessions: Histogram<f64>,
    errors: Counter<u64>,
    sent: Counter<u64>,
    received: Counter<u64>,
    /// The instruments that look at pools know them by this alone, and say nothing when it is gone.
    pools: Arc<Pools>,
    exporter: Option<Exporter>,
    fork_generation: u64,
}

impl Telemetry {
    /// Telemetry that is sent by OTLP over HTTP, in protobuf. It starts two threads, on which every
    /// signal is blocked; nothing is sent before there is something to tell, nor is the address
    /// looked up.
    ///
    /// # Errors
    /// `invalid_argument` for an endpoint or header that cannot be sent to or with,
    /// `connect_failed` when the platform's trusted roots cannot be read; `internal` when no thread
    /// can be started.
    pub fn export(to: &Export) -> Result<Telemetry> {
        let exporter = Exporter::start(to)?;
        let (tracers, meters) = (exporter.tracers.clone(), exporter.meters.clone());
        Ok(Telemetry::new(&tracers, &meters, Some(exporter)))
    }

    /// Telemetry that goes to the host's own providers. They stay the host's: it flushes them and
    /// shuts them down.
    ///
    /// Spans begin on the thread that starts a call, and mostly end on one of the library's, where
    /// nothing that a span passes may block: a processor that keeps them for a thread of its own,
    /// such as the SDK's for batches, does not.
    ///
    /// The global ones are `opentelemetry::global::tracer_provider()` and
    /// `opentelemetry::global::meter_provider()`.
    pub fn through<P>(tracers: &P, meters: &dyn MeterProvider) -> Telemetry
    where
        P: TracerProvider<Tracer: Tracer<Span: Send + Sync + 'static> + Send + Sync + 'static>,
    {
        Telemetry::new(tracers, meters, None)
    }

    fn new<P>(tracers: &P, meters: &dyn MeterProvider, exporter: Option<Exporter>) -> Telemetry
    where
        P: TracerProvider<Tracer: Tracer<Span: Send + Sync + 'static> + Send + Sync + 'static>,
    {
        let scope =
            InstrumentationScope::builder(SCOPE).with_version(env!("CARGO_PKG_VERSION")).build();
        let meter = meters.meter_with_scope(scope.clone());
        let pools = Arc::new(Pools::default());
        gauges::register(&meter, &pools);
        let counter = |name: &'static str, unit: &'static str, what: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(what).build()
        };
        Telemetry(Arc::new(TelemetryState {
            tracer: BoxedTracer::new(Box::new(tracers.tracer_with_scope(scope))),
            operations: seconds(&meter, OPERATIONS),
            sessions: seconds(&meter, SESSIONS),
            errors: counter("trunkline.call.errors", "{error}", "Calls that failed, by code."),
            sent: counter("trunkline.sent", "By", "Bytes of the params of calls."),
            received: counter("trunkline.received", "By", "Bytes of the results of calls."),
            pools,
            exporter,
            fork_generation: platform::fork_generation(),
        }))
    }

    /// Sends what waits, and ends the exporter: its threads, and whatever it has open. What is told
    /// later is lost.
    ///
    /// It blocks for `timeout` at most, or [five seconds](Self::SHUTDOWN_MAX), and then gives up
    /// what was not sent. Pools are closed before, so that their last calls and the length of their
    /// connections are told. Repeating it does nothing, and so does it in a forked child, or
    /// without an exporter of its own.
    ///
    /// # Errors
    /// `timeout` when some of it was not taken by then.
    pub fn shutdown(&self, timeout: Duration) -> Result<()> {
        let exporter = self.0.exporter.as_ref();
        exporter.map_or(Ok(()), |exporter| exporter.shutdown(timeout.min(Self::SHUTDOWN_MAX)))
    }

    /// What a pool that is made with it reports its requests to.
    pub(crate) fn observer(&self) -> Observer {
        Observer(Some(self.clone()))
    }

    /// Counts a pool among those that are looked at, by its status for as long as that is there.
    pub(crate) fn watch(&self, status: impl Fn() -> Option<Value> + Send + 'static) {
        self.0.pools.add(Box::new(status));
    }

    /// The longest that [`shutdown`](Self::shutdown) waits.
    pub const SHUTDOWN_MAX: Duration = Duration::from_secs(5);
}

/// The observer of a pool.
pub(crate) struct Observer(Option<Telemetry>);

/// A connection while it lasts.
pub(crate) struct Connected(Option<OpenConnection>);

struct OpenConnection {
    telemetry: Telemetry,
    began: Instant,
    counted: Vec<KeyValue>,
}

impl TelemetryState {
    fn count(&self, server: &str, ended: CallEnd) {
        let server = KeyValue::new("server", server.to_owned());
        match ended.came {
            Ok(received) => self.received.add(received as u64, std::slice::from_ref(&server)),
            Err(code) => {
                let kind = KeyValue::new(ERROR, code.name());
                self.errors.add(1, &[server.clone(), kind]);
            }
        }
        if ended.sent > 0 {
            self.sent.add(ended.sent as u64, &[server]);
        }
    }
}

impl Observer {
    /// Nobody.
    pub(crate) fn none() -> Observer {
        Observer(None)
    }

    /// Nothing in a forked child, where the holder of a lock of the providers is the parent's.
    fn telemetry(&self) -> Option<&Telemetry> {
        let is_here =
            |telemetry: &&Telemetry| telemetry.0.fork_generation == platform::fork_generation();
        self.0.as_ref().filter(is_here)
    }

    /// A request begins: with its params and options, which carry its trace, and what has to be
    /// told at its end. `spec` says where it goes, if that is known.
    pub(crate) fn request<'a>(
        &self,
        called: (Callee<'_>, &'a str),
        options: &'a CallOptions,
        spec: impl FnOnce() -> Option<Arc<ServerSpec>>,
    ) -> (Cow<'a, str>, Cow<'a, CallOptions>, Request) {
        let begin = |telemetry: &Telemetry| {
            guarded(|| Request::begin(telemetry, called, options, spec().as_deref()))
        };
        let begun = self.telemetry().and_then(begin);
        begun.unwrap_or_else(|| (called.1.into(), Cow::Borrowed(options), Request::default()))
    }

    /// A call has ended that had begun.
    pub(crate) fn count(&self, server: &str, ended: CallEnd) {
        if let Some(telemetry) = self.telemetry() {
            guarded(|| telemetry.0.count(server, ended));
        }
    }

    /// A connection has come about. It lasts until what this gives is dropped.
    pub(crate) fn connected(
        &self,
        spec: &ServerSpec,
        version: impl FnOnce() -> String,
    ) -> Connected {
        Connected(self.telemetry().cloned().map(|telemetry| {
            let mut counted: Vec<KeyValue> = transport(spec).into_iter().take(1).collect();
            counted.push(KeyValue::new(REVISION, context::cut(&version()).to_owned()));
            OpenConnection { telemetry, began: Instant::now(), counted }
        }))
    }
}

impl Connected {
    /// It was lost.
    pub(crate) fn lost(&mut self, reason: LossReason) {
        if let Some(open) = &mut self.0 {
            open.counted.push(KeyValue::new(ERROR, reason.as_str()));
        }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Some(OpenConnection { telemetry, began, counted }) = &self.0 {
            guarded(|| telemetry.0.sessions.record(began.elapsed().as_secs_f64(), counted));
        }
    }
}

/// Runs what a host's providers may have a part in: their panic ends here.
fn guarded<T>(told: impl FnOnce() -> T) -> Option<T> {
    let told = catch_unwind(AssertUnwindSafe(told));
    told.inspect_err(|_| tracing::error!("telemetry panicked")).ok()
}

/// What carries a server's messages, as the conventions name it: first the transport, then what is
/// spoken over it.
fn transport(spec: &ServerSpec) -> Vec<KeyValue> {
    let (transport, protocol) = match &spec.transport {
        Transport::Stdio(_) => ("pipe", None),
        Transport::Remote(remote) => {
            let protocol = match remote.kind {
                RemoteKind::Websocket => "websocket",
                _ => "http",
            };
            (if remote.socket_path.is_some() { "unix" } else { "tcp" }, Some(protocol))
        }
        // It is called within the process.
        _ => return Vec::new(),
    };
    let transport = KeyValue::new(TRANSPORT, transport);
    let protocol = protocol.map(|protocol| KeyValue::new(PROTOCOL, protocol));
    [transport].into_iter().chain(protocol).collect()
}

fn seconds(meter: &Meter, row: DurationRow) -> Histogram<f64> {
    meter
        .f64_histogram(row.name)
        .with_unit("s")
        .with_description(row.description)
        .with_boundaries(BOUNDS.to_vec())
        .build()
}
