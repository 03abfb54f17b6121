//! `server/discover`: the question that a modern server answers, and the choice of a revision (SPEC
//! 4.8).
//!
//! Whether a process has read the question is asked of its pipe on Linux. One that has not is still
//! starting, and is neither hurried nor taken for a legacy server.

use std::sync::Arc;

use rmcp::model::{Implementation, ServerCapabilities};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;
use trunkline_pool::config::Era;
use trunkline_pool::json::readable;
use trunkline_pool::lenient::{kinds, lenient};

use super::{Metadata, REVISIONS};
use crate::client::connection::Link;
use crate::client::lifecycle::rmcp_handshake;
use crate::client::state::list_capabilities::ListCapabilities;
use crate::client::types::{Reply, RequestId, ServerFacts};
use crate::client::{Introduction, errors};
use crate::transport::http::MODERN_ERRORS;
use crate::{Error, ErrorCode, Result};

const UNSUPPORTED_REVISION: i64 = -32022;

/// The answers to `discover` that name revisions and settle none; then there is no common one.
const ROUNDS_MAX: usize = 2;

/// Revisions of a server that an error names.
const REVISIONS_SHOWN_MAX: usize = 16;

/// The answer of a modern server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult {
    supported_versions: Vec<String>,
    #[serde(default)]
    capabilities: ServerCapabilities,
    #[serde(rename = "_meta", default)]
    meta: DiscoverMeta,
}

#[derive(Deserialize, Default)]
struct DiscoverMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: Option<Implementation>,
}

impl Link {
    /// Asks the server what it speaks. A modern one is understood from then on, and what it said of
    /// itself is kept.
    ///
    /// A dropped future takes the question back without a word to the server.
    ///
    /// # Errors
    /// When the connection is lost, and when a modern server speaks no revision that is known here.
    pub(super) async fn discover(self: &Arc<Self>) -> Result<Era> {
        let mut candidate = REVISIONS[0];
        for _ in 0..ROUNDS_MAX {
            self.metadata.set(self.introduction(candidate));
            let offered = match self.ask("server/discover").await {
                Ok(reply) => match discovered(&reply.json) {
                    Ok((result, said)) => {
                        match choose(&result.supported_versions) {
                            Choice::Modern(revision) if revision == candidate => {
                                self.keep_discovered(revision, &result, &said);
                                return Ok(Era::Modern);
                            }
                            Choice::Modern(revision) => candidate = revision,
                            Choice::Legacy => return Ok(Era::Legacy),
                            Choice::None => {
                                return Err(self.no_revision(&result.supported_versions));
                            }
                        }
                        result.supported_versions
                    }
                    Err(_) => return Ok(Era::Legacy),
                },
                Err(error) => match modern_code(&error) {
                    Some(UNSUPPORTED_REVISION) => {
                        let supported = supported(&error);
                        match choose(&supported) {
                            Choice::Modern(revision) => candidate = revision,
                            Choice::Legacy => return Ok(Era::Legacy),
                            Choice::None => return Err(self.no_revision(&supported)),
                        }
                        supported
                    }
                    Some(_) => {
                        let message = "the server refuses to say what it speaks";
                        return Err(errors::protocol(&self.server, message).with_cause(error));
                    }
                    None if is_of_connection(&error) => return Err(error),
                    None => return Ok(Era::Legacy),
                },
            };
            tracing::debug!(server = %self.server, ?offered, "another revision is asked for");
        }
        Err(errors::protocol(&self.server, "the server refuses each revision that it names"))
    }

    /// What each request says of us in this revision.
    fn introduction(&self, revision: &'static str) -> Metadata {
        Metadata::new(revision, &self.us(), &self.capabilities(Era::Modern))
    }

    fn keep_discovered(&self, revision: &str, result: &DiscoverResult, said: &Value) {
        let (name, version) = match &result.meta.server {
            Some(server) => (self.redactor.text(&server.name), self.redactor.text(&server.version)),
            None => Default::default(),
        };
        let protocol_version = revision.to_owned();
        let server_info = &said["_meta"]["io.modelcontextprotocol/serverInfo"];
        let introduction = Introduction::new(revision, (said, server_info), &self.redactor);
        let (era, introduction) = (Some(Era::Modern), Some(introduction));
        let has_logging = result.capabilities.logging.is_some();
        let facts = ServerFacts { era, protocol_version, name, version, introduction, has_logging };
        let lists = ListCapabilities::declared_by(&result.capabilities);
        // A connection finds out once.
        let _ = (self.facts.set(facts), self.declared.set(lists));
    }

    /// A question of the connection's own; dropped, it is forgotten here, and the server is told
    /// nothing: one that does not know the question need not know how it is taken back.
    async fn ask(self: &Arc<Self>, method: &str) -> Result<Reply> {
        let (answer, reply) = oneshot::channel();
        let id = self.start_own(method, "{}", answer);
        let _forget = Forget { link: self, id };
        reply.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorCode::Internal, "a request was dropped without an answer"))
        })
    }

    fn no_revision(&self, theirs: &[String]) -> Error {
        let shown = theirs.iter().take(REVISIONS_SHOWN_MAX);
        let shown: Vec<Value> =
            shown.map(|revision| errors::revision(&self.redactor.text(revision)).into()).collect();
        let ours: Vec<Value> =
            REVISIONS.iter().chain(rmcp_handshake::REVISIONS).copied().map(Value::from).collect();
        let message = "the server speaks no revision of the protocol that is known here";
        errors::protocol(&self.server, message)
            .with_detail("supported", shown)
            .with_detail("known", ours)
            .with_hint(
                "update the server or this library, so that the two have a revision in common",
            )
    }
}

/// The revision to go on with.
#[derive(Debug, PartialEq, Eq)]
enum Choice {
    Modern(&'static str),
    /// The common ones have a handshake.
    Legacy,
    None,
}

fn choose(theirs: &[String]) -> Choice {
    let speaks = |ours: &&str| theirs.iter().any(|revision| revision == ours);
    match REVISIONS.iter().copied().find(speaks) {
        Some(revision) => Choice::Modern(revision),
        None if rmcp_handshake::REVISIONS.iter().any(speaks) => Choice::Legacy,
        None => Choice::None,
    }
}

/// The code of an error that only a modern server gives. A server that answers with one of them is
/// not asked for a handshake.
pub(super) fn modern_code(error: &Error) -> Option<i64> {
    let code = error.detail().get("code").and_then(Value::as_i64)?;
    let is_modern = error.code() == ErrorCode::ServerError && MODERN_ERRORS.contains(&code);
    is_modern.then_some(code)
}

/// The revisions that an error names.
fn supported(error: &Error) -> Vec<String> {
    let supported = error.detail().get("data").and_then(|data| data.get("supported"));
    let texts = supported.and_then(Value::as_array).into_iter().flatten();
    texts.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What can be understood of an answer, and all that can be read of it; some servers answer
/// whatever they do not know with an empty result.
fn discovered(result: &str) -> serde_json::Result<(DiscoverResult, Value)> {
    let read = lenient(result, &kinds::DISCOVER);
    Ok((serde_json::from_str(&read)?, readable(&read).unwrap_or_default()))
}

/// Whether it says more of the way to the server than of what it speaks.
fn is_of_connection(error: &Error) -> bool {
    // What leads to another place has not been asked.
    let leads_away = error.detail().contains_key("location");
    leads_away
        || matches!(
            error.code(),
            ErrorCode::CallInterrupted | ErrorCode::AuthRequired | ErrorCode::ConnectFailed
        )
}

struct Forget<'a> {
    link: &'a Link,
    id: RequestId,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        if self.link.calls.take(self.id.0).is_some() {
            self.link.wire.withdraw(self.id.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 4.8.
    #[test]
    fn a_modern_revision_goes_before_one_with_a_handshake() {
        let choose =
            |theirs: &[&str]| choose(&theirs.iter().map(|it| it.to_string()).collect::<Vec<_>>());
        assert_eq!(choose(&["2025-11-25", "2026-07-28"]), Choice::Modern("2026-07-28"));
        assert_eq!(choose(&["2025-11-25", "2030-01-01"]), Choice::Legacy);
        assert_eq!(choose(&["2030-01-01"]), Choice::None);
        assert_eq!(choose(&[]), Choice::None);
    }
}
