//! What each request of the modern era says of us: the `_meta` of its params.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwapOption;
use memchr::memmem::{self, Finder};
use rmcp::model::{ClientCapabilities, Implementation};
use trunkline_pool::json::lossy_members;
use trunkline_pool::options::RelayedCall;

/// The members of `_meta` that every request carries.
#[derive(Debug)]
pub(in crate::client) struct Metadata {
    /// Names and JSON texts.
    members: Vec<(String, String)>,
}

impl Metadata {
    /// Of a client that speaks this revision and offers these capabilities.
    pub(in crate::client) fn new(
        revision: &'static str,
        us: &Implementation,
        capabilities: &ClientCapabilities,
    ) -> Metadata {
        let json = |value: serde_json::Result<String>| value.unwrap_or_else(|_| "{}".to_owned());
        let members = [
            ("protocolVersion", format!("\"{revision}\"")),
            ("clientInfo", json(serde_json::to_string(us))),
            ("clientCapabilities", json(serde_json::to_string(capabilities))),
        ];
        let named = |(name, value)| (format!("io.modelcontextprotocol/{name}"), value);
        Metadata { members: members.into_iter().map(named).collect() }
    }

    /// The same for a request that is carried for a client of an endpoint: what that declares is in
    /// the place of ours.
    pub(in crate::client) fn of_relayed(&self, relayed: &RelayedCall) -> Metadata {
        let mut members = self.members.clone();
        if let Some(capabilities) = &relayed.capabilities {
            let ours = members.iter_mut().find(|(name, _)| name == CAPABILITIES);
            ours.into_iter().for_each(|(_, value)| value.clone_from(capabilities));
        }
        if let Some(level) = relayed.log_level {
            members.push((LOG_LEVEL.to_owned(), format!("\"{}\"", level.as_str())));
        }
        Metadata { members }
    }
}

/// The member that says what the client can answer.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The member that says which messages of the log it wants.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What the requests of one connection say of us; nothing where the server is spoken with as one of
/// the legacy era.
#[derive(Debug, Default)]
pub(in crate::client) struct Introduced {
    /// Whether there is any: a call of the legacy era has nothing more to look at.
    is_modern: AtomicBool,
    metadata: ArcSwapOption<Metadata>,
}

impl Introduced {
    /// From now on they say this.
    pub(in crate::client) fn set(&self, metadata: Metadata) {
        self.metadata.store(Some(Arc::new(metadata)));
        self.is_modern.store(true, Ordering::Release);
    }

    /// From now on they say nothing.
    pub(in crate::client) fn clear(&self) {
        self.is_modern.store(false, Ordering::Release);
        self.metadata.store(None);
    }

    /// Whether the server is spoken with in the modern era.
    pub(in crate::client) fn is_modern(&self) -> bool {
        self.is_modern.load(Ordering::Acquire)
    }

    /// What a request says now.
    pub(in crate::client) fn load(&self) -> Option<Arc<Metadata>> {
        if self.is_modern() { self.metadata.load_full() } else { None }
    }
}

/// The member of `_meta` that asks for progress. It is the library's to give: one of a caller's
/// could be that of a call of another session.
const TOKEN: &str = "progressToken";

/// Appends the params of a request with what is to be in their `_meta`, and without a token of the
/// caller's; everything else as it was. With the params comes whether they may have a `_meta` of
/// the caller's.
pub(in crate::client) fn write_params(
    frame: &mut Vec<u8>,
    (params, has_own_meta): (&str, bool),
    metadata: Option<&Metadata>,
    token: Option<u64>,
) {
    static TOKENS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(TOKEN));
    static METAS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"_meta\""));
    let has_token = || has_own_meta && may_have(params, &TOKENS);
    if metadata.is_none() && token.is_none() && !has_token() {
        return frame.extend_from_slice(params.as_bytes());
    }
    let token = token.map(|token| token.to_string());
    let ours = metadata.into_iter().flat_map(|metadata| &metadata.members);
    let ours = ours.map(|(name, value)| (name.as_str(), value.as_str()));
    let ours: Vec<_> = ours.chain(token.as_deref().map(|token| (TOKEN, token))).collect();
    match params.strip_prefix('{') {
        Some(rest) if !ours.is_empty() && !may_have(params, &METAS) => {
            let rest = rest.trim_start();
            frame.extend_from_slice(b"{\"_meta\":");
            write_members(frame, ours);
            frame.extend_from_slice(if rest == "}" { b"" } else { b"," });
            frame.extend_from_slice(rest.as_bytes());
        }
        _ => merge(frame, params, &ours),
    }
}

/// Whether this may be in the params as the name of a member, however it is spelled.
fn may_have(params: &str, name: &Finder<'_>) -> bool {
    let params = params.as_bytes();
    // Escaped it has a backslash, and few params have one.
    name.find(params).is_some()
        || memchr::memchr(b'\\', params)
            .is_some_and(|at| memmem::find(&params[at..], b"\\u").is_some())
}

/// Appends the params with these members in the `_meta` that they may have.
fn merge(frame: &mut Vec<u8>, params: &str, ours: &[(&str, &str)]) {
    let Ok(members) = lossy_members(params) else {
        return frame.extend_from_slice(params.as_bytes());
    };
    let metas = members.iter().filter(|(name, _)| name == "_meta");
    // One that is no object has no members.
    let metas: Vec<_> =
        metas.map(|(_, meta)| lossy_members(meta.get()).unwrap_or_default()).collect();
    let has_token = metas.iter().flatten().any(|(name, _)| name == TOKEN);
    if ours.is_empty() && !has_token {
        return frame.extend_from_slice(params.as_bytes());
    }
    let inside = metas.first().into_iter().flatten();
    let inside = inside
        .filter(|(name, _)| name != TOKEN && !ours.iter().any(|(our, _)| our == name))
        .map(|(name, value)| (name.as_str(), value.get()));
    let mut meta = Vec::new();
    write_members(&mut meta, inside.chain(ours.iter().copied()));
    let meta = String::from_utf8(meta).unwrap_or_default();
    let members = members.iter().filter(|(name, _)| name != "_meta");
    let members = members.map(|(name, value)| (name.as_str(), value.get()));
    write_members(frame, members.chain([("_meta", meta.as_str())]));
}

fn write_members<'a>(out: &mut Vec<u8>, members: impl IntoIterator<Item = (&'a str, &'a str)>) {
    out.push(b'{');
    for (place, (name, value)) in members.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut *out, name);
        let _ = write!(out, ":{value}");
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"us","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;

    fn written(params: &str, is_modern: bool, token: Option<u64>) -> String {
        let us = Implementation::new("us", "1");
        let modern = Metadata::new("2026-07-28", &us, &ClientCapabilities::default());
        let mut frame = Vec::new();
        write_params(&mut frame, (params, true), Some(&modern).filter(|_| is_modern), token);
        String::from_utf8(frame).unwrap()
    }

    /// SPEC 5.9.
    #[test]
    fn a_progress_token_joins_the_meta_that_is_there() {
        let params = r#"{"name":"x","_meta":{"k":[1.50],"progressToken":1}}"#;
        let expected = r#"{"name":"x","_meta":{"k":[1.50],"progressToken":7}}"#;
        assert_eq!(written(params, false, Some(7)), expected);
        assert_eq!(written("{}", false, Some(7)), r#"{"_meta":{"progressToken":7}}"#);
    }

    /// SPEC 5.9, S-45: the token of a call is the library's, or there is none: another could be
    /// that of somebody else's call.
    #[test]
    fn a_progress_token_of_the_caller_does_not_go_out() {
        for (params, expected) in [
            (r#"{"_meta":{"progressToken":9}}"#, r#"{"_meta":{}}"#),
            (r#"{"_meta":{"k":1.0,"progressToken":"9"},"a":1}"#, r#"{"a":1,"_meta":{"k":1.0}}"#),
            (r#"{"\u005fmeta":{"progress\u0054oken":9}}"#, r#"{"_meta":{}}"#),
            (r#"{"_meta":{"k":1},"_meta":{"progressToken":9}}"#, r#"{"_meta":{"k":1}}"#),
        ] {
            assert_eq!(written(params, false, None), expected);
            assert!(!written(params, true, None).contains("oken"));
        }
        // However odd the names beside it are.
        let odd = r#"{"\ud83d":1,"_meta":{"\ud83d":2,"progressToken":9}}"#;
        for (is_modern, token) in [(false, None), (true, None), (false, Some(7))] {
            let sent = written(odd, is_modern, token);
            assert!(sent.contains(":1,") && sent.contains(":2") && !sent.contains('9'), "{sent}");
        }
    }

    /// SPEC 19.6: a modern server is told what the client of an endpoint declares.
    #[test]
    fn a_relayed_request_says_what_its_client_declares() {
        let ours = Metadata::new("r", &Implementation::new("n", "1"), &Default::default());
        let relayed = RelayedCall {
            capabilities: Some(r#"{"sampling":{}}"#.to_owned()),
            log_level: Some(trunkline_pool::options::LogLevel::Warning),
            ..RelayedCall::default()
        };
        let mut frame = Vec::new();
        write_params(&mut frame, ("{}", true), Some(&ours.of_relayed(&relayed)), None);
        let said = String::from_utf8(frame).unwrap();
        assert!(said.contains(r#"/clientCapabilities":{"sampling":{}}"#), "{said}");
        assert!(said.contains(r#"/logLevel":"warning""#), "{said}");
        assert_eq!(ours.of_relayed(&RelayedCall::default()).members, ours.members);
    }

    /// SPEC 5.3: what is no token of a request stays, and so does all around it.
    #[test]
    fn params_without_a_token_go_out_as_they_came() {
        for params in [
            r#"{ "a": "progressToken \u00e4", "_meta" : {"k":1} }"#,
            r#"{"progressToken":9,"_meta":[{"progressToken":9}]}"#,
            r#"{"a":{"_meta":{"progressToken":9}}}"#,
        ] {
            assert_eq!(written(params, false, None), params);
        }
    }

    /// SPEC 4.8, 5.3: what the caller wrote stays as it was, however it is written.
    #[test]
    fn the_metadata_of_the_modern_era_joins_whatever_is_there() {
        assert_eq!(written("{}", true, None), format!("{{\"_meta\":{{{MODERN}}}}}"));
        assert_eq!(
            written(r#"{ "a": 1e400, "b": "c" }"#, true, Some(3)),
            format!(r#"{{"_meta":{{{MODERN},"progressToken":3}},"a": 1e400, "b": "c" }}"#)
        );
        for meta in ["_meta", "\\u005fmeta"] {
            let params = format!(
                r#"{{"{meta}":{{"io.modelcontextprotocol/protocolVersion":"1","k":1}},"a":0.10}}"#
            );
            let expected = format!(r#"{{"a":0.10,"_meta":{{"k":1,{MODERN}}}}}"#);
            assert_eq!(written(&params, true, None), expected);
        }
    }
}
