//! What each request of the modern era says of us: the `_meta` of its params.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwapOption;
use rmcp::model::{ClientCapabilities, Implementation};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

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
}

/// What the requests of one connection say of us; nothing where the server is spoken with as one of the legacy era.
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

/// Appends the params of a request with what is to be in their `_meta`, everything else as it was.
pub(in crate::client) fn write_params(
    frame: &mut Vec<u8>,
    params: &str,
    metadata: Option<&Metadata>,
    token: Option<u64>,
) {
    if metadata.is_none() && token.is_none() {
        return frame.extend_from_slice(params.as_bytes());
    }
    let token = token.map(|token| token.to_string());
    let ours = metadata.into_iter().flat_map(|metadata| &metadata.members);
    let ours = ours.map(|(name, value)| (name.as_str(), value.as_str()));
    let ours: Vec<_> = ours.chain(token.as_deref().map(|token| ("progressToken", token))).collect();
    match params.strip_prefix('{') {
        _ if ours.is_empty() => frame.extend_from_slice(params.as_bytes()),
        Some(rest) if !may_have_meta(params) => {
            let rest = rest.trim_start();
            frame.extend_from_slice(b"{\"_meta\":");
            write_members(frame, ours);
            frame.extend_from_slice(if rest == "}" { b"" } else { b"," });
            frame.extend_from_slice(rest.as_bytes());
        }
        _ => merge(frame, params, &ours),
    }
}

/// Whether the params may have a `_meta`, however it is spelled.
fn may_have_meta(params: &str) -> bool {
    let has = |text: &str| memchr::memmem::find(params.as_bytes(), text.as_bytes()).is_some();
    has("\"_meta\"") || has("\\u")
}

/// Appends the params with these members in the `_meta` that they may have.
fn merge(frame: &mut Vec<u8>, params: &str, ours: &[(&str, &str)]) {
    let Ok(Members(members)) = serde_json::from_str(params) else {
        return frame.extend_from_slice(params.as_bytes());
    };
    let meta = members.iter().find(|(name, _)| name == "_meta").map(|(_, meta)| *meta);
    let mut inside = match meta.map(serde_json::from_str::<Members<'_>>) {
        Some(Ok(Members(inside))) => inside,
        Some(Err(_)) | None => Vec::new(),
    };
    inside.retain(|(name, _)| !ours.iter().any(|(our, _)| our == name));
    let inside = inside.iter().map(|(name, value)| (name.as_str(), *value));
    let mut meta = Vec::new();
    write_members(&mut meta, inside.chain(ours.iter().copied()));
    let meta = String::from_utf8(meta).unwrap_or_default();
    let members = members.iter().filter(|(name, _)| name != "_meta");
    let members = members.map(|(name, value)| (name.as_str(), *value));
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

/// The members of an object, in order, their values as text.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Collect<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Collect<'a> {
            type Value = Members<'a>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Members<'a>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((name, value.get()));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Collect(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"us","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}"#;

    fn written(params: &str, is_modern: bool, token: Option<u64>) -> String {
        let us = Implementation::new("us", "1");
        let modern = Metadata::new("2026-07-28", &us, &ClientCapabilities::default());
        let mut frame = Vec::new();
        write_params(&mut frame, params, Some(&modern).filter(|_| is_modern), token);
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
