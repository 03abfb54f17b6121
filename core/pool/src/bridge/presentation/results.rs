//! Results of servers, as a client of either era takes them.

use serde_json::json;

use super::contents::ContentChange;
use crate::bridge::facts::ServedPath;
use crate::bridge::methods::MethodRow;
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::edit::{Edit, edited, put, stamped};
use crate::config::Era;
use crate::json::members;

/// What a result passes between.
#[derive(Clone, Copy, Debug)]
pub(in crate::bridge) struct Passage<'a> {
    /// The path of the client.
    pub path: &'a ServedPath,
    /// The server.
    pub server: &'a str,
    /// The era of the server.
    pub server_era: Era,
    /// The method that was asked.
    pub method: &'static MethodRow,
    /// The era of the client.
    pub client_era: Era,
    /// The revision of the client.
    pub revision: &'a str,
    /// The JSON of `serverInfo` that a modern client is told.
    pub identity: &'a str,
    /// The client knows structured content that is an object alone, and this may be another.
    pub wraps_content: bool,
}

/// What a result of a server is.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::bridge) enum ResultKind {
    /// An answer.
    Complete,
    /// The server asks for input, and gets the request again with it.
    InputRequired,
}

impl Passage<'_> {
    /// What a result is, by its `resultType`.
    pub fn kind(&self, result: &str) -> Result<ResultKind, Denial> {
        let wrong = |message: &str| {
            Denial::new(DenialKind::Upstream, message).with(json!({ "server": self.server }))
        };
        let read = members(result).map_err(|_| wrong("the server's result is not an object"))?;
        let kind = read.iter().rfind(|(name, _)| name == "resultType").map(|(_, kind)| kind.get());
        match kind {
            _ if self.server_era == Era::Legacy => Ok(ResultKind::Complete),
            None | Some("null" | "\"complete\"") => Ok(ResultKind::Complete),
            Some("\"input_required\"") if self.method.takes_input() => {
                Ok(ResultKind::InputRequired)
            }
            Some(_) => Err(wrong("the server's result has a `resultType` that is not valid here")),
        }
    }

    /// An answer, as the client takes it. It has to be one.
    pub fn complete(&self, result: &str) -> String {
        let is_modern = self.client_era == Era::Modern;
        let is_cached = self.method.is_cached();
        let server = self.path.server.is_none().then_some(self.server);
        let change = ContentChange { server, revision: self.revision };
        let (mut meta, mut has_ttl, mut has_scope) = (None, false, false);
        let edit = |name: &str, value: &str| match name {
            "resultType" => Edit::Drop,
            "_meta" => {
                meta = Some(value.to_owned());
                Edit::Drop
            }
            "ttlMs" | "cacheScope" if is_cached && !is_modern => Edit::Drop,
            "ttlMs" if is_cached => {
                has_ttl = value.parse::<u64>().is_ok();
                if has_ttl { Edit::Keep } else { Edit::Drop }
            }
            "cacheScope" if is_cached => {
                has_scope = matches!(value, "\"public\"" | "\"private\"");
                if has_scope { Edit::Keep } else { Edit::Drop }
            }
            "structuredContent" if self.wraps_content => {
                put(Some(format!(r#"{{"result":{value}}}"#)))
            }
            _ => put(change.member(name, value)),
        };
        let body = edited(result, edit, &[]).unwrap_or_else(|| "{}".to_owned());
        let ours = [("io.modelcontextprotocol/serverInfo", self.identity)];
        let meta = stamped(meta.as_deref(), if is_modern { &ours } else { &[] });
        let appended = [
            ("resultType", is_modern.then_some("\"complete\"")),
            ("ttlMs", (is_modern && is_cached && !has_ttl).then_some("0")),
            ("cacheScope", (is_modern && is_cached && !has_scope).then_some("\"private\"")),
            ("_meta", meta.as_deref()),
        ];
        let appended: Vec<_> =
            appended.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        edited(&body, |_, _| Edit::Keep, &appended).unwrap_or(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::methods::find;

    fn passage<'a>(
        path: &'a ServedPath,
        method: &str,
        client_era: Era,
        server_era: Era,
    ) -> Passage<'a> {
        let method = find(method, Era::Modern).unwrap();
        let revision = if client_era == Era::Modern { "2026-07-28" } else { "2025-11-25" };
        let identity = r#"{"name":"i"}"#;
        Passage {
            path,
            server: "s",
            server_era,
            method,
            client_era,
            revision,
            identity,
            wraps_content: false,
        }
    }

    const PATH: ServedPath = ServedPath { profile: None, server: Some(String::new()) };

    /// SPEC 19.5: the four cells of a result.
    #[test]
    fn a_result_is_one_of_the_era_of_its_client() {
        let bare = r#"{"content":[],"structuredContent":null,"_meta":{"a/b":1}}"#;
        let full = r#"{"resultType":"complete","content":[],"_meta":{"a/b":1,"io.modelcontextprotocol/serverInfo":{}}}"#;
        let stamp = r#""io.modelcontextprotocol/serverInfo":{"name":"i"}"#;
        for (client, server, result, expected) in [
            (Era::Legacy, Era::Legacy, bare, bare.to_owned()),
            (Era::Legacy, Era::Modern, full, r#"{"content":[],"_meta":{"a/b":1}}"#.to_owned()),
            (
                Era::Modern,
                Era::Modern,
                full,
                format!(r#"{{"content":[],"resultType":"complete","_meta":{{"a/b":1,{stamp}}}}}"#),
            ),
            (
                Era::Modern,
                Era::Legacy,
                r#"{"content":[]}"#,
                format!(r#"{{"content":[],"resultType":"complete","_meta":{{{stamp}}}}}"#),
            ),
        ] {
            let told = passage(&PATH, "tools/call", client, server).complete(result);
            assert_eq!(told, expected, "{client:?} {server:?}");
        }
    }

    #[test]
    fn what_is_read_says_how_long_it_is_fresh() {
        let path = ServedPath { profile: None, server: None };
        let hinted = r#"{"contents":[],"ttlMs":5,"cacheScope":"public"}"#;
        for (client, result, parts, not) in [
            (Era::Modern, hinted, vec![r#""ttlMs":5,"cacheScope":"public""#], vec!["private"]),
            (
                Era::Modern,
                r#"{"ttlMs":-1}"#,
                vec![r#""ttlMs":0,"cacheScope":"private""#],
                vec!["-1"],
            ),
            (Era::Legacy, hinted, vec![r#"{"contents":[]}"#], vec!["ttlMs", "cacheScope"]),
        ] {
            let told = passage(&path, "resources/read", client, Era::Modern).complete(result);
            assert!(parts.iter().all(|part| told.contains(part)), "{told}");
            assert!(!not.iter().any(|part| told.contains(part)), "{told}");
        }
        let mut wrapping = passage(&path, "tools/call", Era::Legacy, Era::Modern);
        wrapping.wraps_content = true;
        let told = wrapping.complete(r#"{"structuredContent":[1]}"#);
        assert_eq!(told, r#"{"structuredContent":{"result":[1]}}"#);
    }

    #[test]
    fn the_kind_of_a_result_is_a_known_one() {
        for (method, server, result, expected) in [
            ("tools/call", Era::Modern, r#"{"resultType":"complete"}"#, Some(ResultKind::Complete)),
            ("tools/call", Era::Modern, "{}", Some(ResultKind::Complete)),
            (
                "tools/call",
                Era::Modern,
                r#"{"resultType":"input_required"}"#,
                Some(ResultKind::InputRequired),
            ),
            ("completion/complete", Era::Modern, r#"{"resultType":"input_required"}"#, None),
            ("tools/call", Era::Modern, r#"{"resultType":"task"}"#, None),
            ("tools/call", Era::Legacy, r#"{"resultType":"odd"}"#, Some(ResultKind::Complete)),
            ("tools/call", Era::Legacy, "[]", None),
        ] {
            let kind = passage(&PATH, method, Era::Modern, server).kind(result);
            assert_eq!(kind.ok(), expected, "{method} {result}");
        }
    }
}
