//! Metrics: durations, counters and gauges.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::rig::{Answers, Receiver, Rig, Told, call, host, testserver};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use serde_json::json;
use trunkline::otlp::{Export, Telemetry};
use trunkline::{CallOptions, EventMask, SessionOptions, StatusOptions};

fn numbers<const N: usize>(rows: [(&str, f64); N]) -> BTreeMap<String, f64> {
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The bounds of the conventions.
const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

fn assert_seconds(told: &Told, name: &str) {
    let metric = &told.metrics[name];
    assert_eq!(metric.unit, "s");
    let Some(Data::Histogram(histogram)) = &metric.data else { panic!("{metric:?}") };
    histogram.data_points.iter().for_each(|point| assert_eq!(point.explicit_bounds, BOUNDS));
}

#[test]
fn durations_tell_few_things_apart_and_counters_are_those_of_the_status() {
    let receiver = Receiver::start(Answers::Well);
    let usage = host(async {
        let rig = Rig::new(&receiver);
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        assert!(call(&lease, "echo", json!({ "message": "hi" })).await.is_ok());
        assert!(call(&lease, "echo", json!({ "message": "ho" })).await.is_ok());
        assert!(call(&lease, "fail", json!({})).await.is_ok());
        assert!(call(&lease, "error", json!({ "code": -7 })).await.is_err());
        assert!(call(&lease, "no_such", json!({})).await.is_err());
        assert!(lease.request("ping", "{}", &CallOptions::default()).await.is_ok());
        let usage = rig.pool.status()["servers"]["s"]["usage"].clone();
        drop(lease);
        rig.end().await;
        usage
    });
    let told = receiver.told();
    let operations = numbers([
        ("mcp.method.name=tools/call network.transport=pipe", 2.0),
        ("error.type=tool_error mcp.method.name=tools/call network.transport=pipe", 1.0),
        ("error.type=server_error mcp.method.name=tools/call network.transport=pipe", 1.0),
        ("error.type=tool_not_found mcp.method.name=tools/call network.transport=pipe", 1.0),
        ("mcp.method.name=_OTHER network.transport=pipe", 1.0),
    ]);
    assert_eq!(told.numbers("mcp.client.operation.duration"), operations);
    assert_seconds(&told, "mcp.client.operation.duration");
    assert_seconds(&told, "mcp.client.session.duration");
    let errors = numbers([("error.type=server_error server=s", 1.0)]);
    assert_eq!(told.numbers("trunkline.call.errors"), errors);
    for (name, member) in
        [("trunkline.sent", "bytes_sent"), ("trunkline.received", "bytes_received")]
    {
        let bytes = usage[member].as_f64().unwrap();
        assert!(bytes > 0.0);
        assert_eq!(told.numbers(name), numbers([("server=s", bytes)]));
        assert_eq!(told.metrics[name].unit, "By");
    }
}

#[test]
fn a_connection_is_told_when_it_ends_and_why_when_it_was_lost() {
    let receiver = Receiver::start(Answers::Well);
    host(async {
        let rig = Rig::new(&receiver);
        let session = rig.session("a").await;
        let events = session.subscribe(EventMask::ALL).unwrap();
        let lease = rig.lease(&session).await;
        assert!(call(&lease, "crash", json!({})).await.is_err());
        while events.next().await.is_some_and(|event| !event.json().contains("\"reconnected\"")) {}
        drop(lease);
        rig.end().await;
    });
    let sessions = receiver.told().numbers("mcp.client.session.duration");
    let sessions: Vec<(&str, f64)> =
        sessions.iter().map(|(name, count)| (&**name, *count)).collect();
    let (closed, lost) = (sessions[1], sessions[0]);
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    assert!(closed.0.starts_with("mcp.protocol.version=20"), "{sessions:?}");
    assert!(closed.0.ends_with(" network.transport=pipe"), "{sessions:?}");
    assert_eq!(lost.0, format!("error.type=transport_closed {}", closed.0));
    assert_eq!((closed.1, lost.1), (1.0, 1.0));
}

/// A server that is reached over the network.
struct Remote(Child);

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_remote_server_is_told_by_its_transport() {
    let mut command = Command::new(testserver());
    command.args(["--http", "0"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut remote = Remote(command.spawn().unwrap());
    let mut url = String::new();
    BufReader::new(remote.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let receiver = Receiver::start(Answers::Well);
    host(async {
        let rig = Rig::new(&receiver);
        rig.configure(json!({ "s": { "url": url.trim() } })).await;
        let session = rig.pool.session(SessionOptions::new("a")).unwrap();
        session.ready(Some("s"), None).await.unwrap();
        let lease = rig.lease(&session).await;
        assert!(call(&lease, "pid", json!({})).await.is_ok());
        drop(lease);
        rig.end().await;
    });
    let told = receiver.told();
    let attributes = crate::rig::texts(&told.span("tools/call pid").attributes);
    assert_eq!(attributes["network.transport"], "tcp");
    assert_eq!(attributes["network.protocol.name"], "http");
    let counted = "mcp.method.name=tools/call network.transport=tcp";
    assert_eq!(told.numbers("mcp.client.operation.duration"), numbers([(counted, 1.0)]));
    assert_eq!(told.numbers("mcp.client.session.duration").len(), 1);
}

#[test]
fn gauges_are_the_numbers_of_the_page_over_all_pools_that_are_open() {
    let receiver = Receiver::start(Answers::Well);
    let mut to = Export::to(receiver.endpoint());
    to.metrics_every = Duration::from_millis(50);
    let telemetry = Telemetry::export(&to).unwrap();
    let (one, other) = (Rig::watched(telemetry.clone()), Rig::watched(telemetry.clone()));
    host(async {
        let (session, more) = (one.session("a").await, other.session("a").await);
        let both =
            |told: &Told| told.numbers("trunkline.server.up") == numbers([("server=s", 2.0)]);
        let told = receiver.told_once(both);
        let servers = told.numbers("trunkline.servers");
        assert_eq!((servers["state=connected"], servers["state=failed"]), (2.0, 0.0));
        let page = one.pool.metrics(&StatusOptions::default()).unwrap();
        for line in page.lines().filter(|line| line.starts_with("# TYPE")) {
            let [_, _, name, kind] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let is_told = told.metrics.keys().any(|told| told.replace('.', "_") == name);
            assert_eq!(is_told, kind == "gauge", "{line}");
        }
        // A pool that is gone is summed no more.
        other.pool.close().await.unwrap();
        drop((more, other));
        receiver.told_once(|told| told.numbers("trunkline.sessions") == numbers([("", 1.0)]));
        drop(session);
        one.end().await;
    });
}
