//! The options of an endpoint that serves the pool.

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::check::{Given, read, wrong};
use super::{LogLevel, ProgressReceiver, SessionOptions};
use crate::error::{Error, Result};
use crate::interface::OptionScope;

/// Options of an endpoint.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The address for HTTP; none with `None`. The port 0 by default, which is any that is free.
    pub http: Option<SocketAddr>,
    /// Whether a proxy in front has TLS. Without one the address must be loopback.
    pub tls_in_front: bool,
    /// The whole path of a Unix socket; none by default.
    pub socket: Option<String>,
    /// The whole path of a file of named tokens. Each name is a principal.
    pub token_file: Option<String>,
    /// Values of `Host` beside those of loopback.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that may come.
    pub allowed_origins: Vec<String>,
    /// Options of sessions by the name of their profile.
    pub profiles: BTreeMap<String, SessionOptions>,
    /// What becomes of a call while its server waits for an answer.
    pub parking: Parking,
    /// How long a parked call waits for its client: 5 min.
    pub parked_for: Duration,
    /// The whole path of the file of the key that seals what clients bring back.
    pub state_key_file: Option<String>,
    /// Bounds for each principal.
    pub limits: ServeLimits,
    /// How long a client that asks nothing keeps its session: 15 min.
    pub idle: Duration,
    /// How long calls may go on after a close: 10 s.
    pub drain: Duration,
    /// Decides about each client that is to be let in. Without it every one is.
    pub on_client: Option<OnClient>,
}

/// Decides about a client of an endpoint before it is let in.
#[derive(Clone)]
pub struct OnClient(Arc<dyn Fn(NewClient) -> Deciding + Send + Sync>);

/// A decision that is being made.
pub type Deciding = Pin<Box<dyn Future<Output = Admission> + Send>>;

/// A client that is to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewClient {
    /// Who it is: `token:<name>` or `uid:<number>`.
    pub principal: String,
    /// The path that it asks for, such as `/mcp/github`.
    pub path: String,
}

/// What becomes of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Admission {
    /// It is let in.
    Accept,
    /// It is let in with the session options of that profile.
    Profile(String),
    /// It is refused.
    Refuse,
}

impl OnClient {
    /// `decide` runs on a thread of the library and must not block. A panic refuses the client, and
    /// so does a decision that takes longer than 5 s.
    pub fn new<F>(decide: impl Fn(NewClient) -> F + Send + Sync + 'static) -> OnClient
    where
        F: Future<Output = Admission> + Send + 'static,
    {
        OnClient(Arc::new(move |client| -> Deciding { Box::pin(decide(client)) }))
    }

    /// Begins to decide. A panic is the caller's to contain.
    pub fn decide(&self, client: NewClient) -> Deciding {
        (self.0)(client)
    }
}

impl PartialEq for OnClient {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OnClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("OnClient")
    }
}

impl NewClient {
    /// One of that principal, which asks for that path.
    pub fn new(principal: impl Into<String>, path: impl Into<String>) -> NewClient {
        NewClient { principal: principal.into(), path: path.into() }
    }
}

/// What becomes of a call of a modern client while a legacy server waits for an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parking {
    /// The client is told what the server asks, and the call waits for it to come back.
    #[default]
    Park,
    /// The server and the client are refused.
    Refuse,
}

/// A call that an endpoint carries for a client of its own. What is given as the arguments of a
/// tool are then the whole params of the request.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelayedCall {
    /// Is given the params of each progress notification as they came.
    pub progress: Option<ProgressReceiver>,
    /// What the client declares, as JSON: a modern server is told this in place of what its
    /// connection offers.
    pub capabilities: Option<String>,
    /// The least grave messages that the client wants; a modern server is told.
    pub log_level: Option<LogLevel>,
    /// A result that asks for input is the result of the call.
    pub takes_input_requests: bool,
}

/// Bounds for each principal of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeLimits {
    /// Connections at one time: 64.
    pub connections: u32,
    /// Legacy sessions at one time: 256.
    pub sessions: u32,
    /// Streams of changes at one time: 16.
    pub listens: u32,
    /// Calls in flight: 128.
    pub calls: u32,
    /// Parked calls: 16.
    pub parked: u32,
    /// Bytes of one message: 4 MiB.
    pub body_bytes: usize,
    /// Bytes of the headers of a request: 16 KiB.
    pub header_bytes: usize,
}

impl Default for ServeLimits {
    fn default() -> ServeLimits {
        ServeLimits {
            connections: 64,
            sessions: 256,
            listens: 16,
            calls: 128,
            parked: 16,
            body_bytes: 4 << 20,
            header_bytes: 16 << 10,
        }
    }
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            http: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            tls_in_front: false,
            socket: None,
            token_file: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            profiles: BTreeMap::new(),
            parking: Parking::default(),
            parked_for: Duration::from_secs(300),
            state_key_file: None,
            limits: ServeLimits::default(),
            idle: Duration::from_secs(900),
            drain: Duration::from_secs(10),
            on_client: None,
        }
    }
}

impl ServeOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<ServeOptions> {
        let given = read(OptionScope::Serve, text)?;
        let default = ServeOptions::default();
        let texts = |name| given.texts(name).unwrap_or_default();
        let options = ServeOptions {
            http: http(&given, default.http)?,
            tls_in_front: given.bool("tls_in_front").unwrap_or(false),
            socket: given.text("socket"),
            token_file: given.text("token_file"),
            allowed_hosts: texts("allowed_hosts"),
            allowed_origins: texts("allowed_origins"),
            profiles: profiles(text)?,
            parking: match given.text("parking").as_deref() {
                Some("refuse") => Parking::Refuse,
                // The check let no other word pass.
                Some(_) | None => Parking::Park,
            },
            parked_for: given.duration("parked_for_ms").unwrap_or(default.parked_for),
            state_key_file: given.text("state_key_file"),
            limits: limits(&given.object("limits")),
            idle: given.duration("idle_ms").unwrap_or(default.idle),
            drain: given.duration("drain_ms").unwrap_or(default.drain),
            on_client: None,
        };
        options.check()?;
        Ok(options)
    }

    /// Whether an endpoint can be opened with them: with those that were parsed it can.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path`.
    pub fn check(&self) -> Result<()> {
        if let Some(address) = self.http
            && !address.ip().is_loopback()
            && !self.tls_in_front
        {
            let message = format!(
                "option `http`: {address} is no loopback address, and no proxy in front has TLS"
            );
            return Err(wrong("http", &message));
        }
        if self.http.is_none() && self.socket.is_none() {
            let message = "option `http` is off, and there is no `socket`: nothing would be served";
            return Err(wrong("http", message));
        }
        let paths = [
            ("socket", &self.socket),
            ("token_file", &self.token_file),
            ("state_key_file", &self.state_key_file),
        ];
        for (name, path) in paths {
            if path.as_deref().is_some_and(|path| !Path::new(path).is_absolute()) {
                return Err(wrong(name, &format!("option `{name}` must be a whole path")));
            }
        }
        self.profiles.keys().try_for_each(|name| check_name(name))
    }
}

fn http(given: &Given, default: Option<SocketAddr>) -> Result<Option<SocketAddr>> {
    match given.text("http").as_deref() {
        None => Ok(default),
        Some("off") => Ok(None),
        Some(address) => address.parse().map(Some).map_err(|_| {
            let message =
                "option `http` must be an address with a port, as `127.0.0.1:0`, or `off`";
            wrong("http", message)
        }),
    }
}

/// The profiles of options that passed the check.
fn profiles(text: &str) -> Result<BTreeMap<String, SessionOptions>> {
    #[derive(serde::Deserialize)]
    struct Written {
        #[serde(default)]
        profiles: Option<BTreeMap<String, Box<RawValue>>>,
    }
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let written: Written = serde_json::from_str(text)
        .map_err(|error| wrong("profiles", &format!("option `profiles`: {error}")))?;
    let parsed = |(name, options): (String, Box<RawValue>)| {
        check_name(&name)?;
        let text = options.get().trim();
        let inside = text.strip_prefix('{').map(str::trim_start);
        let Some(inside) = inside else {
            let path = format!("profiles.{name}");
            return Err(wrong(&path, &format!("option `{path}` must be an object")));
        };
        let separator = if inside.starts_with('}') { "" } else { "," };
        let text = format!(r#"{{"id":"profile"{separator}{inside}"#);
        let options = SessionOptions::from_json(&text).map_err(|error| inside_of(&name, error))?;
        Ok((name, options))
    };
    written.profiles.into_iter().flatten().map(parsed).collect()
}

/// The error about an option of a profile names it from the outside.
fn inside_of(profile: &str, error: Error) -> Error {
    let member = if error.detail().contains_key("option") { "option" } else { "path" };
    let inner = error.detail().get(member).and_then(serde_json::Value::as_str).unwrap_or("");
    let path = format!("profiles.{profile}.{inner}");
    let message = format!("option `profiles.{profile}`: {}", error.message());
    Error::new(error.code(), message).with_detail(member, path)
}

/// A profile's name is a part of a path.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=64).contains(&name.len()) && name.chars().all(is_plain) {
        return Ok(());
    }
    let message = "the name of a profile has 1 to 64 letters, digits, hyphens and underscores";
    Err(wrong("profiles", message))
}

fn limits(given: &Given) -> ServeLimits {
    let default = ServeLimits::default();
    let count = |name, default| given.count(name).unwrap_or(default);
    let size = |name, default| given.size(name).unwrap_or(default);
    ServeLimits {
        connections: count("connections", default.connections),
        sessions: count("sessions", default.sessions),
        listens: count("listens", default.listens),
        calls: count("calls", default.calls),
        parked: count("parked", default.parked),
        body_bytes: size("body_bytes", default.body_bytes),
        header_bytes: size("header_bytes", default.header_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    fn parsed(text: &str) -> Result<ServeOptions> {
        ServeOptions::from_json(text)
    }

    /// SPEC 19.7, 19.8.
    #[test]
    fn nothing_given_is_loopback_and_the_defaults() {
        for text in ["", "{}", r#"{"http":null,"limits":{},"profiles":null}"#] {
            assert_eq!(parsed(text).unwrap(), ServeOptions::default(), "{text}");
        }
        assert!(ServeOptions::default().http.is_some_and(|address| address.ip().is_loopback()));
    }

    #[test]
    fn what_is_given_is_taken() {
        let text = r#"{"http":"[::1]:80","socket":"/s","token_file":"/t","state_key_file":"/k",
            "allowed_hosts":["h"],"allowed_origins":["o"],"parking":"refuse","parked_for_ms":1000,
            "idle_ms":2000,"drain_ms":0,"limits":{"connections":1,"sessions":2,"listens":3,
            "calls":4,"parked":0,"body_bytes":1024,"header_bytes":2048},
            "profiles":{"small":{"servers":["a"]},"none":{ }}}"#;
        let options = parsed(text).unwrap();
        let mut small = SessionOptions::new("profile");
        small.servers = super::super::ServerSelection::Names(vec!["a".into()]);
        let none = SessionOptions::new("profile");
        let expected = ServeOptions {
            http: Some("[::1]:80".parse().unwrap()),
            tls_in_front: false,
            socket: Some("/s".into()),
            token_file: Some("/t".into()),
            allowed_hosts: vec!["h".into()],
            allowed_origins: vec!["o".into()],
            profiles: [("small".to_owned(), small), ("none".to_owned(), none)].into(),
            parking: Parking::Refuse,
            parked_for: Duration::from_secs(1),
            state_key_file: Some("/k".into()),
            limits: ServeLimits {
                connections: 1,
                sessions: 2,
                listens: 3,
                calls: 4,
                parked: 0,
                body_bytes: 1024,
                header_bytes: 2048,
            },
            idle: Duration::from_secs(2),
            drain: Duration::ZERO,
            on_client: None,
        };
        assert_eq!(options, expected);
        let open = parsed(r#"{"http":"0.0.0.0:1","tls_in_front":true}"#).unwrap();
        assert_eq!(open.http, Some("0.0.0.0:1".parse().unwrap()));
        let socket = parsed(r#"{"http":"off","socket":"/s"}"#).unwrap();
        assert_eq!((socket.http, socket.socket.as_deref()), (None, Some("/s")));
    }

    /// SPEC 19.7: nothing is listened to beyond the machine by mistake.
    #[test]
    fn what_cannot_be_opened_is_refused_by_name() {
        for (text, path) in [
            (r#"{"http":"0.0.0.0:80"}"#, "http"),
            (r#"{"http":"localhost"}"#, "http"),
            (r#"{"http":"off"}"#, "http"),
            (r#"{"socket":"s"}"#, "socket"),
            (r#"{"token_file":"t"}"#, "token_file"),
            (r#"{"state_key_file":"k"}"#, "state_key_file"),
            (r#"{"profiles":{"a/b":{}}}"#, "profiles"),
            (r#"{"profiles":{"a":[]}}"#, "profiles.a"),
            (r#"{"profiles":{"a":{"servers":1}}}"#, "profiles.a.servers"),
            (r#"{"limits":{"calls":0}}"#, "limits.calls"),
            (r#"{"parking":"x"}"#, "parking"),
        ] {
            let error = parsed(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{text}");
            assert_eq!(error.detail()["path"], path, "{text}");
        }
        let unknown = parsed(r#"{"profiles":{"a":{"server":[]}}}"#).unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::UnknownOption);
        assert_eq!(unknown.detail()["option"], "profiles.a.server");
    }
}
