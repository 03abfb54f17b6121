//! The exporter: batches of spans and metrics, by OTLP over HTTP.
//!
//! 1. Nothing of it runs on a host's thread but putting a span into a queue, and a shutdown.
//! 2. Once a shutdown has begun, whatever is sent ends by its deadline: a receiver that is silent
//!    holds nobody up.
//! 3. A shutdown leaves no thread and no descriptor; in a forked child it touches nothing.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use opentelemetry_otlp::{
    MetricExporter, Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::sync::watch;
use tokio::time::Instant;
use trunkline_pool::interface::words;
use url::Url;

use super::send::{Losses, Sender, Sending};
use crate::platform;
use crate::{Error, ErrorCode, Result};

/// Where telemetry is sent, and how.
///
/// What is not given here, the SDK takes from the environment, by the names that OpenTelemetry
/// gives: `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_EXPORTER_OTLP_HEADERS`,
/// `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_TRACES_SAMPLER` and their like.
#[derive(Clone)]
#[non_exhaustive]
pub struct Export {
    /// The address of a receiver, `http` or `https`, to which `/v1/traces` and `/v1/metrics` are
    /// added.
    pub endpoint: String,
    /// Headers of each request, such as a key of the receiver's. They are never shown.
    pub headers: Vec<(String, String)>,
    /// The host's name in what it tells (`service.name`).
    pub service: Option<String>,
    /// How long a receiver may take for one request; 10 seconds by default.
    pub timeout: Duration,
    /// How often metrics are sent; 60 seconds by default.
    pub metrics_every: Duration,
}

impl Export {
    /// To this address, with the defaults.
    pub fn to(endpoint: impl Into<String>) -> Export {
        Export {
            endpoint: endpoint.into(),
            headers: Vec::new(),
            service: None,
            timeout: Duration::from_secs(10),
            metrics_every: Duration::from_secs(60),
        }
    }

    /// The address of the receiver.
    ///
    /// # Errors
    /// `invalid_argument`.
    fn address(&self) -> Result<Url> {
        let refused = |why: &str| {
            let message = format!("the endpoint of telemetry {why}");
            Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "endpoint")
        };
        let url =
            Url::parse(&self.endpoint).map_err(|error| refused(&format!("is none: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("is neither of http nor of https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                refused("has a user in it").with_hint("what lets the host in goes into `headers`")
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("has a query or a fragment"));
        }
        Ok(url)
    }

    /// # Errors
    /// `invalid_argument` that names one that cannot be sent.
    fn header_map(&self) -> Result<HashMap<String, String>> {
        for (name, value) in &self.headers {
            let is_name = name.parse::<http::HeaderName>().is_ok();
            if !is_name || value.parse::<http::HeaderValue>().is_err() {
                let message = "a header of telemetry cannot be sent";
                let error = Error::new(ErrorCode::InvalidArgument, message);
                return Err(error.with_detail("path", "headers"));
            }
        }
        Ok(self.headers.iter().cloned().collect())
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Export { headers, service, timeout, metrics_every, .. } = self;
        f.debug_struct("Export")
            .field("endpoint", &"[redacted]")
            .field("headers", &format_args!("[{} redacted]", headers.len()))
            .field("service", service)
            .field("timeout", timeout)
            .field("metrics_every", metrics_every)
            .finish()
    }
}

/// The providers of a pool's telemetry, and their end.
pub(super) struct Exporter {
    pub(super) tracers: SdkTracerProvider,
    pub(super) meters: SdkMeterProvider,
    /// When sending has to end.
    deadline: watch::Sender<Option<Instant>>,
    losses: Arc<Losses>,
    fork_generation: u64,
}

impl Exporter {
    pub(super) fn start(to: &Export) -> Result<Exporter> {
        let (to, deadline) = (to.clone(), watch::Sender::new(None));
        let losses = Arc::new(Losses::default());
        let told = (deadline.subscribe(), losses.clone());
        // Threads that are started there begin with every signal blocked.
        let made = std::thread::Builder::new().name("trunkline".into()).spawn(move || {
            platform::block_all_signals();
            providers(&to, told)
        });
        let made = made.map_err(|error| internal(&error))?;
        let (tracers, meters) = made.join().map_err(|_| internal(&"its set-up panicked"))??;
        let fork_generation = platform::fork_generation();
        Ok(Exporter { tracers, meters, deadline, losses, fork_generation })
    }

    /// Sends what waits, and ends everything by then.
    pub(super) fn shutdown(&self, timeout: Duration) -> Result<()> {
        if self.is_forked() {
            return Ok(());
        }
        let is_first = self.deadline.send_if_modified(|deadline| {
            let is_first = deadline.is_none();
            deadline.get_or_insert(Instant::now() + timeout);
            is_first
        });
        if !is_first {
            return Ok(());
        }
        let lost_before = self.losses.count.load(Ordering::Relaxed);
        // What is under way ends by the deadline, so that neither waits longer.
        let spans = self.tracers.shutdown_with_timeout(timeout + MARGIN);
        let metrics = self.meters.shutdown_with_timeout(timeout + MARGIN);
        let lost = self.losses.count.load(Ordering::Relaxed) - lost_before;
        if spans.is_ok() && metrics.is_ok() && lost == 0 {
            return Ok(());
        }
        let message = "the rest of the telemetry was not taken in time";
        Err(Error::new(ErrorCode::Timeout, message)
            .with_detail("which", words::deadline::TOTAL)
            .with_hint("check that the collector answers at the endpoint, or give it more time"))
    }

    fn is_forked(&self) -> bool {
        self.fork_generation != platform::fork_generation()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if self.is_forked() {
            // The threads that their own ends would wait for are the parent's.
            std::mem::forget((self.tracers.clone(), self.meters.clone()));
            return;
        }
        // Whose thread this is, nobody knows: it must not wait for a receiver.
        let _ = self.shutdown(Duration::ZERO);
    }
}

/// For the threads to find that the deadline is over.
const MARGIN: Duration = Duration::from_millis(500);

/// The two providers, each with a thread of its own.
fn providers(
    to: &Export,
    (deadline, losses): (watch::Receiver<Option<Instant>>, Arc<Losses>),
) -> Result<(SdkTracerProvider, SdkMeterProvider)> {
    let address = to.address()?;
    let of_kind = |kind: &str| format!("{}/v1/{kind}", address.as_str().trim_end_matches('/'));
    let headers = to.header_map()?;
    let sender = Sender(Arc::new(Sending::new((to, &address), deadline, losses)?));
    let spans = SpanExporter::builder()
        .with_http()
        .with_endpoint(of_kind("traces"))
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(to.timeout)
        .with_headers(headers.clone())
        .with_retry_policy(RetryPolicy::disabled())
        .with_http_client(sender.clone())
        .build()
        .map_err(|error| unusable(&error))?;
    let numbers = MetricExporter::builder()
        .with_http()
        .with_endpoint(of_kind("metrics"))
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(to.timeout)
        .with_headers(headers)
        .with_retry_policy(RetryPolicy::disabled())
        .with_http_client(sender)
        .build()
        .map_err(|error| unusable(&error))?;
    let mut resource = Resource::builder();
    if let Some(service) = &to.service {
        resource = resource.with_service_name(service.clone());
    }
    let resource = resource.build();
    let reader = PeriodicReader::builder(numbers).with_interval(to.metrics_every).build();
    let tracers = SdkTracerProvider::builder().with_batch_exporter(spans);
    let meters = SdkMeterProvider::builder().with_reader(reader);
    Ok((tracers.with_resource(resource.clone()).build(), meters.with_resource(resource).build()))
}

pub(super) fn internal(why: &dyn fmt::Display) -> Error {
    Error::new(ErrorCode::Internal, format!("starting the exporter of telemetry: {why}"))
}

fn unusable(why: &dyn fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidArgument, format!("the exporter of telemetry: {why}"))
}
