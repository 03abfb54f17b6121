//! The entrance: one bridge per JavaScript environment.

use std::rc::Rc;
use std::sync::Arc;

use napi::bindgen_prelude::{Env, FnArgs, Function, JsValue, Object};
use napi_derive::napi;
use trunkline::interface::Dialect;
use trunkline::settings::files_to_json;
use trunkline::{
    Error, ErrorCode, EventKind, Pool, PoolOptions, interface, panics, unknown_option,
};

use crate::objects::handler_queue::NativeDesk;
use crate::objects::logs::NativeLogs;
use crate::objects::pool::NativePool;
use crate::runtime::environment::{Environment, Listeners};
use crate::runtime::failure::{self, Result};
use crate::runtime::shutdown::{self, Whose};

/// What `lib/native.cjs` makes once per environment.
#[napi]
pub struct Bridge {
    environment: Rc<Environment>,
}

#[napi]
impl Bridge {
    /// `on_readable` is called with the number of a subscription that has events, or ended;
    /// `on_progress` with the number of an operation that made progress, and its events.
    /// `has_libuv` says whether the event loop is libuv's. `resource` is what hooks of
    /// asynchronous resources see of the environment.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: Env,
        on_readable: Function<f64, ()>,
        on_progress: Function<FnArgs<(f64, String)>, ()>,
        has_libuv: bool,
        resource: Object,
    ) -> Result<Self> {
        failure::note_panics();
        let listeners = || {
            let on_progress = on_progress.create_ref()?;
            Ok(Listeners { on_readable: on_readable.create_ref()?, on_progress })
        };
        let environment = listeners()
            .and_then(|listeners| {
                Environment::open(env.raw(), listeners, has_libuv, resource.raw())
            })
            .map_err(failure::of_node)?;
        Ok(Bridge { environment })
    }

    /// A desk for the handlers with these names.
    #[napi(catch_unwind)]
    pub fn new_desk(&self, names: Vec<String>) -> Result<NativeDesk> {
        NativeDesk::new(&self.environment, &names)
    }

    /// What the library logs from a level on.
    #[napi(catch_unwind)]
    pub fn start_logs(&self, level: String) -> Result<NativeLogs> {
        NativeLogs::new(&self.environment, &level)
    }

    /// A new pool; the options are a JSON text.
    #[napi(catch_unwind)]
    pub fn new_pool(&self, options: String, desk: Option<&NativeDesk>) -> Result<NativePool> {
        let mut options = PoolOptions::from_json(&options).map_err(failure::thrown)?;
        options.handlers = NativeDesk::handlers(desk);
        let pool = Arc::new(Pool::new(options).map_err(failure::thrown)?);
        shutdown::remember(self.environment.key(), &pool);
        Ok(NativePool::new(self.environment.clone(), pool))
    }

    /// A number for an operation that may be cancelled.
    #[napi(catch_unwind)]
    pub fn reserve(&self) -> f64 {
        self.environment.number() as f64
    }

    /// Cancels the operation that was started with that number.
    #[napi(catch_unwind)]
    pub fn cancel(&self, number: f64) {
        self.environment.cancel(number as u64);
    }

    /// Whether promises keep the event loop alive.
    #[napi(catch_unwind)]
    pub fn is_held(&self) -> bool {
        self.environment.is_held()
    }

    /// Has the event loop take another turn, if something else keeps it alive.
    #[napi(catch_unwind)]
    pub fn wake(&self) {
        self.environment.wake();
    }

    /// A part of the registry, as JSON text: `errors`, `events`, `envelope`, `options` or
    /// `telemetry`.
    #[napi(catch_unwind)]
    pub fn registry(&self, part: String) -> String {
        interface::part_to_json(&part).to_string()
    }

    /// The error of an option that a method has not, as JSON text, with the nearest of those that
    /// it has.
    #[napi(catch_unwind)]
    pub fn unknown_option(&self, option: String, known: Vec<String>) -> String {
        let error = unknown_option(&option);
        error.with_nearest(&option, known.iter().map(String::as_str)).to_json().to_string()
    }

    /// The error of a kind of event that there is not, as JSON text, with the nearest of those that
    /// there are. `path` is the argument that it stands in.
    #[napi(catch_unwind)]
    pub fn unknown_event(&self, name: String, path: String) -> String {
        let message = format!("there is no kind of event `{name}`");
        let error = Error::new(ErrorCode::InvalidArgument, message)
            .with_detail("path", path)
            .with_nearest(&name, EventKind::ALL.iter().map(|kind| kind.name()));
        failure::text(&error)
    }

    /// An error that stands in a document of the library, as JavaScript spells it.
    #[napi(catch_unwind)]
    pub fn spell_error(&self, error: String) -> String {
        let Ok(mut value) = serde_json::from_str(&error) else { return error };
        Dialect::Node.spell_error(&mut value);
        value.to_string()
    }

    /// A text of the library, such as a remedy, as JavaScript spells it.
    #[napi(catch_unwind)]
    pub fn spell_text(&self, text: String) -> String {
        Dialect::Node.text(&text)
    }

    /// The error of the panic that an exported function came out of last, as JSON text: what
    /// Node-API makes of it has its words, with their values.
    #[napi(catch_unwind)]
    pub fn panicked(&self) -> Option<String> {
        panics::last().as_ref().map(failure::text)
    }

    /// Panics with that value in its words, so that a test sees what a fault of the library looks
    /// like.
    #[napi(js_name = "_panic", catch_unwind)]
    pub fn panic(&self, value: String) {
        panic!("asked to, with {value}");
    }

    /// An address as telemetry shows it.
    #[napi(catch_unwind)]
    pub fn plain_address(&self, uri: String) -> String {
        interface::telemetry::plain_address(&uri)
    }

    /// The capability tags of this version.
    #[napi(catch_unwind)]
    pub fn features(&self) -> Vec<String> {
        Pool::features().iter().map(|&tag| tag.to_owned()).collect()
    }

    /// The settings files of products that exist, as JSON text.
    #[napi(catch_unwind)]
    pub fn detect(&self, workspace: String) -> String {
        files_to_json(&trunkline::detect(workspace)).to_string()
    }

    /// Ends the pools of this environment, and waits for it.
    #[napi(catch_unwind)]
    pub fn end_environment(&self) {
        self.environment.write_joined();
        shutdown::end_pools(Whose::Environment(self.environment.key()));
    }

    /// Ends the pools of all environments, and waits for it.
    #[napi(catch_unwind)]
    pub fn end_process(&self) {
        self.environment.write_joined();
        shutdown::end_pools(Whose::Process);
    }
}
