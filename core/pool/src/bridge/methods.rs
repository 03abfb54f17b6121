//! The methods that a client may send, as attached: in which era each exists, what must be offered
//! for it, and where it leads.

use crate::catalog::ListKind;
use crate::config::Era;

/// One method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MethodRow {
    /// Its name.
    pub name: &'static str,
    /// The eras that have it.
    pub eras: &'static [Era],
    /// The capability of servers without which it does not exist.
    pub capability: Option<&'static str>,
    /// The member of the params that `Mcp-Name` repeats, and that says which server is meant.
    pub named_by: Option<&'static str>,
    /// Where it leads.
    pub route: Route,
}

/// Where a method leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The opening of a legacy session.
    Initialize,
    /// Answered by an empty result.
    Ping,
    /// What the endpoint is.
    Discover,
    /// A page of a list.
    List(ListKind),
    /// To the server of a tool or prompt.
    ByName(ListKind),
    /// To the server of a resource.
    ByUri,
    /// To the server of the prompt or template in `ref`.
    ByReference,
    /// The least grave messages of a legacy session.
    SetLevel,
    /// A subscription of a legacy session.
    Subscribe,
    /// Its end.
    Unsubscribe,
    /// The announcements to a modern client.
    Listen,
}

const BOTH: &[Era] = &[Era::Legacy, Era::Modern];
const LEGACY: &[Era] = &[Era::Legacy];
const MODERN: &[Era] = &[Era::Modern];

/// Every method that is served.
static TABLE: &[MethodRow] = &[
    row("initialize", LEGACY, None, None, Route::Initialize),
    row("ping", LEGACY, None, None, Route::Ping),
    row("server/discover", MODERN, None, None, Route::Discover),
    row("tools/list", BOTH, Some("tools"), None, Route::List(ListKind::Tools)),
    row("prompts/list", BOTH, Some("prompts"), None, Route::List(ListKind::Prompts)),
    row("resources/list", BOTH, Some("resources"), None, Route::List(ListKind::Resources)),
    row(
        "resources/templates/list",
        BOTH,
        Some("resources"),
        None,
        Route::List(ListKind::ResourceTemplates),
    ),
    row("tools/call", BOTH, Some("tools"), Some("name"), Route::ByName(ListKind::Tools)),
    row("prompts/get", BOTH, Some("prompts"), Some("name"), Route::ByName(ListKind::Prompts)),
    row("resources/read", BOTH, Some("resources"), Some("uri"), Route::ByUri),
    row("completion/complete", BOTH, Some("completions"), None, Route::ByReference),
    row("logging/setLevel", LEGACY, Some("logging"), None, Route::SetLevel),
    row("resources/subscribe", LEGACY, Some("resources"), Some("uri"), Route::Subscribe),
    row("resources/unsubscribe", LEGACY, Some("resources"), Some("uri"), Route::Unsubscribe),
    row("subscriptions/listen", MODERN, None, None, Route::Listen),
];

const fn row(
    name: &'static str,
    eras: &'static [Era],
    capability: Option<&'static str>,
    named_by: Option<&'static str>,
    route: Route,
) -> MethodRow {
    MethodRow { name, eras, capability, named_by, route }
}

/// The method of this name, where the era has it.
pub(super) fn find(name: &str, era: Era) -> Option<&'static MethodRow> {
    TABLE.iter().find(|row| row.name == name && row.eras.contains(&era))
}

impl MethodRow {
    /// Whether its result says how long it is fresh, towards modern clients.
    pub fn is_cached(&self) -> bool {
        matches!(self.route, Route::List(_) | Route::ByUri | Route::Discover)
    }

    /// Whether a modern server may ask for input in its place of a result.
    pub fn takes_input(&self) -> bool {
        matches!(self.route, Route::ByName(_) | Route::ByUri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 19.2: the methods of one era do not exist in the other.
    #[test]
    fn each_era_has_its_methods() {
        for (name, legacy, modern) in [
            ("initialize", true, false),
            ("ping", true, false),
            ("logging/setLevel", true, false),
            ("resources/subscribe", true, false),
            ("resources/unsubscribe", true, false),
            ("server/discover", false, true),
            ("subscriptions/listen", false, true),
            ("tools/call", true, true),
            ("completion/complete", true, true),
            ("tasks/get", false, false),
            ("tools/Call", false, false),
            ("trunkline/add_server", false, false),
        ] {
            assert_eq!(find(name, Era::Legacy).is_some(), legacy, "{name}");
            assert_eq!(find(name, Era::Modern).is_some(), modern, "{name}");
        }
        let takes: Vec<_> =
            TABLE.iter().filter(|row| row.takes_input()).map(|row| row.name).collect();
        assert_eq!(takes, ["tools/call", "prompts/get", "resources/read"]);
    }
}
