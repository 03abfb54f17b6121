//! The native half of servers that the host itself provides.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi_derive::napi;
use serde_json::{Value, json};
use trunkline::{Error, ErrorCode, HostConnection, HostServer};

use crate::runtime::environment::Environment;
use crate::runtime::failure::{Result, thrown};
use crate::runtime::json_text::JsonText;
use crate::runtime::reply::{Arrival, Queue};

/// Messages that wait for the JavaScript thread. A host that is this far behind does not keep up:
/// the connection ends.
const WAITING_MAX: usize = 8192;

/// A server whose code is JavaScript.
#[napi]
pub struct NativeProvided(Arc<Shared>);

/// What the connections' threads share with the JavaScript thread.
struct Shared {
    number: u64,
    queue: Arc<Queue>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// What waits to be taken: a message of that connection, or its end; without a connection, the
    /// end of everything.
    waiting: VecDeque<(Option<u64>, Option<Box<str>>)>,
    connections: HashMap<u64, HostConnection>,
}

/// The server as the pool has it.
pub struct Provided(Arc<Shared>);

impl NativeProvided {
    /// A server of this environment, and what is given to the pool for it.
    pub fn new(environment: &Environment) -> (NativeProvided, Provided) {
        let (number, queue) = (environment.number(), environment.queue().clone());
        let shared = Arc::new(Shared { number, queue, inner: Mutex::default() });
        (NativeProvided(shared.clone()), Provided(shared))
    }
}

#[napi]
impl NativeProvided {
    /// Its number, with which `on_readable` is called.
    #[napi(catch_unwind)]
    pub fn number(&self) -> f64 {
        self.0.number as f64
    }

    /// What waits, as the text of a JSON array of `[connection, message]`; without a message the
    /// connection is over, without both nothing comes any more.
    #[napi(catch_unwind)]
    pub fn take(&self) -> JsonText {
        let waiting = std::mem::take(&mut self.0.inner().waiting);
        let row = |(connection, frame)| json!([connection, frame]);
        JsonText(Value::from_iter(waiting.into_iter().map(row)).to_string())
    }

    /// Sends a message of the server.
    #[napi(catch_unwind)]
    pub fn send(&self, connection: f64, frame: String) -> Result<()> {
        self.0.connection(connection)?.send(&frame).map_err(thrown)
    }

    /// Ends a connection from the server's side.
    #[napi(catch_unwind)]
    pub fn close(&self, connection: f64) {
        if let Ok(connection) = self.0.connection(connection) {
            connection.close();
        }
    }
}

impl Shared {
    fn push(&self, connection: &HostConnection, frame: Option<&str>) {
        let mut inner = self.inner();
        match frame {
            Some(_) if inner.waiting.len() >= WAITING_MAX => return connection.close(),
            Some(_) => drop(inner.connections.insert(connection.id(), connection.clone())),
            // One that said nothing is one that JavaScript never heard of.
            None if inner.connections.remove(&connection.id()).is_none() => return,
            None => {}
        }
        self.announce(inner, Some(connection.id()), frame);
    }

    fn announce(&self, mut inner: MutexGuard<'_, Inner>, id: Option<u64>, frame: Option<&str>) {
        let is_first = inner.waiting.is_empty();
        inner.waiting.push_back((id, frame.map(Into::into)));
        drop(inner);
        if is_first {
            self.queue.push(Arrival::Readable { subscription: self.number });
        }
    }

    fn connection(&self, id: f64) -> Result<HostConnection> {
        let over = || thrown(Error::new(ErrorCode::Closed, "the connection is over"));
        self.inner().connections.get(&(id as u64)).cloned().ok_or_else(over)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Provided {
    /// The pool no longer has it.
    fn drop(&mut self) {
        self.0.announce(self.0.inner(), None, None);
    }
}

impl HostServer for Provided {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        self.0.push(connection, Some(frame));
    }

    fn closed(&self, connection: &HostConnection) {
        self.0.push(connection, None);
    }
}
