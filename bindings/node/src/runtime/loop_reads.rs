//! Answers that the event loop reads itself: libuv polls the output of servers that is on loan to
//! it.
//!
//! A call that waits alone is then answered by the one thread that waits for it, which the server
//! wakes. Polling never keeps the loop alive: the waker does that while anything is pending.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

use napi::{check_status, sys};
use trunkline::{EventLoop, LoopReader, Operation, Reader};

use crate::runtime::environment::Environment;
use crate::runtime::failure::contained;
use crate::runtime::uv::{self, Handle, Uv};

/// What one environment polls.
pub struct Polls {
    env: sys::napi_env,
    uv: &'static Uv,
    uv_loop: *mut sys::uv_loop_s,
    borrower: EventLoop,
    open: RefCell<Vec<Rc<Poll>>>,
    /// Handles that libuv has not given back.
    handles: Cell<usize>,
    /// Whether the end of the environment is told to this.
    is_hooked: Cell<bool>,
    /// While the environment waits for the handles.
    end: Cell<sys::napi_async_cleanup_hook_handle>,
    is_ended: Cell<bool>,
}

/// One descriptor that is polled.
pub struct Poll {
    handle: Handle,
    loan: LoopReader,
    is_paused: Cell<bool>,
    environment: Rc<Environment>,
}

impl Polls {
    /// Starts without a poll; `None` where the loop cannot poll. `over` gets the number of each
    /// loan that has ended, on any thread.
    pub fn open(env: sys::napi_env, over: impl Fn(u64) + Send + Sync + 'static) -> Option<Polls> {
        let uv = Uv::of_process()?;
        let mut uv_loop = null_mut();
        // SAFETY: `env` is current on this thread, and the result is written before it is read.
        let status = unsafe { sys::napi_get_uv_event_loop(env, &mut uv_loop) };
        (status == sys::Status::napi_ok).then(|| Polls {
            env,
            uv,
            uv_loop,
            borrower: EventLoop::new(over),
            open: RefCell::default(),
            handles: Cell::new(0),
            is_hooked: Cell::new(false),
            end: Cell::new(null_mut()),
            is_ended: Cell::new(false),
        })
    }

    /// Lets the loop read the answer to a call that was just started, if nobody else needs to read.
    pub fn await_answer(&self, operation: &Operation, environment: &Rc<Environment>) {
        if self.is_ended.get() {
            return;
        }
        match operation.read_on(&self.borrower) {
            Reader::Library => {}
            Reader::Loan(number) => {
                if let Some(poll) = self.find(number) {
                    self.go_on(&poll);
                }
            }
            Reader::NewLoan(loan) => self.add(loan, environment),
        }
    }

    /// Stops to poll for good.
    pub fn close(&self, number: u64) {
        let poll = self.find(number);
        self.open.borrow_mut().retain(|poll| poll.loan.number() != number);
        if let Some(poll) = poll {
            // SAFETY: the handle was initialised, and is closed once: nobody finds it any more.
            unsafe { (self.uv.close)(poll.handle, Some(on_closed)) };
        }
    }

    /// Until a call is read by this loan again.
    pub fn pause(&self, poll: &Poll) {
        poll.is_paused.set(true);
        // SAFETY: the handle is initialised, and not closed while its poll is used.
        unsafe { (self.uv.poll_stop)(poll.handle) };
    }

    fn find(&self, number: u64) -> Option<Rc<Poll>> {
        self.open.borrow().iter().find(|poll| poll.loan.number() == number).cloned()
    }

    fn add(&self, loan: LoopReader, environment: &Rc<Environment>) {
        let layout = layout(self.uv).filter(|_| self.hook(environment).is_ok());
        let Some(layout) = layout else { return loan.give_up() };
        // SAFETY: the layout is not of size zero.
        let handle: Handle = unsafe { alloc_zeroed(layout) }.cast();
        if handle.is_null() {
            return loan.give_up();
        }
        // SAFETY: the memory is as large as libuv wants it, and the descriptor is open until the
        // handle is closed.
        if unsafe { (self.uv.poll_init)(self.uv_loop, handle, loan.descriptor()) } != 0 {
            // SAFETY: it was allocated with this layout, and libuv has not taken it.
            unsafe { dealloc(handle.cast(), layout) };
            return loan.give_up();
        }
        let poll =
            Poll { handle, loan, is_paused: Cell::new(true), environment: environment.clone() };
        let poll = Rc::new(poll);
        // SAFETY: the handle is initialised; `on_closed` gives the reference back.
        unsafe {
            (self.uv.unref)(handle);
            (self.uv.attach)(handle, Rc::into_raw(poll.clone()) as *mut c_void);
        }
        self.handles.set(self.handles.get() + 1);
        self.go_on(&poll);
        self.open.borrow_mut().push(poll);
    }

    fn go_on(&self, poll: &Poll) {
        if poll.is_paused.get() {
            // SAFETY: the handle is initialised, and not closed. A failure leaves the answer to the
            // library, which looks after it.
            let status = unsafe { (self.uv.poll_start)(poll.handle, uv::READABLE, on_polled) };
            poll.is_paused.set(status != 0);
        }
    }

    /// The environment ends only when libuv has given back every handle.
    fn hook(&self, environment: &Rc<Environment>) -> napi::Result<()> {
        if self.is_hooked.get() {
            return Ok(());
        }
        let context = Rc::into_raw(environment.clone());
        // SAFETY: `env` is current on this thread; `on_end` takes over the reference that `context`
        // is.
        let status = unsafe {
            let context = context as *mut c_void;
            sys::napi_add_async_cleanup_hook(self.env, Some(on_end), context, null_mut())
        };
        if status == sys::Status::napi_ok {
            self.is_hooked.set(true);
        } else {
            // SAFETY: nobody took the reference over.
            drop(unsafe { Rc::from_raw(context) });
        }
        check_status!(status)
    }

    fn end(&self, hook: sys::napi_async_cleanup_hook_handle) {
        self.is_ended.set(true);
        self.end.set(hook);
        let numbers: Vec<u64> = self.open.borrow().iter().map(|poll| poll.loan.number()).collect();
        numbers.into_iter().for_each(|number| self.close(number));
        self.tell_end();
    }

    fn forget_handle(&self, handle: Handle) {
        if let Some(layout) = layout(self.uv) {
            // SAFETY: it was allocated with this layout, and libuv is done with it.
            unsafe { dealloc(handle.cast(), layout) };
        }
        self.handles.set(self.handles.get() - 1);
        self.tell_end();
    }

    fn tell_end(&self) {
        let hook = self.end.get();
        if self.handles.get() == 0 && !hook.is_null() {
            self.end.set(null_mut());
            // SAFETY: the handle is that of the hook that runs, or has run, and is given back once.
            unsafe { sys::napi_remove_async_cleanup_hook(hook) };
        }
    }
}

impl Poll {
    /// Reads what is there. Whether to go on polling.
    pub fn read(&self) -> bool {
        self.loan.read()
    }
}

/// Of the memory of a handle.
fn layout(uv: &Uv) -> Option<Layout> {
    /// As `malloc` aligns, which libuv counts on.
    const ALIGNMENT: usize = 16;
    // SAFETY: takes a number, and changes nothing.
    let size = unsafe { (uv.handle_size)(uv::POLL) };
    Layout::from_size_align(size, ALIGNMENT).ok().filter(|layout| layout.size() > 0)
}

unsafe extern "C" fn on_polled(handle: Handle, status: c_int, _events: c_int) {
    let Some(uv) = Uv::of_process() else { return };
    // SAFETY: the reference that `add` gave to the handle, which is not closed; the count is raised
    // for the clone made of it.
    let poll = unsafe {
        let poll = (uv.attached)(handle) as *const Poll;
        Rc::increment_strong_count(poll);
        Rc::from_raw(poll)
    };
    // Errors too are told to the library, by reading; libuv has stopped to poll then.
    let read = || poll.environment.read_ready(&poll, status == 0);
    if contained(read).is_none() {
        poll.environment.wake();
    }
}

unsafe extern "C" fn on_end(hook: sys::napi_async_cleanup_hook_handle, context: *mut c_void) {
    // SAFETY: the reference that `hook` gave to the environment comes back here, once.
    let environment = unsafe { Rc::from_raw(context as *const Environment) };
    contained(|| {
        if let Some(polls) = environment.polls() {
            polls.end(hook);
        }
    });
}

unsafe extern "C" fn on_closed(handle: Handle) {
    let Some(uv) = Uv::of_process() else { return };
    // SAFETY: the reference that `add` gave to the handle comes back here, once.
    let poll = unsafe { Rc::from_raw((uv.attached)(handle) as *const Poll) };
    contained(|| {
        if let Some(polls) = poll.environment.polls() {
            polls.forget_handle(handle);
        }
    });
}
