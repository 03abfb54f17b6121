//! What stands before a server: a firewall that lets nobody in who does not say what it is, and a
//! balancer that knows its own by a cookie.

use std::collections::BTreeSet;
use std::io::Result;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::exchange::{Request, respond};
use super::faults::Faults;
use super::front::Front;
use crate::slow::lock;

/// What the cookies of the balancer are called.
const COOKIE: &str = "AWSALB=";

#[derive(Default)]
pub struct Wall {
    numbers: AtomicU64,
    /// What the cookies may be now, one for each connection.
    nodes: Mutex<BTreeSet<String>>,
}

impl Wall {
    /// What is answered in the server's place. A person who signs in comes with a program of their
    /// own.
    pub fn refuse(
        &self,
        front: &Front,
        request: &Request,
        out: &mut TcpStream,
    ) -> Option<Result<()>> {
        if front.fixtures.is_some() && is_foreign(request) {
            return Some(respond(out, "403 Forbidden", &[], b""));
        }
        let faults = &front.faults;
        let is_ours =
            request.header("user-agent").is_some_and(|name| name.starts_with("trunkline/"));
        if faults.has("needs-agent") && !is_ours && !request.path.starts_with("/authorize") {
            let page = b"<html><h1>Access denied</h1></html>";
            return Some(respond(out, "403 Forbidden", &["content-type: text/html".into()], page));
        }
        let is_known = !faults.has("cookie") || self.knows(request);
        (!is_known).then(|| respond(out, "404 Not Found", &[], b""))
    }

    /// The first request has no cookie, which would be another connection's; each later one has the
    /// newest.
    fn knows(&self, request: &Request) -> bool {
        let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let brought: Vec<&str> = brought(request).collect();
        match (body["method"].as_str(), &brought[..]) {
            (Some("initialize" | "server/discover"), brought) => brought.is_empty(),
            (_, [node]) => lock(&self.nodes).contains(*node),
            _ => false,
        }
    }

    /// What the answer to a handshake sets, and the answer to a call sets anew.
    pub fn cookies(&self, faults: &Faults, request: &Request, method: &str) -> Vec<String> {
        if !faults.has("cookie") || !["initialize", "tools/call"].contains(&method) {
            return Vec::new();
        }
        let node = format!("n{}", self.numbers.fetch_add(1, Ordering::SeqCst));
        let mut nodes = lock(&self.nodes);
        let old: Vec<&str> = brought(request).collect();
        nodes.retain(|node| !old.contains(&node.as_str()));
        nodes.insert(node.clone());
        let ends = "Expires=Fri, 01 Jan 2100 00:00:00 GMT";
        vec![
            format!("set-cookie: {COOKIE}{node}; Path=/; {ends}"),
            format!("set-cookie: AWSALBCORS={node}; Path=/; {ends}; Secure; SameSite=None"),
            format!("set-cookie: {COOKIE}elsewhere; Path=/other"),
        ]
    }
}

fn brought(request: &Request) -> impl Iterator<Item = &str> {
    let cookies = request.header("cookie").unwrap_or_default().split(';');
    cookies.filter_map(|cookie| cookie.trim().strip_prefix(COOKIE))
}

/// Whether a request names another machine, or comes from a page of one.
fn is_foreign(request: &Request) -> bool {
    let origin = request.header("origin").and_then(|origin| origin.split("://").last());
    let hosts = [request.header("host"), origin];
    hosts.into_iter().flatten().any(|host| !is_loopback(host))
}

/// Whether a name, with a port or without, is one of this machine.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}
