//! Why a request is denied, and the code that a client of each era is told.

use serde_json::Value;

use crate::config::Era;

/// Why a request of a client is denied.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::bridge) struct Denial {
    /// The situation.
    pub kind: DenialKind,
    /// What the client is told.
    pub message: String,
    /// The `data` of the error.
    pub attached: Option<Value>,
}

impl Denial {
    /// Without `data`.
    pub fn new(kind: DenialKind, message: impl Into<String>) -> Denial {
        Denial { kind, message: message.into(), attached: None }
    }

    /// With this as `data`.
    pub fn with(self, attached: Value) -> Denial {
        Denial { attached: Some(attached), ..self }
    }
}

/// The situations in which a request is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bridge) enum DenialKind {
    /// The text is no JSON.
    Unreadable,
    /// It is no request, or one at the wrong time.
    InvalidRequest,
    /// The method does not exist in this era, or nothing is offered for it.
    UnknownMethod,
    /// A required member of `_meta` is missing or wrong.
    BadMeta,
    /// The params are wrong, or name what does not exist.
    BadParams,
    /// No server has the resource.
    UnknownResource,
    /// A header says something else than the body.
    HeaderMismatch,
    /// The revision is not spoken.
    Version,
    /// The client did not declare what the request needs.
    MissingCapability,
    /// A server or the pool cannot answer.
    Upstream,
    /// The server's own code, which passes.
    Passed(i64),
}

/// A code, and the HTTP status where nothing was sent yet.
pub(in crate::bridge) type ToldCode = (i64, u16);

/// The situation, what the modern era is told, and what the legacy era.
const TABLE: &[(DenialKind, ToldCode, ToldCode)] = &[
    (DenialKind::Unreadable, (-32700, 400), (-32700, 400)),
    (DenialKind::InvalidRequest, (-32600, 400), (-32600, 400)),
    (DenialKind::UnknownMethod, (-32601, 404), (-32601, 200)),
    (DenialKind::BadMeta, (-32602, 400), (-32602, 200)),
    (DenialKind::BadParams, (-32602, 200), (-32602, 200)),
    (DenialKind::UnknownResource, (-32602, 200), (-32002, 200)),
    (DenialKind::HeaderMismatch, (-32020, 400), (-32600, 400)),
    (DenialKind::Version, (-32022, 400), (-32602, 400)),
    (DenialKind::MissingCapability, (-32021, 400), (-32603, 200)),
    (DenialKind::Upstream, (-32603, 200), (-32603, 200)),
];

/// What a client of this era is told.
pub(in crate::bridge) fn told(kind: DenialKind, era: Era) -> ToldCode {
    let found = TABLE.iter().find(|(had, ..)| *had == kind);
    match (kind, found, era) {
        // A server's refusal of a whole request is one of ours in front.
        (DenialKind::Passed(code @ -32022..=-32020), _, Era::Modern) => (code, 400),
        (DenialKind::Passed(code), ..) => (code, 200),
        (_, Some((_, modern, _)), Era::Modern) => *modern,
        (_, Some((.., legacy)), Era::Legacy) => *legacy,
        (_, None, _) => (-32603, 200),
    }
}

/// Whether a code of a server may reach a modern client: the protocol defines it, or leaves it to
/// servers.
pub(in crate::bridge) fn is_for_modern(code: i64) -> bool {
    match code {
        -32099..=-32000 => (-32022..=-32020).contains(&code),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 19.5: each situation has its own row, and no row emits a code that the era lacks.
    #[test]
    fn every_situation_has_a_code_of_each_era() {
        for (kind, modern, legacy) in TABLE {
            assert_eq!(told(*kind, Era::Modern), *modern);
            assert_eq!(told(*kind, Era::Legacy), *legacy);
            assert!(is_for_modern(modern.0), "{kind:?}");
            let is_modern_only = (-32099..=-32020).contains(&legacy.0);
            assert!(!is_modern_only, "{kind:?} tells a legacy client {}", legacy.0);
        }
        assert_eq!(TABLE.len(), 10);
        assert_eq!(told(DenialKind::Passed(-5), Era::Modern), (-5, 200));
        assert_eq!(told(DenialKind::Passed(-32021), Era::Modern), (-32021, 400));
    }

    #[test]
    fn modern_clients_get_no_code_that_the_protocol_keeps_back() {
        for code in [-32000, -32002, -32019, -32023, -32042, -32099] {
            assert!(!is_for_modern(code), "{code}");
        }
        for code in [-32020, -32021, -32022, -32601, -32602, -32603, -32700, -31999, 7, -1] {
            assert!(is_for_modern(code), "{code}");
        }
    }
}
