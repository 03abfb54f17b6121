//! Errors that the demo server answers with.

use serde_json::{Value, json};

/// An error of the protocol.
pub(super) struct Refusal {
    code: i64,
    message: String,
    pub(super) more: Value,
}

impl Refusal {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), more: Value::Null }
    }

    pub(super) fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if !self.more.is_null() {
            error["data"] = self.more.clone();
        }
        error
    }
}
