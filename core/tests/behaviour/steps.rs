//! The verbs.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use trunkline::{
    AcquireOptions, CallOptions, CallResult, ConfigureOptions, DrainOptions, Error, ErrorCode,
    EventMask, Lease, Pool, ServerSpec, Servers, Session, SessionOptions,
};

use crate::handlers::{self, Asked};
use crate::pools::{self, Begun};
use crate::processes;
use crate::provided::Provided;
use crate::record::{Record, number, parsed};
use crate::remotes::Remote;
use crate::sources;
use crate::{views, visits};
use rig::Folder;
use rig::expect::check;
use rig::values::{Failure, Given, Saved, body, server, servers_within, text, unknown};

/// The longest that a step may take.
const HANG_BOUND: Duration = Duration::from_secs(90);

/// Between two tries of `until`.
const POLL: Duration = Duration::from_millis(10);

const EXPECTATIONS: [&str; 10] =
    ["as", "equals", "differs", "is", "match", "text", "raw", "length", "own_names", "error"];

/// What a started verb ends with; an acquire brings its lease along.
type Outcome = Result<(Given, Option<Lease>), Error>;
type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

struct World {
    pool: Pool,
    sessions: HashMap<String, Session>,
    leases: HashMap<String, Arc<Lease>>,
    /// Leases and sessions whose name was given anew; they live as long as the case.
    kept: Vec<Arc<Lease>>,
    closed: Vec<Session>,
    records: HashMap<String, Record>,
    /// What the handlers of a session, or of the pool, were asked.
    asked: HashMap<String, Asked>,
    operations: HashMap<String, JoinHandle<Outcome>>,
    saved: Saved,
    remotes: Vec<Remote>,
    testserver: PathBuf,
    start_log: PathBuf,
    folder: PathBuf,
    case: Value,
}

/// Runs one case from its pool to the check that nothing is left.
pub async fn run_case(case: &Value, testserver: &Path) -> Result<(), String> {
    // The start log is beside the case's folder.
    let place = Folder::new();
    let folder = place.join("case");
    std::fs::create_dir_all(folder.join("workspace")).map_err(|error| error.to_string())?;
    let mut saved = Saved::default();
    saved.0.insert("folder".into(), folder.to_string_lossy().into());
    saved.0.insert("workspace".into(), folder.join("workspace").to_string_lossy().into());
    saved.0.insert("file".into(), folder.join("file").to_string_lossy().into());
    let Begun { pool, record, asked } = pools::begin(case, &saved).map_err(|e| e.to_string())?;
    let mut world = World {
        pool,
        sessions: HashMap::new(),
        leases: HashMap::new(),
        kept: Vec::new(),
        closed: Vec::new(),
        records: HashMap::from([("pool".to_string(), record)]),
        asked: HashMap::from([("pool".to_string(), asked)]),
        operations: HashMap::new(),
        saved,
        remotes: Vec::new(),
        testserver: testserver.to_owned(),
        start_log: place.join("starts"),
        folder,
        case: case.clone(),
    };
    let outcome = world.carry_out().await;
    world.operations.values().for_each(JoinHandle::abort);
    let closed = pools::end(&world.pool, HANG_BOUND).await;
    let left = world.nothing_left().await;
    outcome.and(closed).and(left)
}

impl World {
    async fn carry_out(&mut self) -> Result<(), String> {
        let case = self.case.clone();
        for (name, flags) in case.get("remotes").and_then(Value::as_object).into_iter().flatten() {
            let flags = self.saved.filled_in(flags);
            let (remote, address) = Remote::start(&self.testserver, &flags)?;
            self.remotes.push(remote);
            self.saved.0.insert(name.clone(), address.into());
        }
        self.give_servers().await.map_err(|why| format!("servers: {why}"))?;
        for (number, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
            let outcome = match tokio::time::timeout(HANG_BOUND, self.step(step)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(format!("the step hangs; {}", self.pool.status())),
            };
            outcome.map_err(|why| format!("step {}, {step}: {why}", number + 1))?;
        }
        Ok(())
    }

    /// Gives the pool the servers of the case.
    async fn give_servers(&self) -> Result<(), Failure> {
        let Some(servers) = self.case.get("servers") else { return Ok(()) };
        self.reconcile(&self.saved.filled_in(servers)).await.map(drop)
    }

    /// Another pool takes the place of the pool, and nothing is left of what was begun in that.
    async fn reopen(&mut self) -> Result<Given, Failure> {
        self.operations.drain().for_each(|(_, operation)| operation.abort());
        pools::end(&self.pool, HANG_BOUND).await.map_err(Failure::Case)?;
        let Begun { pool, record, asked } = pools::begin(&self.case, &self.saved)?;
        self.pool = pool;
        (self.leases, self.kept) = Default::default();
        (self.sessions, self.closed) = Default::default();
        self.records = HashMap::from([("pool".to_string(), record)]);
        self.asked = HashMap::from([("pool".to_string(), asked)]);
        self.give_servers().await.map(|()| Given::nothing())
    }

    async fn nothing_left(&self) -> Result<(), String> {
        let gone = async {
            while processes::running(&self.start_log) > 0 {
                tokio::time::sleep(POLL).await;
            }
        };
        let waited = tokio::time::timeout(HANG_BOUND, gone).await;
        waited.map_err(|_| format!("{} processes are left", processes::running(&self.start_log)))
    }

    async fn step(&mut self, step: &Value) -> Result<(), String> {
        let step = step.as_object().ok_or("no object")?;
        let mut verbs = step.iter().filter(|(key, _)| !EXPECTATIONS.contains(&key.as_str()));
        let (Some((verb, argument)), None) = (verbs.next(), verbs.next()) else {
            return Err("not exactly one verb".to_string());
        };
        if verb == "until" {
            while Box::pin(self.step(argument)).await.is_err() {
                tokio::time::sleep(POLL).await;
            }
            return Ok(());
        }
        let argument = match verb.as_str() {
            "start" => argument.clone(),
            _ => self.saved.filled_in(argument),
        };
        let arguments = match argument {
            Value::Array(several) => several,
            one => vec![one],
        };
        let given = self.verb(verb, &arguments, step).await;
        let given = check(step, given, &self.saved)?;
        if let Some(Value::String(name)) = step.get("as") {
            self.saved.0.insert(name.clone(), given.value);
        }
        Ok(())
    }

    async fn verb(
        &mut self,
        verb: &str,
        arguments: &[Value],
        step: &Map<String, Value>,
    ) -> Result<Given, Failure> {
        let name = || step.get("as").and_then(Value::as_str).unwrap_or_default().to_string();
        let first = text(arguments, 0);
        match verb {
            "open" => self.open(first, arguments.get(1)),
            "close" => self.close(first, arguments.get(1)),
            "provide" => self.provide(first, text(arguments, 1), &arguments[2]),
            "release" => self.lease(first).map(|lease| lease.release()).map(|()| Given::nothing()),
            _ if views::VERBS.contains(&verb) => views::step(self.session(first)?, verb, arguments),
            "configure" => {
                let change = ConfigureOptions::from_json(&body(arguments, 1))?;
                self.session(first)?.configure(change)?;
                Ok(Given::nothing())
            }
            "set_roots" => {
                let roots = trunkline::roots_from_json(&arguments[0].to_string())?;
                self.pool.set_roots(&roots).await?;
                Ok(Given::nothing())
            }
            "set_gates" => {
                let lists = trunkline::GateLists::from_json(&arguments[0].to_string())?;
                Ok(Given::value(self.pool.set_gates(lists)?))
            }
            "disable" => self.switch(first, |session| session.disable(text(arguments, 1))),
            "enable" => self.switch(first, |session| session.enable(text(arguments, 1))),
            "introduction" => Ok(views::introduction(match arguments.get(1) {
                None => self.lease(first)?.introduction(),
                Some(_) => self.session(first)?.introduction(text(arguments, 1))?,
            })),
            "status" => Ok(Given::value(self.pool.status())),
            "watch" => self.watch(first, text(arguments, 1)),
            "wait_event" => self.wait_event(arguments).await,
            "no_event" => self.no_event(arguments),
            "asked" => self.asked(first),
            "reconcile" => self.reconcile(&arguments[0]).await,
            "reopen" => self.reopen().await,
            "pool" => pools::another(&arguments[0]).await,
            "count" => self.count(first),
            "sign_in" | "visit" | "finish_sign_in" | "sign_out" => {
                visits::step(&self.pool, verb, arguments).await
            }
            "explain" => Ok(Given::value(match arguments.get(1).and_then(Value::as_str) {
                None => self.pool.explain(first)?,
                Some(id) => self.session(id)?.explain(first)?,
            })),
            _ if sources::VERBS.contains(&verb) => self.settings(verb, arguments).await,
            "start" => self.start(name(), &arguments[0]).await,
            "cancel" => {
                let operation = self.operations.get(first).ok_or_else(|| unknown(first))?;
                operation.abort();
                Ok(Given::nothing())
            }
            "finish" => {
                let operation = self.operations.remove(first).ok_or_else(|| unknown(first))?;
                let outcome = operation.await.unwrap_or_else(|ended| Err(joined(&ended)));
                self.ended(name(), outcome)
            }
            _ => {
                let outcome = self.work(verb, arguments)?.await;
                self.ended(name(), outcome)
            }
        }
    }

    async fn settings(&self, verb: &str, arguments: &[Value]) -> Result<Given, Failure> {
        let start_log = self.start_log.to_string_lossy();
        let within = |value| servers_within(value, &self.testserver, &start_log);
        let arguments: Vec<Value> = arguments.iter().map(within).collect();
        sources::step(&self.pool, &self.folder, verb, &arguments).await
    }

    fn provide(&self, session: &str, server: &str, flags: &Value) -> Result<Given, Failure> {
        let flags = flags.as_array().into_iter().flatten();
        let mut flags: Vec<String> = flags.filter_map(Value::as_str).map(Into::into).collect();
        flags.extend(["--start-log".into(), self.start_log.to_string_lossy().into()]);
        let testserver = self.testserver.clone();
        let provided = Provided { testserver, flags, served: Default::default() };
        self.session(session)?.provide(server, provided)?;
        Ok(Given::nothing())
    }

    fn open(&mut self, id: &str, options: Option<&Value>) -> Result<Given, Failure> {
        let mut members = options.and_then(Value::as_object).cloned().unwrap_or_default();
        members.entry("servers").or_insert_with(|| json!([]));
        members.insert("id".into(), id.into());
        let (handlers, asked) = handlers::take(&mut members)?;
        let mut options = SessionOptions::from_json(&Value::Object(members).to_string())?;
        options.handlers = handlers;
        let before = self.pool.subscribe(EventMask::ALL)?;
        let session = self.pool.session(options)?;
        let own = session.subscribe(EventMask::ALL)?;
        let pool = self.records.get_mut("pool").ok_or_else(|| unknown("pool"))?;
        let record = Record::of_session(own, id, number(&parsed(before.snapshot())), pool);
        self.records.insert(id.to_string(), record);
        self.asked.insert(id.to_string(), asked);
        self.closed.extend(self.sessions.insert(id.to_string(), session));
        Ok(Given::nothing())
    }

    fn asked(&self, owner: &str) -> Result<Given, Failure> {
        let asked = self.asked.get(owner).ok_or_else(|| unknown(owner))?;
        Ok(Given::value(asked.so_far()))
    }

    fn switch(
        &self,
        id: &str,
        turn: impl FnOnce(&Session) -> trunkline::Result<()>,
    ) -> Result<Given, Failure> {
        turn(self.session(id)?)?;
        Ok(Given::nothing())
    }

    fn close(&self, id: &str, options: Option<&Value>) -> Result<Given, Failure> {
        let keep_for = options.and_then(|options| options["keep_for_ms"].as_u64());
        self.session(id)?.close(keep_for.map(Duration::from_millis));
        Ok(Given::nothing())
    }

    /// A record reads only when a step looks into it.
    fn watch(&mut self, name: &str, subscriber: &str) -> Result<Given, Failure> {
        let subscription = match subscriber {
            "pool" => self.pool.subscribe(EventMask::ALL)?,
            id => self.session(id)?.subscribe(EventMask::ALL)?,
        };
        self.records.insert(name.to_string(), Record::new(subscription));
        Ok(Given::nothing())
    }

    async fn wait_event(&mut self, arguments: &[Value]) -> Result<Given, Failure> {
        let (subscriber, kind) = (text(arguments, 0), text(arguments, 1));
        let pattern = arguments.get(2).cloned().unwrap_or(json!({}));
        let record = self.records.get_mut(subscriber).ok_or_else(|| unknown(subscriber))?;
        // Shorter than the step's own bound, so that the record can be shown.
        let waited = tokio::time::timeout(HANG_BOUND * 9 / 10, record.wait(kind, &pattern)).await;
        match waited {
            Ok(Ok(event)) => Ok(Given::value(event)),
            Ok(Err(why)) => Err(Failure::Case(why)),
            Err(_) => Err(Failure::Case(format!("no such event; there are {}", record.left()))),
        }
    }

    fn no_event(&mut self, arguments: &[Value]) -> Result<Given, Failure> {
        let (subscriber, kind) = (text(arguments, 0), text(arguments, 1));
        let pattern = arguments.get(2).cloned().unwrap_or(json!({}));
        let record = self.records.get_mut(subscriber).ok_or_else(|| unknown(subscriber))?;
        if record.has(kind, &pattern) {
            return Err(Failure::Case(format!("there is such an event: {}", record.left())));
        }
        Ok(Given::nothing())
    }

    async fn reconcile(&self, servers: &Value) -> Result<Given, Failure> {
        let servers = servers.as_object().into_iter().flatten();
        let filled: Map<String, Value> =
            servers.map(|(name, value)| (name.clone(), self.server(value))).collect();
        let servers = Servers::from_json(&Value::Object(filled).to_string())?;
        Ok(Given::value(self.pool.reconcile(servers).await?))
    }

    fn count(&self, what: &str) -> Result<Given, Failure> {
        let count = match what {
            "starts" => processes::starts(&self.start_log),
            "processes" => processes::running(&self.start_log),
            _ => return Err(unknown(what)),
        };
        Ok(Given::value(count.into()))
    }

    async fn start(&mut self, name: String, inner: &Value) -> Result<Given, Failure> {
        let inner = inner.as_object().and_then(|inner| inner.iter().next());
        let (verb, argument) = inner.ok_or_else(|| Failure::Case("nothing to start".into()))?;
        let arguments = match self.saved.filled_in(argument) {
            Value::Array(several) => several,
            one => vec![one],
        };
        let work = self.work(verb, &arguments)?;
        self.operations.insert(name, tokio::spawn(work));
        // The new task runs up to its first wait before this one goes on.
        tokio::task::yield_now().await;
        Ok(Given::nothing())
    }

    /// The future of a verb that takes time.
    fn work(&self, verb: &str, arguments: &[Value]) -> Result<Work, Failure> {
        if verb == "acquire" {
            return self.acquire(arguments);
        }
        if verb == "settled" {
            let options = arguments.first().cloned().unwrap_or_default();
            let settled = sources::settled(self.pool.clone(), options);
            return Ok(Box::pin(async move { Ok((Given::value(settled.await?), None)) }));
        }
        if views::WAITS.contains(&verb) {
            let session = self.session(text(arguments, 0))?.clone();
            let (verb, arguments) = (verb.to_owned(), arguments.to_vec());
            return Ok(Box::pin(async move {
                Ok((views::wait(&session, &verb, &arguments).await?, None))
            }));
        }
        if verb == "drain" {
            let options = arguments.first().map_or(String::new(), Value::to_string);
            let (pool, options) = (self.pool.clone(), DrainOptions::from_json(&options)?);
            return Ok(Box::pin(async move {
                Ok((Given::value(pool.drain_all(&options).await?), None))
            }));
        }
        if verb == "restart" {
            let (pool, server) = (self.pool.clone(), text(arguments, 0).to_string());
            let index = arguments.get(1).and_then(Value::as_u64);
            let index = index.map(|index| u32::try_from(index).unwrap_or(u32::MAX));
            return Ok(Box::pin(async move {
                Ok((Given::value(pool.restart(&server, index).await?), None))
            }));
        }
        if verb == "accept_tool" {
            let shown = &arguments[2];
            let digest = shown["difference"]["to"].as_str().or(shown.as_str());
            let [server, tool] = [0, 1].map(|at| text(arguments, at).to_string());
            let (pool, digest) = (self.pool.clone(), digest.unwrap_or_default().to_string());
            return Ok(Box::pin(async move {
                let accepted = pool.accept_tool(&server, &tool, &digest).await;
                accepted.map(|()| (Given::nothing(), None))
            }));
        }
        self.call(verb, arguments)
    }

    /// The future of a call or request.
    fn call(&self, verb: &str, arguments: &[Value]) -> Result<Work, Failure> {
        let (second, third) = (text(arguments, 1).to_string(), body(arguments, 2));
        let options = arguments.get(if verb == "request_of" { 4 } else { 3 });
        let options = CallOptions::from_json(&options.map_or(String::new(), Value::to_string))?;
        if verb == "request_of" {
            let session = self.session(text(arguments, 0))?.clone();
            let (method, params) = (text(arguments, 2).to_string(), body(arguments, 3));
            return Ok(Box::pin(async move {
                given(session.request(&second, &method, &params, &options).await)
            }));
        }
        if verb == "call_exposed" {
            let session = self.session(text(arguments, 0))?.clone();
            return Ok(Box::pin(async move {
                given(session.call_tool(&second, &third, &options).await)
            }));
        }
        let lease = Arc::clone(self.lease(text(arguments, 0))?);
        Ok(match verb {
            "call" => {
                Box::pin(async move { given(lease.call_tool(&second, &third, &options).await) })
            }
            "request" => {
                Box::pin(async move { given(lease.request(&second, &third, &options).await) })
            }
            "read_resource" => {
                Box::pin(async move { given(lease.read_resource(&second, &options).await) })
            }
            "get_prompt" => {
                Box::pin(async move { given(lease.get_prompt(&second, &third, &options).await) })
            }
            "subscribe" => Box::pin(async move {
                lease.subscribe_resource(&second).await.map(|()| (Given::nothing(), None))
            }),
            "unsubscribe" => Box::pin(async move {
                lease.unsubscribe_resource(&second).await.map(|()| (Given::nothing(), None))
            }),
            _ => return Err(Failure::Case(format!("no verb {verb}"))),
        })
    }

    fn acquire(&self, arguments: &[Value]) -> Result<Work, Failure> {
        let session = self.session(text(arguments, 0))?.clone();
        let name = text(arguments, 1).to_string();
        let spec = match arguments.get(2).filter(|value| !value.is_null()) {
            Some(value) => Some(ServerSpec::from_json(&name, &self.server(value).to_string())?),
            None => None,
        };
        let options = arguments.get(3).map_or(String::new(), Value::to_string);
        let options = AcquireOptions::from_json(&options)?;
        Ok(Box::pin(async move {
            let lease = session.acquire(&name, spec.as_ref(), &options).await?;
            let value = json!({
                "server": lease.server(),
                "entry_index": lease.entry_index(),
                "generation": lease.generation(),
            });
            Ok((Given::value(value), Some(lease)))
        }))
    }

    fn ended(&mut self, name: String, outcome: Outcome) -> Result<Given, Failure> {
        let (given, lease) = outcome?;
        if let Some(lease) = lease.map(Arc::new) {
            self.kept.push(Arc::clone(&lease));
            self.leases.insert(name, lease);
        }
        Ok(given)
    }

    fn server(&self, value: &Value) -> Value {
        server(value, &self.testserver, &self.start_log.to_string_lossy())
    }

    fn session(&self, id: &str) -> Result<&Session, Failure> {
        self.sessions.get(id).ok_or_else(|| unknown(id))
    }

    fn lease(&self, name: &str) -> Result<&Arc<Lease>, Failure> {
        self.leases.get(name).ok_or_else(|| unknown(name))
    }
}

fn given(result: trunkline::Result<CallResult>) -> Outcome {
    let result = result?;
    let raw = Some(result.json().to_owned());
    Ok((Given { raw, ..Given::text(&result.text()) }, None))
}

/// An aborted task is the library's future dropped: that is how Rust cancels.
fn joined(ended: &tokio::task::JoinError) -> Error {
    let code = if ended.is_cancelled() { ErrorCode::Cancelled } else { ErrorCode::Internal };
    Error::new(code, ended.to_string())
}
