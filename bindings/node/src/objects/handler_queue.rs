//! Where requests of servers wait for JavaScript's handlers.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use napi_derive::napi;
use trunkline::interface::node_name;
use trunkline::{HandlerEvent, HandlerKind, HandlerQueue, Handlers, Refusal};

use crate::runtime::environment::Environment;
use crate::runtime::failure::{Result, thrown};
use crate::runtime::json_text::JsonText;
use crate::runtime::reply::{Arrival, Queue};

/// The requests for the handlers of one pool or session. It is over with that.
#[napi]
pub struct NativeDesk {
    number: u64,
    desk: Weak<HandlerQueue>,
    /// Until they are given to the pool or session.
    handlers: RefCell<Option<Handlers>>,
}

/// Tells JavaScript that there is news; dropped, that there will be none.
struct Wake {
    queue: Arc<Queue>,
    number: u64,
}

impl Wake {
    fn wake(&self) {
        self.queue.push(Arrival::Readable { subscription: self.number });
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        self.wake();
    }
}

/// The registry's name of what Node calls so; what is no handler stays as it is, for the error.
fn registry_name(name: &str) -> &str {
    let known = HandlerKind::ALL.iter().map(|kind| kind.name());
    known.into_iter().find(|known| node_name(known) == name).unwrap_or(name)
}

impl NativeDesk {
    /// A desk for the handlers with these names.
    pub fn new(environment: &Environment, names: &[String]) -> Result<NativeDesk> {
        let number = environment.number();
        let wake = Wake { queue: environment.queue().clone(), number };
        let desk = HandlerQueue::new(move || wake.wake());
        let handlers = desk.handlers(names.iter().map(|name| registry_name(name)));
        let handlers = handlers.map_err(thrown)?;
        let (desk, handlers) = (Arc::downgrade(&desk), RefCell::new(Some(handlers)));
        Ok(NativeDesk { number, desk, handlers })
    }

    /// The handlers, for the one pool or session that they are made for.
    pub fn handlers(desk: Option<&NativeDesk>) -> Handlers {
        desk.and_then(|desk| desk.handlers.take()).unwrap_or_default()
    }
}

#[napi]
impl NativeDesk {
    /// Its number, with which `on_readable` is called.
    #[napi(catch_unwind)]
    pub fn number(&self) -> f64 {
        self.number as f64
    }

    /// What waits, as the text of a JSON array of `[news, number, what]`; empty once it is over.
    #[napi(catch_unwind)]
    pub fn take(&self) -> JsonText {
        let Some(desk) = self.desk.upgrade() else { return JsonText(String::new()) };
        let row = |news| match news {
            HandlerEvent::Asked(number, request) => {
                Some(format!("[\"asked\",{number},{}]", request.to_json()))
            }
            HandlerEvent::Withdrawn(number) => Some(format!("[\"withdrawn\",{number}]")),
            HandlerEvent::Logged(event) => Some(format!("[\"logged\",0,{event}]")),
            _ => None,
        };
        let rows: Vec<String> = desk.take().into_iter().filter_map(row).collect();
        JsonText(format!("[{}]", rows.join(",")))
    }

    /// Answers a request with the text of a JSON object.
    #[napi(catch_unwind)]
    pub fn answer(&self, number: f64, text: String) {
        if let Some(desk) = self.desk.upgrade() {
            desk.answer(number as u64, Ok(text));
        }
    }

    /// Refuses a request.
    #[napi(catch_unwind)]
    pub fn refuse(&self, number: f64, code: i32, message: String) {
        if let Some(desk) = self.desk.upgrade() {
            desk.answer(number as u64, Err(Refusal::new(code, message)));
        }
    }

    /// Says of credentials that they cannot be used: which part of them is wrong, and why.
    #[napi(catch_unwind)]
    pub fn unfit(&self, number: f64, path: String, why: String) {
        if let Some(desk) = self.desk.upgrade() {
            desk.answer(number as u64, Err(Refusal::of_unfit(path, why)));
        }
    }
}
