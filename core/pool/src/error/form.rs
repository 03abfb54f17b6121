//! How errors are written: as JSON, for people, and in a trace.

use std::fmt;

use serde_json::{Value, json};

use super::Error;
use crate::base::text::escaped;

impl Error {
    /// The form in which errors cross a language boundary and appear in events. Without arguments.
    pub fn to_json(&self) -> Value {
        let body = &self.0;
        let mut out = json!({
            "code": body.code.name(),
            "number": body.code as i32,
            "message": body.message,
            "retryable": self.is_retryable(),
        });
        let optional = [
            ("server", body.server.clone().map(Value::from)),
            ("session", body.session.clone().map(Value::from)),
            ("outcome", body.outcome.map(|outcome| outcome.as_str().into())),
            ("hint", self.hint().map(Value::from)),
            ("cause", body.cause.as_ref().map(Error::to_json)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                out[name] = value;
            }
        }
        out["detail"] = Value::Object(body.detail.clone());
        out
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.0.server {
            write!(f, "{}: ", escaped(server))?;
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}, {self}", self.0.code.name())?;
        if let Some(hint) = self.hint() {
            write!(f, "; hint: {}", escaped(hint))?;
        }
        if let Some(cause) = &self.0.cause {
            write!(f, "; cause: {cause:?}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_ref().map(|cause| cause as _)
    }
}
