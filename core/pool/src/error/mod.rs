//! The one error type of the library, and its stable codes.

mod form;
mod outcome;
mod reason;
mod remedies;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::base::did_you_mean::nearest;
use crate::base::text::escaped;
pub use crate::interface::ErrorCode;
use crate::interface::RetryAdvice;
use outcome::may_repeat;

pub use outcome::Outcome;
pub use reason::Reason;

/// What an operation of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation failed: a stable code, a sentence, and what a caller can act on.
///
/// Cheap to clone. `Debug`, which a `main` that fails prints, also shows the hint and the cause.
/// Neither it nor `Display` ever shows [`arguments`](Error::arguments).
#[derive(Clone, PartialEq)]
pub struct Error(Arc<Body>);

#[derive(Clone, PartialEq)]
struct Body {
    code: ErrorCode,
    message: String,
    server: Option<String>,
    session: Option<String>,
    retry: RetryAdvice,
    /// It is of a call that may be repeated.
    is_safe: bool,
    outcome: Option<Outcome>,
    detail: Map<String, Value>,
    hint: Option<String>,
    cause: Option<Error>,
    arguments: Option<Arc<str>>,
}

impl Error {
    /// An error with its code's usual `retryable`, and nothing else.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Error(Arc::new(Body {
            code,
            message: message.into(),
            server: None,
            session: None,
            retry: code.row().retry,
            is_safe: false,
            outcome: None,
            detail: Map::new(),
            hint: None,
            cause: None,
            arguments: None,
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Body)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Names the server it is about.
    pub fn with_server(self, server: impl Into<String>) -> Self {
        self.with(|body| body.server = Some(server.into()))
    }

    /// Names the session it is about.
    pub fn with_session(self, session: impl Into<String>) -> Self {
        self.with(|body| body.session = Some(session.into()))
    }

    /// Says whether the call can have run, and with it whether repeating it is safe.
    pub fn with_outcome(self, outcome: Outcome) -> Self {
        self.with(|body| body.outcome = Some(outcome))
    }

    /// Says that the call may be repeated though it may have run: its tool's definition says so,
    /// and its server is trusted (SPEC 5.7).
    pub fn of_safe_tool(self) -> Self {
        self.with(|body| body.is_safe = true)
    }

    /// Says whether the same may succeed later, where that is not what its code says.
    pub fn with_retry(self, retry: RetryAdvice) -> Self {
        self.with(|body| body.retry = retry)
    }

    /// Adds one member to `detail`.
    pub fn with_detail(self, name: &str, value: impl Into<Value>) -> Self {
        self.with(|body| {
            body.detail.insert(name.to_owned(), value.into());
        })
    }

    /// Adds what the user can do about it.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with(|body| body.hint = Some(hint.into()))
    }

    /// Adds which of these names was probably meant by `wanted`, where one is near enough, as its
    /// hint and as `detail.nearest`.
    pub fn with_nearest<'a>(self, wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(wanted, names) {
            Some(near) => self
                .with_hint(format!("did you mean `{}`?", escaped(near)))
                .with_detail("nearest", near),
            None => self,
        }
    }

    /// Adds the error that led to this one.
    pub fn with_cause(self, cause: Error) -> Self {
        self.with(|body| body.cause = Some(cause))
    }

    /// Gives the call's arguments back to the caller (SPEC 5.6). They are never printed.
    pub fn with_arguments(self, arguments: Arc<str>) -> Self {
        self.with(|body| body.arguments = Some(arguments))
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The sentence: lower case, without secrets.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The server it is about.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// The session it is about.
    pub fn session(&self) -> Option<&str> {
        self.0.session.as_deref()
    }

    /// Whether the same operation may succeed later without a change by the user, and may be
    /// repeated: never what may have run, unless that is safe (SPEC 18.12).
    pub fn is_retryable(&self) -> bool {
        may_repeat(self.0.retry, self.0.outcome, self.0.is_safe)
    }

    /// What another error itself says can be done about it; nothing when it has the advice of its
    /// reason or its code alone.
    pub fn with_hint_of(self, told: &Error) -> Error {
        match &told.0.hint {
            Some(hint) => self.with_hint(hint.as_str()),
            None => self,
        }
    }

    /// For calls: whether the server can have seen it.
    pub fn outcome(&self) -> Option<Outcome> {
        self.0.outcome
    }

    /// Machine-readable particulars.
    pub fn detail(&self) -> &Map<String, Value> {
        &self.0.detail
    }

    /// How long the server, or a gateway before it, asked to be left alone (`retry_after_ms` of the
    /// detail): a caller that repeats sooner is refused again.
    pub fn retry_after(&self) -> Option<Duration> {
        let asked = self.0.detail.get("retry_after_ms").and_then(Value::as_u64);
        asked.map(Duration::from_millis)
    }

    /// What the user can do about it: what this error says itself, else what its reason or its
    /// limit is remedied by, else the advice of its code.
    pub fn hint(&self) -> Option<&str> {
        let word = |member| self.0.detail.get(member).and_then(Value::as_str);
        let remedy = || match self.0.code {
            ErrorCode::NotAdmitted | ErrorCode::ToolNotFound => {
                Reason::from_word(word("reason")?).map(Reason::remedy)
            }
            ErrorCode::Limit => remedies::of_limit(word("limit")?),
            _ => None,
        };
        let own = self.0.hint.as_deref().or_else(remedy);
        own.or_else(|| Some(self.0.code.row().advice))
    }

    /// The error that led to this one.
    pub fn cause(&self) -> Option<&Error> {
        self.0.cause.as_ref()
    }

    /// The arguments of a tool's call that was interrupted, as JSON text, for the caller alone.
    pub fn arguments(&self) -> Option<&str> {
        self.0.arguments.as_deref()
    }
}
