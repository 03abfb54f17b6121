//! What is called, and what comes of it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;
use trunkline_pool::json::{Apart, apart};
use trunkline_pool::lenient::whole_characters;

use crate::client::Reply;
use crate::{Error, ErrorCode, Outcome, Result};

/// The result of a call: JSON text exactly as the server sent it.
#[derive(Clone, Debug)]
pub struct CallResult(Reply);

impl CallResult {
    /// Of what came from the server, whose results are objects: every reader of one may count on
    /// that.
    pub(crate) fn of(reply: Reply) -> Result<CallResult> {
        if reply.json.starts_with('{') {
            return Ok(CallResult(reply));
        }
        let message = "the server answered with a result that is not an object";
        Err(Error::new(ErrorCode::Protocol, message).with_outcome(Outcome::Unknown))
    }

    /// Of a request that was answered here.
    pub(crate) fn empty() -> CallResult {
        CallResult(Reply { json: "{}".into() })
    }

    /// The whole result.
    pub fn json(&self) -> &str {
        &self.0.json
    }

    /// The same for readers that want whole characters: half a surrogate pair is U+FFFD
    /// (SPEC 18.3).
    pub fn text(&self) -> Cow<'_, str> {
        whole_characters(self.json())
    }

    /// The same without its long strings, for readers that decode it; `None` where that is not
    /// worth it.
    #[doc(hidden)]
    pub fn apart(&self) -> Option<Apart<'_>> {
        apart(self.json())
    }

    /// Whether the tool reports an error (`isError`).
    pub fn is_error(&self) -> bool {
        self.member("isError").is_some_and(|value| value.get() == "true")
    }

    /// One member of the result, as received.
    pub fn member(&self, name: &str) -> Option<Box<RawValue>> {
        serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(&self.text())
            .ok()?
            .get(name)
            .map(|value| (*value).to_owned())
    }
}

/// What is called.
#[derive(Clone, Copy)]
pub(crate) enum Callee<'a> {
    /// A tool, by the server's own name.
    Tool(&'a str),
    /// Any other method.
    Method(&'a str),
}
