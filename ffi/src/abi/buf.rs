//! Texts that the library gives away: results, reports, lists, events.

use std::borrow::Cow;
use std::sync::OnceLock;

use trunkline::{CallResult, Event, Introduction, List, ListedItem, ShapedTools};

use crate::abi::panic_guard::guarded;
use crate::abi::types::Str;

/// A text that the library gave to the host, such as a result or a report: UTF-8, JSON, read-only.
/// Free it with `trunkline_buf_free`. Any thread may read it, several at a time.
#[derive(Debug)]
pub struct Buf(BufContent);

#[derive(Debug)]
enum BufContent {
    Text(Box<str>),
    /// A list, and its number.
    List(Box<str>, u64),
    Shaped(ShapedTools),
    /// A result, and its text in whole characters where that is another; looked for once.
    Result(CallResult, OnceLock<Option<Box<str>>>),
    Event(Event),
}

impl Buf {
    pub(crate) fn text(&self) -> &str {
        match &self.0 {
            BufContent::Text(text) | BufContent::List(text, _) => text,
            BufContent::Shaped(tools) => tools.json(),
            BufContent::Result(result, whole) => {
                let whole = whole.get_or_init(|| in_whole_characters(result));
                whole.as_deref().unwrap_or(result.json())
            }
            BufContent::Event(event) => event.json(),
        }
    }

    /// The text as it came.
    fn raw(&self) -> &str {
        match &self.0 {
            BufContent::Result(result, _) => result.json(),
            _ => self.text(),
        }
    }

    /// The number of the list that it holds; 0 for what is no list.
    fn revision(&self) -> u64 {
        match &self.0 {
            BufContent::List(_, revision) => *revision,
            BufContent::Shaped(tools) => tools.revision(),
            BufContent::Text(_) | BufContent::Result(..) | BufContent::Event(_) => 0,
        }
    }

    /// The pointer that the host will free.
    pub(crate) fn into_raw(self) -> *mut Buf {
        Box::into_raw(Box::new(self))
    }
}

impl From<String> for Buf {
    fn from(text: String) -> Buf {
        Buf(BufContent::Text(text.into_boxed_str()))
    }
}

impl From<&[ListedItem]> for Buf {
    /// A JSON array whose definitions are copied, not parsed.
    fn from(listed: &[ListedItem]) -> Buf {
        Buf::from(array(listed))
    }
}

impl From<List> for Buf {
    fn from(list: List) -> Buf {
        Buf(BufContent::List(array(&list).into_boxed_str(), list.revision()))
    }
}

impl From<Option<Introduction>> for Buf {
    fn from(said: Option<Introduction>) -> Buf {
        Buf::from(said.map_or_else(|| "null".to_owned(), |said| said.json().to_owned()))
    }
}

impl From<ShapedTools> for Buf {
    fn from(tools: ShapedTools) -> Buf {
        Buf(BufContent::Shaped(tools))
    }
}

/// The text of a result where half a surrogate pair stands in it (SPEC 18.3).
fn in_whole_characters(result: &CallResult) -> Option<Box<str>> {
    match result.text() {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text.into_boxed_str()),
    }
}

fn array(listed: &[ListedItem]) -> String {
    let items: Vec<String> = listed.iter().map(ListedItem::to_json).collect();
    format!("[{}]", items.join(","))
}

impl From<CallResult> for Buf {
    fn from(result: CallResult) -> Buf {
        Buf(BufContent::Result(result, OnceLock::new()))
    }
}

impl From<Event> for Buf {
    fn from(event: Event) -> Buf {
        Buf(BufContent::Event(event))
    }
}

/// The text of a buffer, good until the buffer is freed. Of NULL: the empty text. Half a surrogate
/// pair in a result is `\ufffd`: readers of JSON refuse it. All else of a result is as the server
/// sent it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_buf_str(buf: *const Buf) -> Str {
    // SAFETY: the caller passes NULL or a buffer that it has not freed.
    let buf = unsafe { buf.as_ref() };
    guarded(Str::EMPTY, || buf.map_or(Str::EMPTY, |buf| Str::of(buf.text())))
}

/// The text of a result byte for byte as the server sent it, good until the buffer is freed. Of any
/// other buffer that of `trunkline_buf_str`, and of NULL the empty text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_buf_raw(buf: *const Buf) -> Str {
    // SAFETY: the caller passes NULL or a buffer that it has not freed.
    let buf = unsafe { buf.as_ref() };
    guarded(Str::EMPTY, || buf.map_or(Str::EMPTY, |buf| Str::of(buf.raw())))
}

/// The number of the list that a buffer holds, in its session, from 1: lists that differ have
/// different numbers, and later ones no smaller ones; whether an item is deferred makes no
/// difference. A list whose number is the `revision` of its own event (`TOOLS_CHANGED`,
/// `PROMPTS_CHANGED`, `RESOURCES_CHANGED`) or greater has what the event tells. Resources and their
/// templates share their numbers; other kinds count for themselves.
///
/// 0 for a buffer of anything else than `trunkline_session_tools`, `trunkline_session_tools_for`
/// and the other lists of a session give, and of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_buf_revision(buf: *const Buf) -> u64 {
    // SAFETY: the caller passes NULL or a buffer that it has not freed.
    let buf = unsafe { buf.as_ref() };
    guarded(0, || buf.map_or(0, Buf::revision))
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
