//! Whose answer a line of the server is: requests of all clients are numbered anew on their way in.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::Value;

use crate::slow::lock;

/// The way of messages to and from the server behind the front.
pub struct Routes {
    to_server: Mutex<File>,
    next: AtomicU64,
    open: Mutex<HashMap<u64, Route>>,
    /// Streams for what no request asked for, by session.
    listeners: Mutex<Vec<(String, Sender<Value>)>>,
}

/// What says which stream a notification of the modern era belongs to.
const SUBSCRIPTION: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";

/// The member by which the server behind the front says which call a message belongs to; clients
/// never see it.
pub const RELATED: &str = "related";

struct Route {
    session: String,
    id: Value,
    token: Option<Value>,
    to: Sender<Value>,
}

impl Routes {
    pub fn new(to_server: File) -> Routes {
        Routes {
            to_server: Mutex::new(to_server),
            next: AtomicU64::new(1),
            open: Mutex::default(),
            listeners: Mutex::default(),
        }
    }

    /// Passes a request on; what answers it, and its progress, comes out of the receiver.
    pub fn ask(&self, session: &str, request: Value) -> Receiver<Value> {
        let (to, from) = channel();
        self.pass_request(session, request, to);
        from
    }

    /// Passes a request on; what answers it, and its progress, goes there.
    pub fn pass_request(&self, session: &str, mut request: Value, to: Sender<Value>) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let token = request.pointer_mut("/params/_meta/progressToken");
        let token = token.map(|token| std::mem::replace(token, number.into()));
        let id = std::mem::replace(&mut request["id"], number.into());
        let route = Route { session: session.to_string(), id, token, to };
        lock(&self.open).insert(number, route);
        self.pass(&request);
        number
    }

    /// The same as `ask`, with the number that the server knows the request by.
    pub fn ask_numbered(&self, session: &str, request: Value) -> (u64, Receiver<Value>) {
        let (to, from) = channel();
        (self.pass_request(session, request, to), from)
    }

    /// The client that asked has gone.
    pub fn recall(&self, number: u64) {
        if lock(&self.open).remove(&number).is_some() {
            let params = serde_json::json!({ "requestId": number });
            let method = "notifications/cancelled";
            self.pass(&serde_json::json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
    }

    /// Passes a notification or reply on.
    pub fn tell(&self, session: &str, mut message: Value) {
        if let Some(id) = message.pointer_mut("/params/requestId") {
            let open = lock(&self.open);
            let found = open.iter().find(|(_, route)| route.session == session && route.id == *id);
            if let Some((number, _)) = found {
                *id = (*number).into();
            }
        }
        self.pass(&message);
    }

    pub fn listen(&self, session: &str) -> Receiver<Value> {
        let (to, from) = channel();
        lock(&self.listeners).push((session.to_string(), to));
        from
    }

    /// The stream of a session that has one.
    pub fn listener(&self, session: &str) -> Option<Sender<Value>> {
        let listeners = lock(&self.listeners);
        listeners.iter().find(|(of, _)| of == session).map(|(_, to)| to.clone())
    }

    /// Ends the streams of a session.
    pub fn forget(&self, session: &str) {
        lock(&self.listeners).retain(|(of, _)| of != session);
    }

    /// Takes a line of the server.
    pub fn deliver(&self, line: &str) {
        let Ok(mut message) = serde_json::from_str::<Value>(line) else { return };
        if let Some(number) = message.get("id").and_then(Value::as_u64) {
            let Some(route) = lock(&self.open).remove(&number) else { return };
            message["id"] = route.id;
            let _ = route.to.send(message);
            return;
        }
        let related = message.as_object_mut().and_then(|members| members.remove(RELATED));
        if let Some(number) = related.and_then(|number| number.as_u64()) {
            let open = lock(&self.open);
            let _ = open.get(&number).map(|route| route.to.send(message));
            return;
        }
        if message["method"] == "notifications/cancelled" {
            // Over HTTP the end of the response says so.
            let number = message.pointer("/params/requestId").and_then(Value::as_u64);
            number.and_then(|number| lock(&self.open).remove(&number));
            return;
        }
        if let Some(subscription) = message.pointer_mut(SUBSCRIPTION) {
            let open = lock(&self.open);
            let number = subscription.as_u64();
            let Some(route) = number.and_then(|number| open.get(&number)) else { return };
            *subscription = route.id.clone();
            let _ = route.to.send(message);
            return;
        }
        if let Some(token) = message.pointer_mut("/params/progressToken") {
            let open = lock(&self.open);
            let Some(route) = token.as_u64().and_then(|number| open.get(&number)) else { return };
            *token = route.token.clone().unwrap_or_default();
            let _ = route.to.send(message);
            return;
        }
        let mut listeners = lock(&self.listeners);
        listeners.retain(|(_, to)| to.send(message.clone()).is_ok());
        if listeners.is_empty() && message["method"] == "notifications/message" {
            // Without a stream of its own it belongs to what was asked last.
            let open = lock(&self.open);
            if let Some((_, route)) = open.iter().max_by_key(|(number, _)| **number) {
                let _ = route.to.send(message);
            }
        }
    }

    fn pass(&self, message: &Value) {
        let _ = lock(&self.to_server).write_all(format!("{message}\n").as_bytes());
    }
}
