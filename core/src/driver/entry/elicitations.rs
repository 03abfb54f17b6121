//! Which session was asked to have a person open an address, until the server says that it is over
//! (PROTOCOL 1.2).

use std::collections::VecDeque;
use std::sync::Mutex;

use serde_json::Value;
use trunkline_pool::json::readable_members;
use trunkline_pool::state::SessionId;

use crate::{Error, ErrorCode};

/// Those of one entry, oldest first.
#[derive(Default)]
pub(crate) struct Elicitations(Mutex<VecDeque<(Box<str>, SessionId)>>);

/// Of more than so many the oldest are forgotten: a server may never say that one is over.
const KEPT_MAX: usize = 256;

/// Bytes of an id: ids are short.
const ID_BYTES_MAX: usize = 1024;

/// The code of an error that wants addresses opened before the call is repeated.
const URL_ELICITATION_REQUIRED: i64 = -32042;

impl Elicitations {
    /// A session is asked by the params of a request, which may name one.
    pub(in crate::driver) fn note_asked(&self, params: &str, session: SessionId) {
        self.note(readable_members(params).get("elicitationId"), session);
    }

    /// A call of a session was refused by this error, which may name some.
    pub(crate) fn note_required(&self, error: &Error, session: SessionId) {
        let detail = error.detail();
        let code = detail.get("code").and_then(Value::as_i64);
        if error.code() == ErrorCode::ServerError && code == Some(URL_ELICITATION_REQUIRED) {
            let named = detail.get("data").and_then(|data| data["elicitations"].as_array());
            for one in named.into_iter().flatten().take(KEPT_MAX) {
                self.note(one.get("elicitationId"), session);
            }
        }
    }

    fn note(&self, id: Option<&Value>, session: SessionId) {
        let Some(id) = id.and_then(Value::as_str).filter(|id| id.len() <= ID_BYTES_MAX) else {
            return;
        };
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.retain(|(other, _)| **other != *id);
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((id.into(), session));
    }

    /// One is over: the session that was asked. Nothing for one that nobody was asked, or that was
    /// over before.
    pub(in crate::driver) fn take(&self, id: &str) -> Option<SessionId> {
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let at = kept.iter().position(|(other, _)| **other == *id)?;
        kept.remove(at).map(|(_, session)| session)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// SPEC 16.8: told once, to whom it was asked, whichever way it was asked.
    #[test]
    fn what_was_asked_is_over_once() {
        let (elicitations, [a, b]) = (Elicitations::default(), [1, 2].map(SessionId));
        elicitations.note_asked(r#"{"mode":"url","elicitationId":"one"}"#, a);
        elicitations.note_asked(r#"{"mode":"url","elicitationId":7}"#, a);
        let required = json!({ "elicitations": [{ "elicitationId": "two" }, {}, 3] });
        let error = Error::new(ErrorCode::ServerError, "open it").with_detail("data", required);
        elicitations.note_required(&error, b);
        assert_eq!(elicitations.take("two"), None);
        elicitations.note_required(&error.with_detail("code", URL_ELICITATION_REQUIRED), b);
        assert_eq!(
            ["one", "two", "two", "7", "other"].map(|id| elicitations.take(id)),
            [Some(a), Some(b), None, None, None]
        );
        for number in 0..=KEPT_MAX {
            elicitations.note_asked(&json!({ "elicitationId": number.to_string() }).to_string(), a);
        }
        assert_eq!((elicitations.take("0"), elicitations.take("1")), (None, Some(a)));
    }
}
