//! From the JSON of one server to its `ServerSpec`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::fields::{Field, Fields};
use super::{
    Era, LEADS_BACK, RemoteKind, RemoteSpec, ServerSpec, Share, StdioSpec, Transport, leads_back,
    oauth,
};
use crate::base::text::{escaped, is_hidden};
use crate::catalog::Filter;
use crate::error::Result;
use crate::json::joined;
use crate::options::{ServerReconnect, Start};

impl ServerSpec {
    /// Parses the JSON of one server. `name` is for the errors.
    ///
    /// Members that no rule knows are kept in [`unknown`](ServerSpec::unknown). A time is in
    /// milliseconds.
    ///
    /// # Errors
    /// `invalid_config` with `detail.path`. It never shows a value, since any of them may be a
    /// secret. One that leads back to a pool is wrong too.
    pub fn from_value(name: &str, value: &Value) -> Result<ServerSpec> {
        let spec = ServerSpec::with_some_address(name, value)?;
        check_end(name, &spec.transport)?;
        if let Transport::Remote(remote) = &spec.transport {
            let is_set = |name: &&str| value.get(*name).is_some_and(|value| !value.is_null());
            let path = ADDRESSES.into_iter().find(is_set);
            check_address(name, path.unwrap_or("url"), &remote.url)?;
        }
        Ok(spec)
    }

    /// The same where something may stand for a part of the address, which is looked at as a whole
    /// once it is known.
    pub(crate) fn with_some_address(name: &str, value: &Value) -> Result<ServerSpec> {
        check_name(name)?;
        let mut fields = Fields::new(name, value)?;
        let transport = transport(&mut fields)?;
        let call_timeout = fields.duration("call_timeout_ms")?;
        let call_idle_timeout = fields.duration("call_idle_timeout_ms")?;
        if call_idle_timeout.zip(call_timeout).is_some_and(|(idle, total)| idle > total) {
            let message = "the time without progress is longer than the time in all";
            return Err(fields.error("call_idle_timeout_ms", message));
        }
        Ok(ServerSpec {
            transport,
            call_timeout,
            call_idle_timeout,
            connect_timeout: fields.duration("connect_timeout_ms")?,
            reconnect: reconnect(&mut fields)?,
            share: share(&mut fields)?,
            start: start(&mut fields)?,
            era: era(&mut fields)?,
            filter: Filter {
                include: fields.texts("include")?,
                exclude: fields.texts("exclude")?.unwrap_or_default(),
            },
            trust: fields.bool("trust")?.unwrap_or(false),
            always_load: fields.texts("always_load")?.unwrap_or_default(),
            description: description(&mut fields)?,
            disabled: disabled(&mut fields)?,
            oauth: oauth::take(&mut fields)?,
            unknown: fields.into_unknown(),
            value_files: Vec::new(),
        })
    }
}

/// An empty description says as much as none; products write it where a person wrote nothing.
fn description(fields: &mut Fields<'_>) -> Result<Option<String>> {
    let Some(Field { name, value }) = fields.take("description")? else { return Ok(None) };
    Ok(Some(fields.as_string(&name, &value)?).filter(|text| !text.is_empty()))
}

fn reconnect(fields: &mut Fields<'_>) -> Result<Option<ServerReconnect>> {
    let Some(Field { name, value }) = fields.take("reconnect")? else { return Ok(None) };
    ServerReconnect::from_value(&value).map(Some).map_err(|error| {
        let member = |name| error.detail().get(name).and_then(Value::as_str);
        let path = member("path").or_else(|| member("option")).unwrap_or(&name);
        fields.error(path, error.message()).with_hint_of(&error)
    })
}

/// A server's name becomes part of exposed names, events and messages, never of a path.
const NAME_BYTES_MAX: usize = 256;

/// As much of a refused name as its error shows, in characters.
const SHOWN_NAME_MAX: usize = 80;

/// Whether a server may have this name.
///
/// # Errors
/// `invalid_config` that says why not.
pub fn check_name(name: &str) -> Result<()> {
    let fault = if name.is_empty() {
        "the name of a server must not be empty"
    } else if name.len() > NAME_BYTES_MAX {
        "the name of a server has at most 256 bytes"
    } else if name.chars().any(is_hidden) {
        "the name of a server must not hold control or invisible characters"
    } else {
        return Ok(());
    };
    let shown: String = name.chars().take(SHOWN_NAME_MAX).collect();
    Err(super::fields::invalid(&shown, "", fault))
}

/// The kinds that a configuration can state.
#[derive(Clone, Copy, PartialEq)]
enum Stated {
    Stdio,
    Remote(RemoteKind),
}

fn transport(fields: &mut Fields<'_>) -> Result<Transport> {
    let stated = stated(fields)?;
    let url = url_field(fields)?;
    if fields.has("command") {
        if let Some(url) = &url {
            let message = format!("`command` and `{}` are two transports in one entry", url.name);
            return Err(fields.error(&url.name, &message));
        }
        if matches!(stated, Some(Stated::Remote(_))) {
            return Err(fields.error("command", "a remote transport has no `command`"));
        }
        return stdio(fields).map(Transport::Stdio);
    }
    match (url, stated) {
        (Some(url), Some(Stated::Stdio)) => {
            let message = format!("a stdio server has a `command` and no `{}`", url.name);
            Err(fields.error(&url.name, &message))
        }
        (Some(url), Some(Stated::Remote(kind))) => remote(fields, url, Some(kind)),
        (Some(url), None) => remote(fields, url, None),
        (None, Some(Stated::Remote(_))) => Err(fields.error("url", "`url` is missing")),
        (None, Some(Stated::Stdio)) => Err(fields.error("command", "`command` is missing")),
        (None, None) => {
            let message = "a server needs a `command` or a `url`; both are missing";
            Err(fields.missing(&["command", "url"], message))
        }
    }
}

fn stated(fields: &mut Fields<'_>) -> Result<Option<Stated>> {
    let Some(Field { name, value }) = fields.take("transport")? else { return Ok(None) };
    let word = fields.as_text(&name, &value)?;
    let stated = match word.as_str() {
        "stdio" | "local" => Stated::Stdio,
        "http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote" => {
            Stated::Remote(RemoteKind::Http)
        }
        "sse" => Stated::Remote(RemoteKind::Sse),
        "ws" | "websocket" => Stated::Remote(RemoteKind::Websocket),
        "host" => {
            let message = "a server of the host's own is provided to a session, not configured";
            return Err(fields.error(&name, message));
        }
        other => {
            // What is no word at all may be a value that slipped here.
            let is_part = |c: char| c == '-' || c == '_' || c.is_ascii_alphanumeric();
            let is_word = other.len() <= TRANSPORT_WORD_BYTES_MAX && other.chars().all(is_part);
            let shown = if is_word { other } else { &name };
            let message = format!("`{}` is not a transport of this library", escaped(shown));
            return Err(fields.error(&name, &message));
        }
    };
    Ok(Some(stated))
}

/// As much of a word that is no transport as an error shows.
const TRANSPORT_WORD_BYTES_MAX: usize = 32;

/// The one address of an entry, under the spelling that was used.
fn url_field(fields: &mut Fields<'_>) -> Result<Option<Field>> {
    let found = ADDRESSES.iter().copied().filter(|spelling| fields.has(spelling));
    let found: Vec<&str> = found.collect();
    if let [first, second, ..] = found[..] {
        let message = format!("`{first}` and `{second}` are two transports in one entry");
        return Err(fields.error(second, &message));
    }
    fields.take("url")
}

/// How the field of an address is spelled.
pub(crate) const ADDRESSES: [&str; 4] = ["url", "serverUrl", "httpUrl", "tcp"];

fn stdio(fields: &mut Fields<'_>) -> Result<StdioSpec> {
    let Some(command) = fields.text("command")? else {
        return Err(fields.error("command", "`command` is missing"));
    };
    let mut env = BTreeMap::new();
    let mut unset_env = BTreeSet::new();
    for (name, value) in fields.text_map("env")? {
        if name.is_empty() || name.contains(['=', '\0', '\u{feff}']) {
            let name = without_value(&name, &['=']);
            let message = format!("`{}` is not the name of a variable", escaped(&name));
            return Err(fields.error(&joined("env", &name), &message));
        }
        match value {
            Some(value) => {
                env.insert(name, value);
            }
            None => {
                unset_env.insert(name);
            }
        }
    }
    Ok(StdioSpec {
        command,
        args: fields.texts("args")?.unwrap_or_default(),
        cwd: fields.text("cwd")?,
        env,
        unset_env,
        inherit_env: fields.texts("inherit_env")?.unwrap_or_default(),
    })
}

fn remote(fields: &mut Fields<'_>, url: Field, stated: Option<RemoteKind>) -> Result<Transport> {
    let text = fields.as_text(&url.name, &url.value)?;
    let implied = match url.name.as_str() {
        "httpUrl" => Some(RemoteKind::Http),
        "tcp" => Some(RemoteKind::Websocket),
        _ => None,
    };
    if let (Some(implied), Some(stated)) = (implied, stated)
        && implied != stated
    {
        let message = format!("`{}` does not fit the stated transport", url.name);
        return Err(fields.error(&url.name, &message));
    }
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let is_websocket = matches!(scheme.as_deref(), Some("ws" | "wss"));
    let by_scheme = if is_websocket { RemoteKind::Websocket } else { RemoteKind::Auto };
    let kind = stated.or(implied).unwrap_or(by_scheme);
    check_url(fields, &url.name, &text, kind)?;
    let (headers, socket_path) = (headers(fields)?, socket_path(fields)?);
    Ok(Transport::Remote(RemoteSpec { kind, url: text, headers, socket_path }))
}

/// Refuses what the client that connects could not read.
pub(crate) fn check_address(server: &str, path: &str, url: &str) -> Result<()> {
    Url::parse(url).map(drop).map_err(|why| {
        super::fields::invalid(server, path, &format!("`{path}` is not a valid URL: {why}"))
    })
}

/// Refuses what would make the pool a client of a pool (SPEC 19.9).
fn check_end(server: &str, transport: &Transport) -> Result<()> {
    if !leads_back(transport) {
        return Ok(());
    }
    let message = format!("`{LEADS_BACK}` leads back to a pool, and no pool starts it");
    let error = super::fields::invalid(server, "command", &message);
    Err(error.with_hint("configure the server that stands behind it"))
}

/// What is wrong with an address whatever its variables become.
fn check_url(fields: &Fields<'_>, path: &str, url: &str, kind: RemoteKind) -> Result<()> {
    let schemes: &[&str] = match kind {
        RemoteKind::Websocket => &["ws", "wss"],
        RemoteKind::Auto | RemoteKind::Http | RemoteKind::Sse => &["http", "https"],
    };
    let parts = url.split_once("://");
    let Some((_, rest)) = parts
        .filter(|(scheme, _)| schemes.iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed)))
    else {
        let message =
            format!("`{path}` must begin with `{}://` or `{}://`", schemes[0], schemes[1]);
        return Err(fields.error(path, &message));
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    if host.is_empty() || host.starts_with(':') {
        return Err(fields.error(path, &format!("`{path}` has no host")));
    }
    if url.chars().any(|c| c.is_whitespace() || is_hidden(c) || c == '\\') {
        let message =
            format!("`{path}` must not hold white space, backslashes or control characters");
        return Err(fields.error(path, &message));
    }
    Ok(())
}

/// As much as the address of a Unix socket holds, in bytes.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// A path that says the same in every folder, or a name of Linux that is in none.
fn socket_path(fields: &mut Fields<'_>) -> Result<Option<String>> {
    let Some(path) = fields.text("socket_path")? else { return Ok(None) };
    let fault = if !path.starts_with('/') && (!path.starts_with('@') || path == "@") {
        "`socket_path` must be an absolute path, or `@` and a name"
    } else if path.len() > SOCKET_PATH_BYTES_MAX {
        "`socket_path` has at most 107 bytes"
    } else if path.chars().any(is_hidden) {
        "`socket_path` must not hold control or invisible characters"
    } else {
        return Ok(Some(path));
    };
    Err(fields.error("socket_path", fault))
}

/// A name that holds what goes between a name and a value, cut there: somebody put both into the
/// one, and the value may be a secret.
fn without_value(name: &str, between: &[char]) -> String {
    match name.split_once(between) {
        Some((name, _)) => format!("{name}\u{2026}"),
        None => name.to_owned(),
    }
}

/// Header names are compared without case, so two that differ in it alone are one too many.
fn headers(fields: &mut Fields<'_>) -> Result<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    for (name, value) in fields.text_map("headers")? {
        let path = joined("headers", &name);
        let Some(value) = value else { continue };
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            let name = without_value(&name, &[':', ' ', '=']);
            let message = format!("`{}` is not a header name", escaped(&name));
            return Err(fields.error(&joined("headers", &name), &message));
        }
        if value.chars().any(|c| c != '\t' && c.is_control()) {
            let message = format!("`{path}` must not hold line breaks or control characters");
            return Err(fields.error(&path, &message));
        }
        if out.insert(name.to_ascii_lowercase(), value).is_some() {
            return Err(fields.error(&path, &format!("`{path}` is there twice")));
        }
    }
    Ok(out)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn share(fields: &mut Fields<'_>) -> Result<Option<Share>> {
    match fields.text("share")?.as_deref() {
        None => Ok(None),
        Some("pool") => Ok(Some(Share::Pool)),
        Some("session") => Ok(Some(Share::Session)),
        Some(_) => Err(fields.error("share", "`share` must be `pool` or `session`")),
    }
}

fn start(fields: &mut Fields<'_>) -> Result<Option<Start>> {
    match fields.text("start")?.as_deref() {
        None => Ok(None),
        Some("eager") => Ok(Some(Start::Eager)),
        Some("lazy") => Ok(Some(Start::Lazy)),
        Some(_) => Err(fields.error("start", "`start` must be `eager` or `lazy`")),
    }
}

fn era(fields: &mut Fields<'_>) -> Result<Option<Era>> {
    match fields.text("era")?.as_deref() {
        None | Some("auto") => Ok(None),
        Some("legacy") => Ok(Some(Era::Legacy)),
        Some("modern") => Ok(Some(Era::Modern)),
        Some(_) => Err(fields.error("era", "`era` must be `auto`, `legacy` or `modern`")),
    }
}

fn disabled(fields: &mut Fields<'_>) -> Result<bool> {
    let disabled = fields.bool("disabled")?;
    let enabled = fields.bool("enabled")?;
    match (disabled, enabled) {
        (Some(disabled), Some(enabled)) if disabled == enabled => {
            Err(fields.error("enabled", "`enabled` and `disabled` contradict each other"))
        }
        (Some(disabled), _) => Ok(disabled),
        (None, Some(enabled)) => Ok(!enabled),
        (None, None) => Ok(false),
    }
}
