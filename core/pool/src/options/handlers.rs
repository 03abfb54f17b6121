//! The handlers of a host: what answers the requests that servers make, and what servers are
//! offered because of them (SPEC 15.1).

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::ProgressReceiver;

/// What a handler answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum HandlerKind {
    /// `sampling/createMessage`.
    Sampling = 0,
    /// `sampling/createMessage` with tools; where it stands alone, without them too.
    SamplingTools = 1,
    /// `elicitation/create` of a form.
    Elicitation = 2,
    /// `elicitation/create` of an address that the user is to visit.
    ElicitationUrl = 3,
    /// What a remote server is to be let in with. The library asks, not the server, so that nothing
    /// is offered because of it.
    Credentials = 4,
    /// The value of an input that settings declare. The library asks.
    Inputs = 5,
    /// A secret that settings name. The library asks.
    Secrets = 6,
    /// What becomes of an entry of settings before it is admitted. The library asks.
    Entries = 7,
}

impl HandlerKind {
    /// Every kind, by number.
    pub const ALL: [HandlerKind; 8] = [
        HandlerKind::Sampling,
        HandlerKind::SamplingTools,
        HandlerKind::Elicitation,
        HandlerKind::ElicitationUrl,
        HandlerKind::Credentials,
        HandlerKind::Inputs,
        HandlerKind::Secrets,
        HandlerKind::Entries,
    ];

    /// Those that servers are offered, by number.
    const OFFERED: [HandlerKind; 4] = [
        HandlerKind::Sampling,
        HandlerKind::SamplingTools,
        HandlerKind::Elicitation,
        HandlerKind::ElicitationUrl,
    ];

    /// The handler's name in the `handlers` option.
    pub fn name(self) -> &'static str {
        match self {
            HandlerKind::Sampling => "sampling",
            HandlerKind::SamplingTools => "sampling_tools",
            HandlerKind::Elicitation => "elicitation",
            HandlerKind::ElicitationUrl => "elicitation_url",
            HandlerKind::Credentials => "credentials",
            HandlerKind::Inputs => "inputs",
            HandlerKind::Secrets => "secrets",
            HandlerKind::Entries => "entries",
        }
    }

    /// Whether a server's connection asks; otherwise the library does, for the sake of a
    /// configuration.
    fn is_of_connection(self) -> bool {
        HandlerKind::OFFERED.contains(&self)
    }

    /// The kind of a handler's name.
    pub fn from_name(name: &str) -> Option<HandlerKind> {
        HandlerKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A request of a server, as a handler gets it; or what the library asks for the sake of a
/// configuration: credentials, inputs, secrets and what becomes of an entry.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServerRequest {
    /// Which handler it is for.
    pub kind: HandlerKind,
    /// The server that asks, by the name that the host gave it.
    pub server: Arc<str>,
    /// The index of its entry; nothing for credentials, which are those of a configuration.
    pub entry_index: u32,
    /// The incarnation of its connection; nothing for credentials.
    pub generation: u32,
    /// The session that it asks; empty for credentials that are the pool's.
    pub session: Arc<str>,
    /// The protocol's method; `credentials` for these.
    pub method: Arc<str>,
    /// The text of its params, as received: a JSON object of the server's, to be shown to people
    /// with care. For credentials `{url, reason, scopes, challenge}`, as `docs/guide/auth.md` says.
    pub params: Arc<str>,
}

impl ServerRequest {
    /// A request of `params` to a session.
    pub fn new(kind: HandlerKind, session: Arc<str>, method: &str, params: &str) -> ServerRequest {
        ServerRequest {
            kind,
            server: "".into(),
            entry_index: 0,
            generation: 0,
            session,
            method: method.into(),
            params: params.into(),
        }
    }

    /// The same, from this server.
    pub fn from_server(mut self, server: Arc<str>, entry_index: u32, generation: u32) -> Self {
        (self.server, self.entry_index, self.generation) = (server, entry_index, generation);
        self
    }
}

impl ServerRequest {
    /// The request as the text of one JSON object:
    /// `{kind, server, entry_index, generation, session, method, params}`. What a request for
    /// credentials has not is null.
    pub fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let ServerRequest { kind, server, entry_index, generation, session, method, params } = self;
        let is_own = kind.is_of_connection();
        let number = |number: &u32| if is_own { number.to_string() } else { "null".into() };
        let no_session = session.is_empty() && !is_own;
        format!(
            r#"{{"kind":"{}","server":{},"entry_index":{},"generation":{},"session":{},"method":{},"params":{params}}}"#,
            kind.name(),
            quoted(server),
            number(entry_index),
            number(generation),
            if no_session { "null".into() } else { quoted(session) },
            quoted(method),
        )
    }
}

/// Without the params, which may hold what a person should see alone.
impl fmt::Debug for ServerRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ServerRequest")
            .field("kind", &self.kind)
            .field("server", &self.server)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A JSON-RPC error that a server gets in place of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The code of the JSON-RPC error.
    pub code: i32,
    /// Its message, which the server sees.
    pub message: String,
    /// The part of what was given that is wrong.
    unfit: Option<Box<str>>,
}

impl Refusal {
    /// The code that the protocol shows for a user who declines a sampling.
    pub const REJECTED: i32 = -1;

    /// There is no such method (JSON-RPC 2.0, 5.1).
    pub const METHOD_NOT_FOUND: i32 = -32601;

    /// The params are not what the method takes (JSON-RPC 2.0, 5.1).
    pub const INVALID_PARAMS: i32 = -32602;

    /// The handler that was asked could not answer (JSON-RPC 2.0, 5.1).
    pub const INTERNAL_ERROR: i32 = -32603;

    /// A refusal with that code and message.
    pub fn new(code: i32, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), unfit: None }
    }

    /// Of credentials that cannot be used, for a binding that hands them over in the form of its
    /// language: which part of them is wrong, in the words of that, and why. It is the host who is
    /// told.
    pub fn of_unfit(path: impl Into<Box<str>>, why: impl Into<String>) -> Refusal {
        let unfit = Some(path.into());
        Refusal { code: Refusal::INVALID_PARAMS, message: why.into(), unfit }
    }

    /// The part that is wrong, of one [`of_unfit`](Self::of_unfit).
    pub fn unfit(&self) -> Option<&str> {
        self.unfit.as_deref()
    }
}

/// What a handler gives: the text of the result, a JSON object; or a refusal.
pub type HandlerResult = std::result::Result<String, Refusal>;

/// A handler at work. Dropping it is how it is told that nobody waits for its answer any more.
pub type HandlerFuture = Pin<Box<dyn Future<Output = HandlerResult> + Send>>;

/// A handler.
type Handler = Arc<dyn Fn(ServerRequest) -> HandlerFuture + Send + Sync>;

/// The handlers of a pool or of a session, by what they answer.
///
/// A handler runs on a thread of the library and must not block it; what takes long belongs into
/// its future. The future is dropped when nobody waits for the answer any more: the server took the
/// request back, the call that it belongs to ended, the session closed, or the connection was lost;
/// or the time for handlers (`handler_timeout`) passed. However it ends, it is dropped on a thread
/// of its own, which may be after what it was for. A panic is a refusal, and one of that drop is
/// logged.
#[derive(Clone, Default)]
pub struct Handlers {
    answering: [Option<Handler>; HandlerKind::ALL.len()],
    logging: Option<ProgressReceiver>,
}

impl Handlers {
    /// No handlers.
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// With this handler for requests of that kind, in place of any before.
    pub fn with<F>(
        mut self,
        kind: HandlerKind,
        handler: impl Fn(ServerRequest) -> F + Send + Sync + 'static,
    ) -> Handlers
    where
        F: Future<Output = HandlerResult> + Send + 'static,
    {
        let handler = move |request| -> HandlerFuture { Box::pin(handler(request)) };
        self.answering[kind as usize] = Some(Arc::new(handler));
        self
    }

    /// With a receiver of the log messages of the servers: it gets the JSON text of each `log`
    /// event of the session, in order, on a thread of the library, and must not block.
    pub fn with_logging(mut self, receive: impl Fn(&str) + Send + Sync + 'static) -> Handlers {
        self.logging = Some(ProgressReceiver::new(receive));
        self
    }

    /// These, and where one is missing the one of `others`.
    pub fn or(&self, others: &Handlers) -> Handlers {
        let mut both = self.clone();
        for (own, other) in both.answering.iter_mut().zip(&others.answering) {
            *own = own.take().or_else(|| other.clone());
        }
        both.logging = both.logging.or_else(|| others.logging.clone());
        both
    }

    /// What servers are offered because of them.
    pub fn offered(&self) -> Offered {
        let there = |kind: HandlerKind| self.answering[kind as usize].is_some();
        let mut offered = Offered::default();
        for kind in HandlerKind::OFFERED.into_iter().filter(|kind| there(*kind)) {
            offered = offered.and(kind);
        }
        match offered.has(HandlerKind::SamplingTools) {
            true => offered.and(HandlerKind::Sampling),
            false => offered,
        }
    }

    /// Whether there is a source of credentials.
    pub fn has_credentials(&self) -> bool {
        self.has(HandlerKind::Credentials)
    }

    /// Whether there is a handler of that kind.
    pub fn has(&self, kind: HandlerKind) -> bool {
        self.answering[kind as usize].is_some()
    }

    /// Begins to answer a request; `None` without a handler for it. A panic of the handler's is the
    /// caller's to contain.
    pub fn answer(&self, request: ServerRequest) -> Option<HandlerFuture> {
        let of = |kind: HandlerKind| self.answering[kind as usize].as_ref();
        let handler = match request.kind {
            HandlerKind::Sampling => of(HandlerKind::Sampling).or(of(HandlerKind::SamplingTools)),
            kind => of(kind),
        };
        handler.map(|handler| handler(request))
    }

    /// The receiver of log messages.
    pub fn logging(&self) -> Option<&ProgressReceiver> {
        self.logging.as_ref()
    }
}

/// Handlers are equal when they are the same functions.
impl PartialEq for Handlers {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.answering.iter().zip(&other.answering);
        let same = pairs.all(|(one, other)| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        });
        same && self.logging == other.logging
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Handlers").field(&self.offered()).finish()
    }
}

/// The capabilities that a server is offered because handlers exist. It is part of a connection's
/// identity (SPEC 1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Offered(u8);

impl Offered {
    /// How many there can be.
    pub const COUNT: usize = 1 << HandlerKind::OFFERED.len();

    /// Whether requests of that kind are offered.
    pub fn has(self, kind: HandlerKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// A number below [`COUNT`](Self::COUNT), each offer its own.
    pub fn number(self) -> usize {
        usize::from(self.0)
    }

    /// The names of what is offered.
    pub fn names(self) -> Vec<&'static str> {
        let offered = HandlerKind::OFFERED.into_iter().filter(|kind| self.has(*kind));
        offered.map(HandlerKind::name).collect()
    }

    fn and(self, kind: HandlerKind) -> Offered {
        Offered(self.0 | 1 << kind as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(word: &'static str) -> impl Fn(ServerRequest) -> std::future::Ready<HandlerResult> {
        move |_| std::future::ready(Ok(word.to_owned()))
    }

    fn answer(handlers: &Handlers, kind: HandlerKind) -> Option<String> {
        let request = ServerRequest::new(kind, "a".into(), "m", "{}");
        let mut handling = handlers.answer(request)?;
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match handling.as_mut().poll(&mut context) {
            std::task::Poll::Ready(result) => Some(result.unwrap()),
            std::task::Poll::Pending => None,
        }
    }

    /// SPEC 15.1: capabilities are offered only when a handler exists.
    #[test]
    fn what_is_offered_is_what_can_be_answered() {
        assert_eq!(Handlers::new().offered().names(), Vec::<&str>::new());
        let forms = Handlers::new().with(HandlerKind::Elicitation, says("form"));
        assert_eq!(forms.offered().names(), ["elicitation"]);
        assert_eq!(answer(&forms, HandlerKind::ElicitationUrl), None);
        let tools = Handlers::new().with(HandlerKind::SamplingTools, says("tools"));
        assert_eq!(tools.offered().names(), ["sampling", "sampling_tools"]);
        assert_eq!(answer(&tools, HandlerKind::Sampling).as_deref(), Some("tools"));
        assert!(tools.offered().number() < Offered::COUNT);
    }

    /// SPEC 15.3: nothing is offered because of credentials, and the request for them names what
    /// there is.
    #[test]
    fn credentials_are_asked_for_and_never_offered() {
        let handlers = Handlers::new().with(HandlerKind::Credentials, says("{}"));
        assert!(handlers.has_credentials() && !Handlers::new().has_credentials());
        assert_eq!(handlers.offered(), Offered::default());
        let request = ServerRequest::new(HandlerKind::Credentials, "".into(), "credentials", "{}");
        let text = request.from_server("s".into(), 0, 0).to_json();
        let expected = r#"{"kind":"credentials","server":"s","entry_index":null,"generation":null,"session":null,"method":"credentials","params":{}}"#;
        assert_eq!(text, expected);
    }

    /// SPEC 15.1, 5.3: what a server sent reaches the host as it was.
    #[test]
    fn a_request_is_written_as_one_object() {
        let request =
            ServerRequest::new(HandlerKind::Sampling, "a\"b".into(), "m", r#"{"n":1.50}"#);
        let text = request.from_server("s".into(), 2, 3).to_json();
        let expected = r#"{"kind":"sampling","server":"s","entry_index":2,"generation":3,"session":"a\"b","method":"m","params":{"n":1.50}}"#;
        assert_eq!(text, expected);
    }

    /// SPEC 15.1: a session's own handlers come before the pool's.
    #[test]
    fn a_session_answers_with_its_own_handler_or_with_the_pools() {
        let pools = Handlers::new()
            .with(HandlerKind::Sampling, says("pool"))
            .with(HandlerKind::Elicitation, says("pool"));
        let both = Handlers::new().with(HandlerKind::Sampling, says("session")).or(&pools);
        assert_eq!(answer(&both, HandlerKind::Sampling).as_deref(), Some("session"));
        assert_eq!(answer(&both, HandlerKind::Elicitation).as_deref(), Some("pool"));
        assert!(both != pools && both == both.clone());
        assert_eq!(format!("{both:?}"), "Handlers(Offered(5))");
    }
}
