//! The native half of `Session`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{ValueType, sys};
use napi_derive::napi;
use trunkline::{CallOptions, Introduction, Lease, List, Listed, Operation, Pool, Session, Shape};

use crate::environment::{Environment, Promise};
use crate::failure::{Result, thrown};
use crate::host_servers::NativeProvided;
use crate::lease::Held;
use crate::pending::Owner;
use crate::reply::{Reply, Settled};
use crate::subscription::NativeSubscription;
use crate::text;

/// A session. Its finaliser closes it, if the host did not.
#[napi]
pub struct NativeSession {
    environment: Rc<Environment>,
    pool: Arc<Pool>,
    session: Session,
}

/// A JSON text on its way out of an exported function.
pub struct JsonText(pub String);

impl TypeName for JsonText {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for JsonText {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        text::to_js(env, &text.0)
    }
}

impl JsonText {
    /// What a server said of itself.
    pub fn said(said: Introduction) -> JsonText {
        JsonText(said.json().to_owned())
    }
}

/// A list as the text of a JSON array, its definitions unchanged.
pub fn list_text(listed: &[Listed]) -> JsonText {
    let mut text = String::new();
    push_array(&mut text, listed);
    JsonText(text)
}

/// A list and its number, as JSON text.
pub fn numbered(list: List) -> JsonText {
    let mut text = format!(r#"{{"revision":{},"items":"#, list.revision());
    push_array(&mut text, &list);
    text.push('}');
    JsonText(text)
}

/// Written once: a list is long, and each copy of it takes memory that the process did not have.
fn push_array(text: &mut String, listed: &[Listed]) {
    text.reserve(listed.iter().map(|item| item.definition.len() + ROW_BYTES).sum());
    text.push('[');
    for (number, item) in listed.iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        text.push_str(&item.to_json());
    }
    text.push(']');
}

impl NativeSession {
    /// Wraps a session.
    pub fn new(environment: Rc<Environment>, pool: Arc<Pool>, session: Session) -> NativeSession {
        NativeSession { environment, pool, session }
    }

    /// The session.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// A promise of what the core does.
    pub(crate) fn run<F, T>(
        &self,
        number: Option<f64>,
        request: impl FnOnce(Session) -> F,
        settle: impl FnOnce(T) -> Settled + Send + 'static,
    ) -> Result<Promise>
    where
        F: Future<Output = trunkline::Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        self.environment.run(number, &self.pool, request(self.session.clone()), settle)
    }

    /// Starts what is sent to a server as it is asked for.
    pub(crate) fn send(
        &self,
        options: Option<String>,
        number: Option<f64>,
        start: impl FnOnce(&Session, &CallOptions, Reply) -> Operation,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Session(self.session.clone());
        self.environment.promise(number, owner, |reply| {
            let call = start(&self.session, &options, reply);
            self.environment.await_answer(&call, &options);
            call
        })
    }

    /// What becomes of a lease.
    pub(crate) fn lent(&self) -> impl FnOnce(Lease) -> Settled + Send + use<> {
        let (session, pool) = (Some(self.session.clone()), self.pool.clone());
        |lease| Settled::Lease(Box::new(Held { lease, session, pool }))
    }
}

#[napi]
impl NativeSession {
    /// Waits for one server, or for all that the session wants.
    #[napi(catch_unwind)]
    pub fn ready(
        &self,
        server: Option<String>,
        timeout_ms: Option<f64>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let timeout = timeout_ms.map(duration);
        let session = self.session.clone();
        let future = async move { session.ready(server.as_deref(), timeout).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// The tools of its view in the shape of a model API, and the number of that list, as JSON
    /// text.
    #[napi(catch_unwind)]
    pub fn tools_for(&self, shape: String) -> Result<JsonText> {
        let tools = Shape::from_word(&shape).and_then(|shape| self.session.tools_for(shape));
        let tools = tools.map_err(thrown)?;
        let (revision, items) = (tools.revision(), tools.json());
        Ok(JsonText(format!(r#"{{"revision":{revision},"items":{items}}}"#)))
    }

    /// Provides a server of the host's own to it.
    #[napi(catch_unwind)]
    pub fn provide(&self, server: String) -> Result<NativeProvided> {
        let (native, provided) = NativeProvided::new(&self.environment);
        self.session.provide(&server, provided).map_err(thrown)?;
        Ok(native)
    }

    /// Subscribes to the kinds of event with these numbers.
    #[napi(catch_unwind)]
    pub fn subscribe(&self, kinds: Vec<u32>) -> Result<NativeSubscription> {
        let mask = NativeSubscription::mask(&kinds);
        let subscription = self.session.subscribe(mask).map_err(thrown)?;
        Ok(NativeSubscription::new(&self.environment, subscription))
    }

    /// Ends it; its holds go after `keep_for_ms`, by default as its options say.
    #[napi(catch_unwind)]
    pub fn close(&self, keep_for_ms: Option<f64>) {
        let keep_for = keep_for_ms.map(duration);
        self.session.close(keep_for);
    }
}

/// The time of so many milliseconds.
pub fn duration(ms: f64) -> Duration {
    Duration::from_secs_f64(ms.clamp(0.0, MOST_MS) / 1e3)
}

/// The longest time that JavaScript may ask for, in milliseconds: 100 years. It keeps `Duration`
/// from overflowing.
const MOST_MS: f64 = 100.0 * 365.0 * 24.0 * 3_600_000.0;

/// About what an item takes beside its definition.
const ROW_BYTES: usize = 256;
