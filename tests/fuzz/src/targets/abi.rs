//! The C ABI in any order: bytes are calls, and each is answered, whatever it is called with (SPEC
//! 16.2).
//!
//! Nothing is configured that could be started, dialled or written: what is put to the test is
//! handles, texts and ends.

use std::collections::BTreeSet;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use trunkline_ffi::*;

use crate::input::Input;

pub const WORDS: &[&str] =
    &["\0\0\0\0", "\u{1}\u{1}", "{\"id\":\"a\"}", "{}", "\u{2}\u{0}\u{3}", "\u{14}\u{15}\u{16}"];

/// Texts that mean something; no text is a server that could run.
const TEXTS: [&[u8]; 18] = [
    b"",
    b"s",
    b"{}",
    b"[]",
    b"null",
    b"{\"id\":\"a\"}",
    b"{\"id\":\"b\",\"servers\":[]}",
    b"{\"id\":7}",
    b"{\"s\":{}}",
    b"{\"s\":{\"command\":7}}",
    b"{\"s\":{\"command\":\"nothing\",\"disabled\":true}}",
    b"{\"mcpServers\":{}}",
    b"project",
    b"openai",
    b"mcp__s__echo",
    b"{\"timeout_ms\":5}",
    b"\xc3\x28",
    b"{\"s\":",
];

/// More calls show nothing new.
const CALLS_MAX: usize = 48;

/// What has not ended by then never will.
const HANG: Duration = Duration::from_secs(60);

/// A host, and what it holds.
struct Host<'a> {
    input: Input<'a>,
    pools: Vec<*mut PoolObject>,
    queue: *mut QueueObject,
    /// Whatever was given out, good or over.
    handles: Vec<u64>,
    /// Sessions that were not closed, each with the place of its pool.
    sessions: BTreeSet<(usize, u64)>,
    closed: BTreeSet<usize>,
    started: u64,
    ended: u64,
}

/// What a call gave.
struct Answer {
    status: Status,
    error: *mut ErrorObject,
    out: *mut Buf,
}

impl Answer {
    fn of(call: impl FnOnce(*mut *mut Buf, *mut *mut ErrorObject) -> Status) -> Status {
        let (mut error, mut out) = (null_mut(), null_mut());
        let status = call(&mut out, &mut error);
        Answer { status, error, out }.checked()
    }

    /// Every failure has an error with the same code, and nothing else; a fault of the library is
    /// never the answer.
    fn checked(self) -> Status {
        assert_ne!(self.status, Status::Internal);
        assert_eq!(self.status == Status::Ok, self.error.is_null());
        // SAFETY: both are what a function gave out, and are not used afterwards; NULL is fine.
        unsafe {
            if !self.error.is_null() {
                assert_eq!(trunkline_error_code(self.error), self.status);
                assert!(trunkline_error_message(self.error).len > 0 && self.out.is_null());
            }
            trunkline_error_free(self.error);
            trunkline_buf_free(self.out);
        }
        self.status
    }
}

fn str_of(bytes: &[u8]) -> Str {
    Str { ptr: bytes.as_ptr().cast(), len: bytes.len() }
}

impl<'a> Host<'a> {
    fn new(input: Input<'a>) -> Self {
        let mut host = Host {
            input,
            pools: Vec::new(),
            queue: null_mut(),
            handles: vec![0],
            sessions: BTreeSet::new(),
            closed: BTreeSet::new(),
            started: 0,
            ended: 0,
        };
        // SAFETY: the places are there, and so are those of the pools.
        unsafe {
            Answer::of(|_, error| trunkline_queue_new(&mut host.queue, error));
            for _ in 0..2 {
                let mut pool = null_mut();
                let status = Answer::of(|_, err| trunkline_pool_new(str_of(b"{}"), &mut pool, err));
                assert_eq!(status, Status::Ok);
                host.pools.push(pool);
            }
        }
        host
    }

    /// A text of the table, one that cannot be, or one of the input as far as it can start nothing.
    fn text(&mut self) -> Str {
        match self.input.byte() {
            250 => Str { ptr: null(), len: 3 },
            251 => Str { ptr: c"x".as_ptr(), len: usize::MAX },
            252.. => {
                let bytes = self.input.bytes();
                let names = [&b"command"[..], b"url", b"Url", b"tcp", b"socket", b"\\"];
                let has = |name: &&[u8]| bytes.windows(name.len()).any(|part| part == *name);
                str_of(if names.iter().any(has) { b"" } else { bytes })
            }
            byte => str_of(TEXTS[usize::from(byte) % TEXTS.len()]),
        }
    }

    /// A text that is a configuration, or none: of the table alone.
    fn known_text(&mut self) -> Str {
        str_of(TEXTS[self.input.below(TEXTS.len())])
    }

    fn pool(&mut self) -> (usize, *mut PoolObject) {
        match self.input.byte() {
            255 => (usize::MAX, null_mut()),
            byte => {
                let place = usize::from(byte) % self.pools.len();
                (place, self.pools[place])
            }
        }
    }

    /// Mostly something that was given out; or near it, or nobody's.
    fn handle(&mut self) -> u64 {
        match self.input.byte() {
            255 => self.input.number(),
            254 => self.handles.last().map_or(0, |last| last ^ 1 << self.input.below(64)),
            byte => self.handles[usize::from(byte) % self.handles.len()],
        }
    }

    fn keep(&mut self, status: Status, handle: u64) {
        assert_eq!(status == Status::Ok, handle != 0);
        if handle != 0 {
            assert!(!self.handles.contains(&handle), "no handle is given out twice");
            self.handles.push(handle);
        }
    }

    /// Something of a session: anything but a session of that pool is a bad handle.
    fn of_session(&mut self) {
        let ((place, pool), session, kind) = (self.pool(), self.handle(), self.input.below(8));
        let text = self.text();
        // SAFETY: the pool is live or NULL, the texts stay, and the places are there.
        let status = Answer::of(|out, err| unsafe {
            match kind {
                0 => trunkline_session_tools(pool, session, out, err),
                1 => trunkline_session_prompts(pool, session, out, err),
                2 => trunkline_session_resources(pool, session, out, err),
                3 => trunkline_session_resource_templates(pool, session, out, err),
                4 => trunkline_session_tools_for(pool, session, text, out, err),
                5 => trunkline_session_configure(pool, session, text, err),
                6 => trunkline_session_disable(pool, session, text, err),
                _ => trunkline_session_explain(pool, session, text, out, err),
            }
        });
        let is_live = self.sessions.contains(&(place, session));
        if !is_live {
            assert_ne!(status, Status::Ok, "{session:x} is no session of pool {place}");
        } else if !self.closed.contains(&place) {
            assert!(!matches!(status, Status::BadHandle | Status::Closed), "{session:x} is live");
        }
    }

    fn open(&mut self) {
        let ((place, pool), options, mut session) = (self.pool(), self.text(), 0);
        // SAFETY: as of_session.
        let status = Answer::of(|_, err| unsafe {
            trunkline_session_open(pool, options, &mut session, err)
        });
        self.keep(status, session);
        if status == Status::Ok {
            assert!(!self.closed.contains(&place), "a closed pool opens nothing");
            self.sessions.insert((place, session));
        }
    }

    fn close(&mut self) {
        let ((place, pool), session, keep) = (self.pool(), self.handle(), self.input.below(2));
        // SAFETY: as of_session.
        let status = Answer::of(|_, err| unsafe {
            trunkline_session_close(pool, session, keep as u64 * 5, err)
        });
        let was_live = self.sessions.remove(&(place, session));
        if !self.closed.contains(&place) {
            assert!(!was_live || status == Status::Ok, "{status:?}");
        }
    }

    /// Something that ends in the queue.
    fn start(&mut self) {
        let ((_, pool), handle, kind) = (self.pool(), self.handle(), self.input.below(8));
        let (known, text, queue) = (self.known_text(), self.text(), self.queue);
        let (tag, mut op) = (self.started + 1, 0);
        // SAFETY: as of_session, and the queue is live.
        let status = Answer::of(|_, err| unsafe {
            match kind {
                0 => trunkline_pool_reconcile_enqueue(pool, known, queue, tag, &mut op, err),
                1 => trunkline_session_started_enqueue(pool, handle, queue, tag, &mut op, err),
                2 => trunkline_pool_restart_enqueue(pool, text, 0, queue, tag, &mut op, err),
                3 => trunkline_pool_set_roots_enqueue(pool, text, queue, tag, &mut op, err),
                4 => trunkline_session_call_tool_enqueue(
                    pool,
                    handle,
                    text,
                    known,
                    null(),
                    queue,
                    tag,
                    &mut op,
                    err,
                ),
                5 => trunkline_session_acquire_enqueue(
                    pool,
                    handle,
                    text,
                    str_of(b""),
                    known,
                    queue,
                    tag,
                    &mut op,
                    err,
                ),
                6 => trunkline_lease_request_enqueue(
                    pool,
                    handle,
                    text,
                    known,
                    null(),
                    queue,
                    tag,
                    &mut op,
                    err,
                ),
                _ => trunkline_pool_set_roots_enqueue(pool, known, null_mut(), tag, &mut op, err),
            }
        });
        self.keep(status, op);
        self.started += u64::from(status == Status::Ok);
    }

    fn subscribe(&mut self) {
        let ((_, pool), session, mask) = (self.pool(), self.handle(), self.input.number());
        let (is_pool, mut out) = (self.input.below(2) == 0, 0);
        // SAFETY: as of start.
        let status = Answer::of(|shown, err| unsafe {
            match is_pool {
                true => {
                    trunkline_pool_subscribe_queue(pool, mask, self.queue, 0, &mut out, shown, err)
                }
                false => trunkline_session_subscribe_queue(
                    pool, session, mask, self.queue, 0, &mut out, shown, err,
                ),
            }
        });
        self.keep(status, out);
    }

    /// Something of a handle of another kind.
    fn of_other(&mut self) {
        let ((_, pool), handle, kind) = (self.pool(), self.handle(), self.input.below(8));
        let text = self.text();
        // SAFETY: as of_session.
        Answer::of(|out, err| unsafe {
            match kind {
                0 => trunkline_op_cancel(pool, handle, err),
                1 => trunkline_subscription_close(pool, handle, err),
                2 => trunkline_lease_release(pool, handle, err),
                3 => trunkline_lease_tools(pool, handle, out, err),
                4 => trunkline_lease_describe(pool, handle, out, err),
                5 => trunkline_host_send(pool, handle, text, err),
                6 => trunkline_request_answer(pool, handle, text, err),
                _ => trunkline_request_refuse(pool, handle, -1, text, err),
            }
        });
    }

    fn of_pool(&mut self) {
        let ((place, pool), kind, text) = (self.pool(), self.input.below(5), self.text());
        // SAFETY: as of_session.
        let status = Answer::of(|out, err| unsafe {
            match kind {
                0 | 1 => trunkline_pool_status(pool, out, err),
                2 => trunkline_pool_explain(pool, text, out, err),
                3 => trunkline_pool_set_gates(pool, text, out, err),
                _ => trunkline_pool_close(pool, HANG.as_millis() as u64, err),
            }
        });
        if kind < 2 && place < self.pools.len() {
            assert_eq!(status, Status::Ok, "the status always works");
        }
        if kind == 4 && place < self.pools.len() {
            assert_eq!(status, Status::Ok);
            self.closed.insert(place);
        }
    }

    /// Takes out what is in the queue; how many operations ended so.
    fn drain(&mut self) {
        // SAFETY: the queue is live, the places are there, and each item is cleared once.
        unsafe {
            let mut items: [std::mem::MaybeUninit<Item>; 8] =
                [const { std::mem::MaybeUninit::uninit() }; 8];
            let mut count = 0;
            Answer::of(|_, err| {
                trunkline_queue_drain(
                    self.queue,
                    items.as_mut_ptr().cast(),
                    items.len(),
                    &mut count,
                    err,
                )
            });
            for item in &mut items[..count] {
                let item = item.assume_init_mut();
                self.ended += u64::from(item.kind == ItemKind::Done);
                assert_eq!(item.kind == ItemKind::Done, item.tag != 0);
                assert_ne!(item.status, Status::Internal);
                trunkline_item_clear(item);
            }
        }
    }

    /// Ends everything: each operation has ended once.
    fn end(mut self) {
        for pool in std::mem::take(&mut self.pools) {
            // SAFETY: the pool is live, and is not used afterwards.
            unsafe {
                let status =
                    Answer::of(|_, err| trunkline_pool_close(pool, HANG.as_millis() as u64, err));
                assert_eq!(status, Status::Ok);
                trunkline_pool_free(pool);
            }
        }
        let began = Instant::now();
        while self.ended < self.started {
            assert!(began.elapsed() < HANG, "{} of {} ended", self.ended, self.started);
            self.drain();
            std::thread::yield_now();
        }
        self.drain();
        assert_eq!(self.ended, self.started);
        // SAFETY: the queue is live, and is not used afterwards.
        unsafe { trunkline_queue_free(self.queue) };
    }
}

pub fn run(bytes: &[u8]) {
    let mut host = Host::new(Input::new(bytes));
    for _ in 0..CALLS_MAX {
        if host.input.is_empty() {
            break;
        }
        match host.input.below(12) {
            0 | 1 => host.open(),
            2 => host.close(),
            3..6 => host.of_session(),
            6 | 7 => host.start(),
            8 => host.subscribe(),
            9 => host.of_other(),
            10 => host.of_pool(),
            _ => host.drain(),
        }
    }
    host.end();
}
