//! Texts that the library gives away: results, reports, lists, events.

use trunkline::{CallResult, Event};

use crate::guard::guarded;
use crate::types::Str;

/// A text that the library gave to the host, such as a result or a report: UTF-8, JSON, read-only.
/// Free it with `trunkline_buf_free`. Any thread may read it, several at a time.
#[derive(Debug)]
pub struct Buf(Content);

#[derive(Debug)]
enum Content {
    Text(Box<str>),
    Result(CallResult),
    Event(Event),
}

impl Buf {
    pub(crate) fn text(&self) -> &str {
        match &self.0 {
            Content::Text(text) => text,
            Content::Result(result) => result.json(),
            Content::Event(event) => event.json(),
        }
    }

    /// The pointer that the host will free.
    pub(crate) fn into_raw(self) -> *mut Buf {
        Box::into_raw(Box::new(self))
    }
}

impl From<String> for Buf {
    fn from(text: String) -> Buf {
        Buf(Content::Text(text.into_boxed_str()))
    }
}

impl From<CallResult> for Buf {
    fn from(result: CallResult) -> Buf {
        Buf(Content::Result(result))
    }
}

impl From<Event> for Buf {
    fn from(event: Event) -> Buf {
        Buf(Content::Event(event))
    }
}

/// The text of a buffer, good until the buffer is freed. Of NULL: the empty text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_buf_str(buf: *const Buf) -> Str {
    // SAFETY: the caller passes NULL or a buffer that it has not freed.
    let buf = unsafe { buf.as_ref() };
    guarded(Str::EMPTY, || buf.map_or(Str::EMPTY, |buf| Str::of(buf.text())))
}

/// Frees a buffer. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_buf_free(buf: *mut Buf) {
    if !buf.is_null() {
        // SAFETY: it came from `into_raw`, and the caller gives it up.
        let buf = unsafe { Box::from_raw(buf) };
        guarded((), || drop(buf));
    }
}
