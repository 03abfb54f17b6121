//! The native half of `Session`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{ValueType, sys};
use napi_derive::napi;
use trunkline::{AcquireOptions, ConfigureOptions, List, Listed, Pool, ServerSpec, Session, Shape};

use crate::environment::{Environment, Promise};
use crate::failure::{Result, thrown};
use crate::host_servers::NativeProvided;
use crate::lease::Held;
use crate::pending::Owner;
use crate::reply::Settled;
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

/// A list as the text of a JSON array, its definitions unchanged.
pub fn list_text(listed: &[Listed]) -> JsonText {
    let mut text = String::new();
    push_array(&mut text, listed);
    JsonText(text)
}

/// A list and its number, as JSON text.
fn numbered(list: List) -> JsonText {
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
}

#[napi]
impl NativeSession {
    /// An explicit lease; the server's configuration, if any, and the options are JSON texts.
    #[napi(catch_unwind)]
    pub fn acquire(
        &self,
        server: String,
        config: Option<String>,
        options: String,
        number: Option<f64>,
    ) -> Result<Promise> {
        let spec = config.map(|config| ServerSpec::from_json(&server, &config));
        let spec = spec.transpose().map_err(thrown)?;
        let options = AcquireOptions::from_json(&options).map_err(thrown)?;
        let (session, keeper) = (self.session.clone(), self.session.clone());
        let pool = self.pool.clone();
        let future = async move { session.acquire(&server, spec.as_ref(), &options).await };
        self.environment.run(number, &self.pool, future, |lease| {
            Settled::Lease(Box::new(Held { lease, session: Some(keeper), pool }))
        })
    }

    /// Waits for the session's start, at most for the start gate; the report as JSON text.
    #[napi(catch_unwind)]
    pub fn started(&self, number: Option<f64>) -> Result<Promise> {
        let session = self.session.clone();
        let future = async move { session.started().await };
        let settle = |report: serde_json::Value| Settled::Text(report.to_string());
        self.environment.run(number, &self.pool, future, settle)
    }

    /// Waits for one server, or for all that the session wants.
    #[napi(catch_unwind)]
    pub fn ready(
        &self,
        server: Option<String>,
        timeout_ms: Option<f64>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let timeout = timeout_ms.map(|ms| Duration::from_secs_f64(ms.clamp(0.0, MOST_MS) / 1e3));
        let session = self.session.clone();
        let future = async move { session.ready(server.as_deref(), timeout).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// Has the lists of a server read anew.
    #[napi(catch_unwind)]
    pub fn refresh(&self, server: String, number: Option<f64>) -> Result<Promise> {
        let session = self.session.clone();
        let future = async move { session.refresh(&server).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// Waits for lists that are owed, of one server or of all.
    #[napi(catch_unwind)]
    pub fn listed(&self, server: Option<String>, number: Option<f64>) -> Result<Promise> {
        let session = self.session.clone();
        let future = async move { session.listed(server.as_deref()).await };
        self.environment.run(number, &self.pool, future, |()| Settled::Nothing)
    }

    /// What a server said of itself, as JSON text; nothing of one that was not connected to.
    #[napi(catch_unwind)]
    pub fn introduction(&self, server: String) -> Result<Option<JsonText>> {
        let said = self.session.introduction(&server).map_err(thrown)?;
        Ok(said.map(|said| JsonText(said.json().to_owned())))
    }

    /// Calls a tool by its exposed name; `arguments` is the text of a JSON object.
    #[napi(catch_unwind)]
    pub fn call_tool(
        &self,
        tool: String,
        arguments: String,
        options: Option<String>,
        number: Option<f64>,
    ) -> Result<Promise> {
        let options = self.environment.call_options(options, number)?;
        let owner = Owner::Session(self.session.clone());
        self.environment.promise(number, owner, |reply| {
            let call = self.session.start_call_tool(&tool, &arguments, &options, move |result| {
                reply.send(result.map(Settled::Call));
            });
            self.environment.await_answer(&call, &options);
            call
        })
    }

    /// The tools of its view, as JSON text.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> Result<JsonText> {
        self.session.tools().map(numbered).map_err(thrown)
    }

    /// The tools of its view in the shape of a model API, and the number of that list, as JSON text.
    #[napi(catch_unwind)]
    pub fn tools_for(&self, shape: String) -> Result<JsonText> {
        let tools = Shape::from_word(&shape).and_then(|shape| self.session.tools_for(shape));
        let tools = tools.map_err(thrown)?;
        let (revision, items) = (tools.revision(), tools.json());
        Ok(JsonText(format!(r#"{{"revision":{revision},"items":{items}}}"#)))
    }

    /// The prompts of its view, as JSON text.
    #[napi(catch_unwind)]
    pub fn prompts(&self) -> Result<JsonText> {
        self.session.prompts().map(numbered).map_err(thrown)
    }

    /// The resources of its view, as JSON text.
    #[napi(catch_unwind)]
    pub fn resources(&self) -> Result<JsonText> {
        self.session.resources().map(numbered).map_err(thrown)
    }

    /// The resource templates of its view, as JSON text.
    #[napi(catch_unwind)]
    pub fn resource_templates(&self) -> Result<JsonText> {
        self.session.resource_templates().map(numbered).map_err(thrown)
    }

    /// Changes what it sees and wants; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn configure(&self, options: String) -> Result<()> {
        let change = ConfigureOptions::from_json(&options).map_err(thrown)?;
        self.session.configure(change).map_err(thrown)
    }

    /// Provides a server of the host's own to it.
    #[napi(catch_unwind)]
    pub fn provide(&self, server: String) -> Result<NativeProvided> {
        let (native, provided) = NativeProvided::new(&self.environment);
        self.session.provide(&server, provided).map_err(thrown)?;
        Ok(native)
    }

    /// Why a server or a tool is there for it, or is not, as JSON text.
    #[napi(catch_unwind)]
    pub fn explain(&self, name: String) -> Result<String> {
        self.session.explain(&name).map(|why| why.to_string()).map_err(thrown)
    }

    /// Takes a server away from it.
    #[napi(catch_unwind)]
    pub fn disable(&self, server: String) -> Result<()> {
        self.session.disable(&server).map_err(thrown)
    }

    /// Undoes `disable`.
    #[napi(catch_unwind)]
    pub fn enable(&self, server: String) -> Result<()> {
        self.session.enable(&server).map_err(thrown)
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
        let keep_for = keep_for_ms.map(|ms| Duration::from_secs_f64(ms.clamp(0.0, MOST_MS) / 1e3));
        self.session.close(keep_for);
    }
}

/// The longest time that JavaScript may ask for, in milliseconds: 100 years. It keeps `Duration` from overflowing.
const MOST_MS: f64 = 100.0 * 365.0 * 24.0 * 3_600_000.0;

/// About what an item takes beside its definition.
const ROW_BYTES: usize = 256;
