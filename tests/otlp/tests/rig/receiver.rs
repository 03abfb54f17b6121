//! A receiver of OTLP on loopback: takes what is sent over HTTP, and decodes it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::HANG;

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// As it should.
    Well,
    /// With a status that takes nothing.
    Refused,
    /// Never; it keeps the connection.
    Silent,
}

/// What came, and who waits for it.
pub struct Receiver {
    address: SocketAddr,
    inner: Arc<(Mutex<Inner>, Condvar)>,
}

#[derive(Default)]
struct Inner {
    told: Told,
    /// The connections of a silent one.
    kept: Vec<TcpStream>,
}

/// Everything that was told.
#[derive(Clone, Default)]
pub struct Told {
    /// Every request as it came, head and body, also those that were not taken.
    pub raw: Vec<Vec<u8>>,
    /// In the order in which they ended.
    pub spans: Vec<Span>,
    /// By name, as they were told last.
    pub metrics: BTreeMap<String, Metric>,
    /// The name of the host.
    pub service: Option<String>,
}

impl Receiver {
    /// One that answers so, for as long as the process lives.
    pub fn start(answers: Answers) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let inner: Arc<(Mutex<Inner>, Condvar)> = Arc::default();
        let shared = inner.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream, answers, &shared));
            }
        });
        Receiver { address, inner }
    }

    /// Where it is.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came, once it is enough.
    pub fn told_once(&self, is_enough: impl Fn(&Told) -> bool) -> Told {
        let (lock, changed) = &*self.inner;
        let waited =
            changed.wait_timeout_while(lock.lock().unwrap(), HANG, |inner| !is_enough(&inner.told));
        let (inner, over) = waited.unwrap();
        assert!(!over.timed_out(), "{:?}", inner.told.spans);
        inner.told.clone()
    }

    /// What came so far.
    pub fn told(&self) -> Told {
        self.told_once(|_| true)
    }
}

fn serve(mut stream: TcpStream, answers: Answers, (lock, changed): &(Mutex<Inner>, Condvar)) {
    let Some(raw) = request(&stream) else { return };
    let mut inner: MutexGuard<'_, Inner> = lock.lock().unwrap();
    inner.told.raw.push(raw.clone());
    match answers {
        Answers::Well => {
            inner.told.take(&raw);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n";
            let _ = write!(stream, "{head}content-length: 0\r\nconnection: close\r\n\r\n");
        }
        Answers::Refused => {
            let head = "HTTP/1.1 503 No\r\n";
            let _ = write!(stream, "{head}content-length: 0\r\nconnection: close\r\n\r\n");
        }
        Answers::Silent => inner.kept.push(stream),
    }
    changed.notify_all();
}

/// The head and the body.
fn request(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).ok()? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    Some([head.into_bytes(), body].concat())
}

impl Told {
    fn take(&mut self, raw: &[u8]) {
        let place = raw.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        let (head, body) = (String::from_utf8_lossy(&raw[..place]), &raw[place + 4..]);
        if head.starts_with("POST /v1/traces ") {
            for resource in ExportTraceServiceRequest::decode(body).unwrap().resource_spans {
                let attributes = resource.resource.unwrap().attributes;
                self.service = texts(&attributes).remove("service.name");
                self.spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        } else {
            assert!(head.starts_with("POST /v1/metrics "), "{head}");
            for resource in ExportMetricsServiceRequest::decode(body).unwrap().resource_metrics {
                let metrics = resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics);
                self.metrics.extend(metrics.map(|metric| (metric.name.clone(), metric)));
            }
        }
    }

    /// The span of that name.
    pub fn span(&self, name: &str) -> &Span {
        let found: Vec<&Span> = self.spans.iter().filter(|span| span.name == name).collect();
        assert_eq!(found.len(), 1, "{name}: {:?}", self.spans);
        found[0]
    }

    /// The numbers of a metric by their attributes: `name=value`, in the order of names. Of a
    /// histogram it is how many there are.
    pub fn numbers(&self, name: &str) -> BTreeMap<String, f64> {
        let Some(metric) = self.metrics.get(name) else { return BTreeMap::new() };
        let row = |attributes: &[KeyValue], value| (joined(attributes), value);
        match metric.data.as_ref().unwrap() {
            Data::Gauge(gauge) => gauge
                .data_points
                .iter()
                .map(|point| row(&point.attributes, number(point.value)))
                .collect(),
            Data::Sum(sum) => {
                assert!(sum.is_monotonic, "{name}");
                sum.data_points
                    .iter()
                    .map(|point| row(&point.attributes, number(point.value)))
                    .collect()
            }
            Data::Histogram(histogram) => {
                let points = histogram.data_points.iter();
                points.map(|point| row(&point.attributes, point.count as f64)).collect()
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

fn number(value: Option<number_data_point::Value>) -> f64 {
    match value.unwrap() {
        number_data_point::Value::AsDouble(value) => value,
        number_data_point::Value::AsInt(value) => value as f64,
    }
}

fn joined(attributes: &[KeyValue]) -> String {
    let texts: Vec<String> =
        texts(attributes).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    texts.join(" ")
}

/// Attributes by name.
pub fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().unwrap().value.as_ref() {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        other => panic!("{}: {other:?}", attribute.key),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}
