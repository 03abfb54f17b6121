//! From checked options to typed ones.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::value::RawValue;

use super::check::{Given, check_one, read, wrong};
use super::*;
use crate::error::Result;
use crate::gates::GateLists;
use crate::interface::OptionScope;
use crate::layers::scope;

impl PoolOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<PoolOptions> {
        let given = read(OptionScope::Pool, text)?;
        let default = PoolOptions::default();
        let duration = |name, default| given.duration(name).unwrap_or(default);
        let call_timeout = duration("call_timeout_ms", default.call_timeout);
        let call_idle_timeout =
            nested(&given, "call_idle_timeout_ms", default.call_idle_timeout, call_timeout)?;
        Ok(PoolOptions {
            workspace: given.text("workspace"),
            workers: given.size("workers").unwrap_or(default.workers),
            shared_transports: given
                .texts("shared_transports")
                .unwrap_or(default.shared_transports),
            drain_delay: duration("drain_delay_ms", default.drain_delay),
            idle_cap: duration("idle_cap_ms", default.idle_cap),
            exit_grace: duration("exit_grace_ms", default.exit_grace),
            kill_grace: duration("kill_grace_ms", default.kill_grace),
            connect_timeout: given.duration("connect_timeout_ms"),
            call_timeout,
            call_idle_timeout,
            handler_timeout: duration("handler_timeout_ms", default.handler_timeout),
            keepalive: duration("keepalive_ms", default.keepalive),
            keepalive_misses: given.count("keepalive_misses").unwrap_or(default.keepalive_misses),
            reconnect: ServerReconnect::given(&given.object("reconnect")).over(&default.reconnect),
            budget: budget(&given.object("budget"))?,
            limits: limits(&given.object("limits")),
            start_gate: duration("start_gate_ms", default.start_gate),
            close_timeout: duration("close_timeout_ms", default.close_timeout),
            start: match given.text("start").as_deref() {
                Some("lazy") => Start::Lazy,
                // The check let no other word pass.
                Some(_) | None => Start::Eager,
            },
            start_parallel: given.size("start_parallel"),
            inherit_env: given.texts("inherit_env").unwrap_or_default(),
            roots: given.texts("roots"),
            // The check let no other word pass.
            name_style: given
                .text("name_style")
                .and_then(|word| NameStyle::from_word(&word))
                .unwrap_or_default(),
            reserved_names: given.texts("reserved_names").unwrap_or_default(),
            allowed: given.texts("allowed"),
            excluded: given.texts("excluded").unwrap_or_default(),
            launch_allowed: given.texts("launch_allowed"),
            on_tool_change: given.text("on_tool_change").map(|word| match &*word {
                "quarantine" => OnToolChange::Quarantine,
                // The check let no other word pass.
                _ => OnToolChange::Notify,
            }),
            client_info: client_info(&given)?,
            nothing_listed: nothing_listed(&given),
            trusted: given.bool("trusted").unwrap_or(default.trusted),
            untrusted_sources: match given.texts("untrusted_sources") {
                // The check let no other word pass.
                Some(words) => {
                    words.iter().filter_map(|word| scope::Scope::from_name(word)).collect()
                }
                None => default.untrusted_sources,
            },
            cache: CatalogCache::of_text(given.text("cache")),
            approvals: given.text("approvals"),
            commands: given.bool("commands").unwrap_or(default.commands),
            tokens: given.text("tokens").filter(|tokens| tokens != "memory"),
            status_file: given.text("status_file"),
            handlers: Handlers::default(),
        })
    }
}

fn nothing_listed(given: &Given) -> NothingListed {
    match given.text("nothing_listed").as_deref() {
        Some("error") => NothingListed::Error,
        // The check let no other word pass.
        Some(_) | None => NothingListed::Warn,
    }
}

fn client_info(given: &Given) -> Result<Option<ClientInfo>> {
    let host = given.has("client_info").then(|| given.object("client_info"));
    host.as_ref().map(ClientInfo::given).transpose()
}

/// Parses the option `roots` by itself: the text of a JSON array of folders.
///
/// # Errors
/// `invalid_argument` with `detail.path`.
pub fn roots_from_json(text: &str) -> Result<Vec<String>> {
    let whole = |_| wrong("roots", "option `roots` is no JSON");
    let roots: &RawValue = serde_json::from_str(text).map_err(whole)?;
    let given = read(OptionScope::Pool, &format!(r#"{{"roots":{roots}}}"#))?;
    given.texts("roots").ok_or_else(|| wrong("roots", "option `roots` must be an array"))
}

impl GateLists {
    /// Parses the lists' JSON object; an empty text admits everything.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<GateLists> {
        let given = read(OptionScope::Gates, text)?;
        Ok(GateLists::new(
            given.texts("allowed"),
            given.texts("excluded").unwrap_or_default(),
            given.texts("pending").unwrap_or_default(),
        ))
    }
}

/// The time without progress must fit into the time in all (SPEC 4.2): one that is given is refused
/// when it does not, the default is cut.
fn nested(given: &Given, name: &str, default: Duration, total: Duration) -> Result<Duration> {
    match given.duration(name) {
        Some(idle) if idle > total => Err(too_long(name)),
        Some(idle) => Ok(idle),
        None => Ok(default.min(total)),
    }
}

fn too_long(name: &str) -> crate::Error {
    let message =
        format!("option `{name}`: the time without progress is longer than the time in all");
    wrong(name, &message)
}

/// A limit without a mode warns; a mode that needs a limit is refused without one, since it would
/// keep nothing.
fn budget(given: &Given) -> Result<Option<Budget>> {
    let mode = match given.text("mode").as_deref() {
        Some("off") => BudgetMode::Off,
        Some("enforce") => BudgetMode::Enforce,
        // The check let no other word pass.
        Some(_) | None => BudgetMode::Warn,
    };
    match given.count("limit") {
        Some(limit) => Ok(Some(Budget { limit, mode })),
        None if mode == BudgetMode::Off || given.text("mode").is_none() => Ok(None),
        None => {
            let message =
                format!("option `budget.limit` is missing, and `{}` needs it", mode.as_str());
            Err(wrong("budget.limit", &message))
        }
    }
}

fn limits(given: &Given) -> Limits {
    let default = Limits::default();
    let count = |name, default| given.count(name).unwrap_or(default);
    let size = |name, default| given.size(name).unwrap_or(default);
    Limits {
        processes: count("processes", default.processes),
        entries_per_name: count("entries_per_name", default.entries_per_name),
        in_flight_per_session: count("in_flight_per_session", default.in_flight_per_session),
        in_flight_per_entry: count("in_flight_per_entry", default.in_flight_per_entry),
        frame_bytes: size("frame_bytes", default.frame_bytes),
        stderr_bytes: size("stderr_bytes", default.stderr_bytes),
        event_backlog: size("event_backlog", default.event_backlog),
    }
}

/// The check let no other word pass.
fn log_level(given: &Given) -> Option<LogLevel> {
    given.text("log_level").and_then(|word| LogLevel::from_word(&word))
}

/// Whether a session can have that id.
fn check_id(id: &str) -> Result<()> {
    if id.is_empty() {
        return Err(wrong("id", "option `id` must not be empty"));
    }
    if id.len() > SESSION_ID_BYTES_MAX || id.chars().any(crate::base::text::is_hidden) {
        let message = format!(
            "the `id` of a session has at most {SESSION_ID_BYTES_MAX} bytes and no control characters"
        );
        return Err(wrong("id", &message));
    }
    Ok(())
}

impl SessionOptions {
    /// Whether a session can have that id: one that was parsed can.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path` `id`.
    pub fn check_id(&self) -> Result<()> {
        check_id(&self.id)
    }

    /// Parses the options' JSON object; `id` is required.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<SessionOptions> {
        let given = read(OptionScope::Session, text)?;
        let Some(id) = given.text("id") else {
            return Err(wrong("id", "a session needs an `id`"));
        };
        check_id(&id)?;
        let mut filters: BTreeMap<String, Filter> = BTreeMap::new();
        for (server, patterns) in given.patterns_by_server("include") {
            filters.entry(server).or_default().include = Some(patterns);
        }
        for (server, patterns) in given.patterns_by_server("exclude") {
            filters.entry(server).or_default().exclude = patterns;
        }
        Ok(SessionOptions {
            id,
            servers: wanted(&given, "servers").unwrap_or_default(),
            filters,
            trust: given.bool_by_server("trust").into_iter().collect(),
            always_load: given.patterns_by_server("always_load").into_iter().collect(),
            follow: match given.bool("follow") {
                Some(false) => Follow::Opened,
                Some(true) | None => Follow::Newest,
            },
            keep_for: given.duration("keep_for_ms").unwrap_or(Duration::ZERO),
            roots: given.texts("roots").unwrap_or_default(),
            log_level: log_level(&given),
            handlers: Handlers::default(),
        })
    }
}

impl ConfigureOptions {
    /// Parses the options' JSON object; an empty text changes nothing.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<ConfigureOptions> {
        let given = read(OptionScope::Configure, text)?;
        let patterns = |name| {
            let given = given.has(name).then(|| given.patterns_by_server(name));
            given.map(|rows| rows.into_iter().collect())
        };
        Ok(ConfigureOptions {
            servers: wanted(&given, "servers"),
            include: patterns("include"),
            exclude: patterns("exclude"),
            trust: given.has("trust").then(|| given.bool_by_server("trust").into_iter().collect()),
            always_load: patterns("always_load"),
            roots: given.texts("roots"),
        })
    }
}

/// The check let nothing but an array and the word `all` pass.
pub(super) fn wanted(given: &Given, name: &str) -> Option<ServerSelection> {
    match given.text(name) {
        Some(_) => Some(ServerSelection::All),
        None => given.texts(name).map(ServerSelection::Names),
    }
}

/// An id appears in every event of its session.
const SESSION_ID_BYTES_MAX: usize = 256;

impl CallOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<CallOptions> {
        let given = read(OptionScope::Call, text)?;
        let options = CallOptions {
            progress: match given.bool("progress") {
                Some(true) => Progress::On,
                Some(false) | None => Progress::Off,
            },
            meta: meta_as_written(text),
            retry: match given.text("retry").as_deref() {
                Some("not_sent") => Retry::NotSent,
                Some("safe") => Retry::Safe,
                // The check let no other word pass.
                Some(_) | None => Retry::Never,
            },
            wait: given.bool("wait").unwrap_or(false),
            // The check let no other word pass.
            shape: given.text("shape").and_then(|word| ToolFormat::from_word(&word).ok()),
            unlisted: given.bool("unlisted").unwrap_or(false),
            ..CallOptions::default()
        };
        options.with_times(given.duration("timeout_ms"), given.duration("idle_timeout_ms"))
    }

    /// These options with a time in all and a time without progress; the rules are those of the
    /// options' JSON form, and the second must fit into the first when both are given (SPEC 4.2).
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path`.
    pub fn with_times(
        mut self,
        timeout: Option<Duration>,
        idle_timeout: Option<Duration>,
    ) -> Result<CallOptions> {
        for (name, time) in [("timeout_ms", timeout), ("idle_timeout_ms", idle_timeout)] {
            let millis = time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
            millis.map_or(Ok(()), |millis| check_one(OptionScope::Call, name, &millis.into()))?;
        }
        if idle_timeout.zip(timeout).is_some_and(|(idle, total)| idle > total) {
            return Err(too_long("idle_timeout_ms"));
        }
        (self.timeout, self.idle_timeout) = (timeout, idle_timeout);
        Ok(self)
    }
}

/// The text of `meta`, byte for byte, from options that passed the check.
fn meta_as_written(text: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let meta = members.get("meta")?.get();
    (meta != "null").then(|| meta.to_owned())
}

impl AcquireOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<AcquireOptions> {
        let given = read(OptionScope::Acquire, text)?;
        let origin = given.text("origin");
        let origin = origin.and_then(|word| scope::Scope::from_name(&word));
        let (timeout, log_level) = (given.duration("timeout_ms"), log_level(&given));
        Ok(AcquireOptions { timeout, origin, log_level })
    }
}

impl SignInOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<SignInOptions> {
        let given = read(OptionScope::SignIn, text)?;
        Ok(SignInOptions {
            redirect_uri: given.text("redirect_uri"),
            client_metadata_url: given.text("client_metadata_url"),
            client_name: given.text("client_name"),
        })
    }
}

impl StatusOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<StatusOptions> {
        let given = read(OptionScope::Status, text)?;
        Ok(StatusOptions { processes: given.bool("processes").unwrap_or(false) })
    }
}

impl DrainOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<DrainOptions> {
        let given = read(OptionScope::Drain, text)?;
        Ok(DrainOptions {
            mode: match given.bool("force") {
                Some(true) => DrainMode::Force,
                Some(false) | None => DrainMode::Finish,
            },
            timeout: given.duration("timeout_ms"),
        })
    }
}
