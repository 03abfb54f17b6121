//! What all objects of one JavaScript environment share: its queue, its waker and its promises.
//!
//! An environment is the main thread's or a worker thread's; each has its own. The library's
//! threads push into the queue; its first item wakes the JavaScript thread, which then settles a
//! whole batch. While promises are pending the waker holds the event loop; the count goes from and
//! to zero on the JavaScript thread only, so there is no race in that. A call that waits alone is
//! answered without them: `loop_reads` reads its answer on the JavaScript thread.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_void;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use napi::bindgen_prelude::{Env, FnArgs, FunctionRef, ToNapiValue};
use napi::{Result, check_status, sys};
use trunkline::{
    CallOptions, CompletionQueue, Error, Operation, Pool, Progress, ProgressFeed, ProgressReceiver,
    WriteBatch,
};

use crate::runtime::async_context::AsyncContext;
use crate::runtime::failure::{self, contained};
use crate::runtime::loop_reads::{Poll, Polls};
use crate::runtime::pending::{Deferred, Owner, Pending};
use crate::runtime::reply::{Arrival, Queue, Reply, Settled};
use crate::runtime::shutdown;
use crate::runtime::text;
use crate::runtime::waker::{Callbacks, Waker};

/// Arrivals handled between two looks at other work of the event loop: enough that a change for a
/// thousand sessions costs one wake-up; few enough that timers and sockets wait a few milliseconds
/// at most.
const BATCH: usize = 1024;

/// Bytes of results that are handled between them: JavaScript is done with these before it gets
/// more, so that its collector does not meet them all alive.
const BATCH_BYTES: usize = 512 << 10;

/// The JavaScript functions that are told what is no result.
pub struct Listeners {
    /// Which subscription has events.
    pub on_readable: FunctionRef<f64, ()>,
    /// Which operation made progress: its number, and its events as the text of a JSON array.
    pub on_progress: FunctionRef<FnArgs<(f64, String)>, ()>,
}

/// The state of one environment. Only its JavaScript thread has it.
pub struct Environment {
    env: sys::napi_env,
    key: u64,
    queue: Arc<Queue>,
    waker: Arc<Waker>,
    pending: RefCell<Pending>,
    listeners: RefCell<Option<Listeners>>,
    /// While what awaited a batch of results goes on.
    joined: RefCell<Option<WriteBatch>>,
    /// Absent where it cannot poll. Made for the first call.
    polls: OnceCell<Option<Polls>>,
    /// What goes on when the loop has read an answer; no call's. Absent where the loop is not that
    /// of Node.
    context: Option<AsyncContext>,
    is_ended: Cell<bool>,
}

/// A promise on its way out of an exported function.
pub struct Promise(sys::napi_value);

impl ToNapiValue for Promise {
    unsafe fn to_napi_value(_env: sys::napi_env, promise: Self) -> Result<sys::napi_value> {
        Ok(promise.0)
    }
}

impl Environment {
    /// The state of the environment that runs on this thread. It lives until that ends. `can_poll`
    /// says whether its event loop is that of Node; `resource` is what hooks see of it.
    pub fn open(
        env: sys::napi_env,
        listeners: Listeners,
        can_poll: bool,
        resource: sys::napi_value,
    ) -> Result<Rc<Environment>> {
        static KEYS: AtomicU64 = AtomicU64::new(1);
        let waker = Arc::new(Waker::new());
        let woken = waker.clone();
        let environment = Rc::new(Environment {
            env,
            key: KEYS.fetch_add(1, Ordering::Relaxed),
            queue: Arc::new(CompletionQueue::new(move || woken.wake())),
            waker,
            pending: RefCell::default(),
            listeners: RefCell::new(Some(listeners)),
            joined: RefCell::default(),
            polls: OnceCell::new(),
            context: if can_poll { Some(AsyncContext::new(env, resource)?) } else { None },
            is_ended: Cell::new(false),
        });
        let context = Rc::into_raw(environment.clone()) as *mut c_void;
        let callbacks = Callbacks { on_wake, on_end: on_waker_end, context };
        environment.waker.open(env, resource, callbacks)?;
        let context = Rc::into_raw(environment.clone()) as *mut c_void;
        // Hooks run in reverse order: this one before that of the thread-safe function, which is
        // then still there. SAFETY: `on_environment_end` takes over the reference that `context`
        // is.
        check_status!(unsafe {
            sys::napi_add_env_cleanup_hook(env, Some(on_environment_end), context)
        })?;
        Ok(environment)
    }

    /// Which environment this is, among all of the process.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Node's handle of it.
    pub fn env(&self) -> sys::napi_env {
        self.env
    }

    /// The queue, for subscriptions.
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// A number for an operation or a subscription, not used before.
    pub fn number(&self) -> u64 {
        self.pending.borrow_mut().number()
    }

    /// A promise for what `begin` starts. `reserved` is a number from [`number`](Self::number) by
    /// which it can be cancelled.
    pub fn promise(
        &self,
        reserved: Option<f64>,
        owner: Owner,
        begin: impl FnOnce(Reply) -> Operation,
    ) -> failure::Result<Promise> {
        let (deferred, promise) = Deferred::new(self.env).map_err(failure::of_node)?;
        let number = reserved.map_or_else(|| self.number(), |number| number as u64);
        if self.pending.borrow_mut().insert(number, deferred, owner) {
            self.waker.hold(self.env);
        }
        // No borrow is held here: `begin` may answer before it returns.
        let operation = begin(Reply::new(self.queue.clone(), number));
        self.pending.borrow_mut().attach(number, operation);
        Ok(Promise(promise))
    }

    /// A promise for a future of the core, which runs on the library's threads.
    pub fn run<T: Send + 'static>(
        &self,
        reserved: Option<f64>,
        pool: &Pool,
        future: impl Future<Output = std::result::Result<T, Error>> + Send + 'static,
        settle: impl FnOnce(T) -> Settled + Send + 'static,
    ) -> failure::Result<Promise> {
        self.promise(reserved, Owner::Itself, |reply| {
            pool.start(future, move |result| reply.send(result.map(settle)))
        })
    }

    /// The options of a call from JSON text; none at all is the usual case, and costs nothing. With
    /// `told` the call's progress goes to JavaScript under its number.
    pub fn call_options(
        &self,
        text: Option<String>,
        told: Option<f64>,
    ) -> failure::Result<CallOptions> {
        let mut options = match text {
            None => CallOptions::default(),
            Some(text) => CallOptions::from_json(&text).map_err(failure::thrown)?,
        };
        // What comes of progress is for other threads.
        options.reads_here = matches!(options.progress, Progress::Off);
        if let (Progress::On, Some(number)) = (&options.progress, told) {
            let (queue, feed) = (self.queue.clone(), Arc::new(ProgressFeed::new()));
            let number = number as u64;
            options.progress = Progress::To(ProgressReceiver::new(move |event| {
                if feed.push(event) {
                    queue.push(Arrival::Progress { number, feed: feed.clone() });
                }
            }));
        }
        Ok(options)
    }

    /// Lets the event loop read the answer to a call that was just started, where nobody else needs
    /// to read.
    pub fn await_answer(self: &Rc<Self>, operation: &Operation, options: &CallOptions) {
        if !options.reads_here {
            return;
        }
        let open = || {
            let queue = self.queue.clone();
            let over = move |loan| queue.push(Arrival::LoanOver { loan });
            self.context.as_ref().and_then(|_| Polls::open(self.env, over))
        };
        if let Some(polls) = self.polls.get_or_init(open) {
            polls.await_answer(operation, self);
        }
    }

    /// What the event loop polls.
    pub fn polls(&self) -> Option<&Polls> {
        self.polls.get()?.as_ref()
    }

    /// Reads what a server has written whose output is on loan to the loop, and settles what that
    /// ends. `goes_on`: it is still polled.
    pub fn read_ready(self: &Rc<Self>, poll: &Poll, goes_on: bool) {
        let Some(polls) = self.polls() else { return };
        self.write_joined();
        if !self.queue.before_drain(|| poll.read()) || !goes_on {
            polls.pause(poll);
        }
        if !self.queue.is_empty() {
            let _handles = Scope::open(self.env);
            let _callback = self.context.as_ref().and_then(AsyncContext::scope);
            self.deliver();
        }
    }

    /// Whether promises are pending, which keep the event loop alive.
    pub fn is_held(&self) -> bool {
        !self.pending.borrow().is_empty()
    }

    /// Asks for what arrived to be handled soon.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Cancels the operation with that number, if it is still under way.
    pub fn cancel(&self, number: u64) {
        let operation = self.pending.borrow().operation(number);
        if let Some(operation) = operation {
            operation.cancel();
        }
    }

    /// Handles what arrived. On a wake-up.
    ///
    /// The code that awaited one of several results runs once this has returned, before the next
    /// wake-up. It mostly calls again. This asks for that wake-up, which writes all these calls
    /// together.
    fn deliver(self: &Rc<Self>) {
        if self.joined.take().is_some() {
            // Another wake-up was asked for as well, if anything arrived meanwhile.
            return;
        }
        let arrivals = self.queue.drain_within(BATCH, BATCH_BYTES, Arrival::bytes);
        let is_settled = |arrival: &&Arrival| matches!(arrival, Arrival::Settled { .. });
        let are_several = arrivals.iter().filter(is_settled).nth(1).is_some();
        for arrival in arrivals {
            if self.is_ended.get() {
                return;
            }
            let _scope = Scope::open(self.env);
            match arrival {
                Arrival::Settled { number, result } => self.settle(number, result),
                Arrival::Readable { subscription } => self.announce(subscription),
                Arrival::LoanOver { loan } => {
                    self.polls().into_iter().for_each(|polls| polls.close(loan));
                }
                Arrival::Progress { number, feed } => self.report(number, &feed),
            }
        }
        if are_several && !self.is_ended.get() {
            self.joined.replace(Some(WriteBatch::begin()));
            self.waker.wake();
        }
    }

    /// Writes what calls wait to be written with others. Before this thread waits for anything.
    pub fn write_joined(&self) {
        self.joined.take();
    }

    fn settle(self: &Rc<Self>, number: u64, result: std::result::Result<Settled, Error>) {
        let Some((deferred, is_last)) = self.pending.borrow_mut().remove(number) else { return };
        if is_last {
            self.waker.let_go(self.env);
        }
        match result {
            Err(error) => deferred.reject(self.env, &failure::text(&error)),
            Ok(settled) => match self.value_of(settled) {
                Ok(value) => deferred.resolve(self.env, value),
                Err(error) => {
                    let error = failure::internal(format!("the result: {}", error.reason));
                    deferred.reject(self.env, &failure::text(&error));
                }
            },
        }
    }

    fn value_of(self: &Rc<Self>, settled: Settled) -> Result<sys::napi_value> {
        match settled {
            Settled::Nothing => text::undefined(self.env),
            Settled::Text(text) => text::to_js(self.env, &text),
            Settled::Call(result) => text::result_to_js(self.env, &result),
            Settled::Object(make) => make(self),
        }
    }

    /// Tells JavaScript that a subscription has events. What that throws goes to the host as an
    /// uncaught exception.
    fn announce(&self, subscription: u64) {
        let env = Env::from_raw(self.env);
        // Not borrowed during the call, which may end the environment.
        let function = match &*self.listeners.borrow() {
            Some(listeners) => listeners.on_readable.borrow_back(&env),
            None => return,
        };
        let _ = function.and_then(|function| function.call(subscription as f64));
        report_exception(self.env);
    }

    /// Tells JavaScript how far a call is.
    fn report(&self, number: u64, feed: &ProgressFeed) {
        let env = Env::from_raw(self.env);
        let function = match &*self.listeners.borrow() {
            Some(listeners) => listeners.on_progress.borrow_back(&env),
            None => return,
        };
        let events = format!("[{}]", feed.take().join(","));
        let _ = function.and_then(|function| function.call(FnArgs::from((number as f64, events))));
        report_exception(self.env);
    }

    /// Ends all work of the environment: nobody is woken any more, calls are cancelled, its pools
    /// closed.
    fn end(&self) {
        self.is_ended.set(true);
        self.write_joined();
        self.waker.close();
        let operations = self.pending.borrow_mut().abandon();
        for operation in operations {
            operation.cancel();
        }
        shutdown::end_pools(shutdown::Whose::Environment(self.key));
        self.listeners.borrow_mut().take();
        while !self.queue.drain(BATCH).is_empty() {}
        self.context.iter().for_each(AsyncContext::end);
    }
}

/// A handle scope around one arrival, so that a batch of large results is not kept alive as a
/// whole.
struct Scope(sys::napi_env, sys::napi_handle_scope);

impl Scope {
    fn open(env: sys::napi_env) -> Option<Scope> {
        let mut scope = std::ptr::null_mut();
        // SAFETY: `env` is current on this thread; the drop closes the scope in the reverse order
        // of opening.
        let status = unsafe { sys::napi_open_handle_scope(env, &mut scope) };
        (status == sys::Status::napi_ok).then_some(Scope(env, scope))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // SAFETY: the scope was opened by `open` in this environment and is closed once.
        unsafe { sys::napi_close_handle_scope(self.0, self.1) };
    }
}

/// Hands a pending JavaScript exception to `process.on('uncaughtException')`.
fn report_exception(env: sys::napi_env) {
    let (mut is_pending, mut exception) = (false, std::ptr::null_mut());
    // SAFETY: `env` is current on this thread, and each result is written before it is read.
    unsafe {
        if sys::napi_is_exception_pending(env, &mut is_pending) == sys::Status::napi_ok
            && is_pending
            && sys::napi_get_and_clear_last_exception(env, &mut exception) == sys::Status::napi_ok
        {
            sys::napi_fatal_exception(env, exception);
        }
    }
}

unsafe extern "C" fn on_wake(
    env: sys::napi_env,
    _callback: sys::napi_value,
    context: *mut c_void,
    _item: *mut c_void,
) {
    // Node passes no environment when it is ending.
    if env.is_null() {
        return;
    }
    let context = context as *const Environment;
    // SAFETY: the context is the reference that `on_waker_end` gives back, later than any wake-up;
    // the count is raised for the clone made of it, so that the environment outlives this call.
    let environment = unsafe {
        Rc::increment_strong_count(context);
        Rc::from_raw(context)
    };
    // A panic is a fault of ours; unwinding into Node would be undefined, and `Reply` has answered
    // or will.
    contained(|| environment.deliver());
}

unsafe extern "C" fn on_waker_end(_env: sys::napi_env, context: *mut c_void, _hint: *mut c_void) {
    // SAFETY: the reference that `open` gave to the waker comes back here, once.
    let environment = unsafe { Rc::from_raw(context as *const Environment) };
    contained(|| environment.waker.close());
}

unsafe extern "C" fn on_environment_end(context: *mut c_void) {
    // SAFETY: the reference that `open` gave to the hook comes back here, once.
    let environment = unsafe { Rc::from_raw(context as *const Environment) };
    contained(|| environment.end());
}
