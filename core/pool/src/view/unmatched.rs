//! Patterns that describe nothing a server lists, and servers that nobody knows (SPEC 18.11):
//! mostly slips of the hand, which would else let a tool through that somebody wanted kept away.
//!
//! Each is told once, as a warning. An error would make the order of `session` and `reconcile`
//! matter.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::names::{ItemNames, is_all};
use super::{ByWhom, View};
use crate::base::did_you_mean::nearest;
use crate::base::text::escaped;
use crate::catalog::{Catalog, ListKind, without_suffix};
use crate::options::SessionOptions;

const INCLUDE: &str = "include";
const EXCLUDE: &str = "exclude";
const TRUST: &str = "trust";
const ALWAYS_LOAD: &str = "always_load";

/// A pattern that matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unmatched {
    /// The option.
    pub option: &'static str,
    /// The pattern.
    pub pattern: String,
    /// Who states it.
    pub by: ByWhom,
}

/// A server in a session's filters that is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownServer {
    /// The option.
    pub option: &'static str,
    /// The name.
    pub server: String,
    /// The server that is probably meant.
    pub meant: Option<String>,
}

impl View {
    /// The patterns that match nothing of these lists. What is listed and was left out or held back
    /// counts as listed.
    pub fn unmatched<'a>(
        &'a self,
        catalog: &'a Catalog,
        held_back: impl IntoIterator<Item = &'a str>,
    ) -> Vec<Unmatched> {
        if !self.has_patterns() || !catalog.has_items() {
            return Vec::new();
        }
        let skipped = |list: ListKind| {
            let skipped = catalog.skipped.iter().filter(move |skipped| skipped.list == list);
            skipped.filter_map(|skipped| skipped.name.as_deref())
        };
        let names = |name: &'a str| ItemNames::new(name, self.exposing.as_ref());
        let own = |item: &'a crate::catalog::Item| &*item.name;
        let tools = catalog.tools.iter().map(own).chain(held_back).chain(skipped(ListKind::Tools));
        let tools: Vec<ItemNames<'_>> = tools.map(names).collect();
        let prompts = catalog.prompts.iter().map(own).chain(skipped(ListKind::Prompts));
        let prompts: Vec<ItemNames<'_>> = prompts.map(names).collect();
        let fits_any =
            |names: &[ItemNames<'_>], pattern: &str| names.iter().any(|it| it.fit(pattern));
        let is_unmatched = |option: &str, pattern: &str| {
            let compared = if option == INCLUDE { without_suffix(pattern) } else { pattern };
            let by_prompt = option != ALWAYS_LOAD && fits_any(&prompts, compared);
            !is_all(compared) && !by_prompt && !fits_any(&tools, compared)
        };
        self.patterns()
            .filter(|(option, _, pattern)| is_unmatched(option, pattern))
            .map(|(option, by, pattern)| Unmatched { option, by, pattern: pattern.clone() })
            .collect()
    }

    /// Whether there is any pattern.
    pub fn has_patterns(&self) -> bool {
        self.patterns().next().is_some()
    }

    pub(super) fn patterns(&self) -> impl Iterator<Item = (&'static str, ByWhom, &String)> {
        let filters = [(&self.by_server, ByWhom::Server), (&self.by_session, ByWhom::Session)];
        let filtered = filters.into_iter().flat_map(|(filter, by)| {
            let include = filter.include.iter().flatten();
            let include = include.map(move |pattern| (INCLUDE, by, pattern));
            include.chain(filter.exclude.iter().map(move |pattern| (EXCLUDE, by, pattern)))
        });
        let always_load = self.always_load.iter();
        filtered.chain(always_load.map(|pattern| (ALWAYS_LOAD, self.always_load_by, pattern)))
    }
}

impl Unmatched {
    /// A sentence.
    pub fn message(&self, server: &str) -> String {
        let Unmatched { option, pattern, by } = self;
        let whose = by.phrase();
        format!(
            "the pattern `{}` of {whose} `{option}` matches nothing that `{server}` lists",
            escaped(pattern)
        )
    }

    /// `{option, server, pattern, by}`.
    pub fn to_json(&self, server: &str) -> Value {
        let Unmatched { option, pattern, by } = self;
        json!({"option": option, "server": server, "pattern": pattern, "by": by.as_str()})
    }
}

impl UnknownServer {
    /// The servers of a session's filters and marks that are not known, each option for itself.
    pub fn all<'a>(
        options: &SessionOptions,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Vec<UnknownServer> {
        let known: BTreeSet<&str> = known.into_iter().collect();
        let mut stated: BTreeMap<(&str, &'static str), ()> = BTreeMap::new();
        for (server, filter) in &options.filters {
            if filter.include.is_some() {
                stated.insert((server, INCLUDE), ());
            }
            if !filter.exclude.is_empty() {
                stated.insert((server, EXCLUDE), ());
            }
        }
        stated.extend(options.trust.keys().map(|server| ((&**server, TRUST), ())));
        stated.extend(options.always_load.keys().map(|server| ((&**server, ALWAYS_LOAD), ())));
        let unknown = stated.into_keys().filter(|(server, _)| !known.contains(server));
        let of = |(server, option): (&str, &'static str)| {
            let meant = nearest(server, known.iter().copied()).map(str::to_owned);
            UnknownServer { option, server: server.to_owned(), meant }
        };
        unknown.map(of).collect()
    }

    /// A sentence.
    pub fn message(&self) -> String {
        let UnknownServer { option, server, meant } = self;
        let server = escaped(server);
        let meant = meant.as_ref().map(|meant| format!("; is `{}` meant?", escaped(meant)));
        format!(
            "the session's `{option}` names the server `{server}`, which is configured nowhere{}",
            meant.unwrap_or_default()
        )
    }

    /// `{option, server, meant?}`.
    pub fn to_json(&self) -> Value {
        let UnknownServer { option, server, meant } = self;
        let mut out = json!({"option": option, "server": server, "by": ByWhom::Session.as_str()});
        if let Some(meant) = meant {
            out["meant"] = json!(meant);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::ServerSpec;
    use crate::naming::{NameStyle, Naming};

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let tools = json!({"tools": [
            {"name": "get-env", "inputSchema": {}}, {"name": "add", "inputSchema": {}},
            {"name": "a.b", "inputSchema": {}}, {"name": "odd"}
        ]});
        catalog.add_page(ListKind::Tools, &tools.to_string()).unwrap();
        let prompts = json!({"prompts": [{"name": "ask"}]});
        catalog.add_page(ListKind::Prompts, &prompts.to_string()).unwrap();
        catalog.finish();
        catalog
    }

    fn view(style: NameStyle, session: Value, server: Value) -> View {
        let mut given = session;
        given["id"] = json!("i");
        let options = SessionOptions::from_json(&given.to_string()).unwrap();
        let mut spec = server;
        spec["command"] = json!("c");
        let spec = ServerSpec::from_value("s", &spec).unwrap();
        View::new("s", &spec, &options, &Arc::new(Naming::new(style, [])))
    }

    /// SPEC 18.11: each pattern of a session's `exclude`, and which tools it takes away.
    #[test]
    fn a_pattern_is_of_own_or_of_exposed_names() {
        use NameStyle::{Bare, McpServerTool, ServerTool};
        for (style, pattern, hidden) in [
            (McpServerTool, "get-env", "get-env"),
            (McpServerTool, "mcp__s__get-env", "get-env"),
            (McpServerTool, "mcp__s__*", "get-env add a.b"),
            (McpServerTool, "mcp__*__add", "add"),
            (McpServerTool, "mcp__s__a_b__*", "a.b"),
            (McpServerTool, "mcp__t__get-env", ""),
            (McpServerTool, "s__get-env", ""),
            (McpServerTool, "*s__*", ""),
            (McpServerTool, "get_env", ""),
            (ServerTool, "s__get-env", "get-env"),
            (ServerTool, "s__*", "get-env add a.b"),
            (ServerTool, "s*", ""),
            (ServerTool, "mcp__s__get-env", ""),
            (Bare, "get-env", "get-env"),
            (Bare, "s__get-env__*", "get-env"),
        ] {
            let view = view(style, json!({"exclude": {"s": [pattern]}}), json!({}));
            let names = ["get-env", "add", "a.b"];
            let gone: Vec<&str> = names.into_iter().filter(|name| !view.admits(name)).collect();
            assert_eq!(gone.join(" "), hidden, "{style:?} {pattern}");
            let unmatched = view.unmatched(&catalog(), []);
            assert_eq!(unmatched.is_empty(), !hidden.is_empty(), "{style:?} {pattern}");
        }
    }

    /// SPEC 18.11: the same names hold for `include` and `always_load`, of the session and of the
    /// server's entry.
    #[test]
    fn every_filter_takes_both_names() {
        let (exposed, style) = (json!(["mcp__s__add(x)"]), NameStyle::McpServerTool);
        for view in [
            view(style, json!({"include": {"s": exposed}}), json!({})),
            view(style, json!({}), json!({"include": exposed})),
        ] {
            assert!(view.admits("add") && !view.admits("get-env"));
        }
        let marks = json!(["mcp__s__add"]);
        for view in [
            view(style, json!({"always_load": {"s": marks}}), json!({})),
            view(style, json!({}), json!({"always_load": marks})),
        ] {
            assert!(view.marks("add").always_load && !view.marks("get-env").always_load);
        }
    }

    /// SPEC 18.11: which patterns match nothing, and whose they are. What is malformed, held back
    /// or a prompt is listed.
    #[test]
    fn what_matches_nothing_is_found() {
        let session = json!({
            "include": {"s": ["*", "add(x)", "odd", "ask"]}, "exclude": {"s": ["get_env", "kept"]},
            "always_load": {"s": ["ask"]}
        });
        let view = view(NameStyle::McpServerTool, session, json!({"exclude": ["nothing"]}));
        let found = view.unmatched(&catalog(), ["kept"]);
        let of = |option, pattern: &str, by| Unmatched { option, pattern: pattern.into(), by };
        let expected = [
            of("exclude", "nothing", ByWhom::Server),
            of("exclude", "get_env", ByWhom::Session),
            of("always_load", "ask", ByWhom::Session),
        ];
        assert_eq!(found, expected);
        let message =
            "the pattern `get_env` of the session's `exclude` matches nothing that `s` lists";
        assert_eq!(found[1].message("s"), message);
        assert_eq!(view.unmatched(&Catalog::default(), []), []);
    }

    /// SPEC 18.11: a server that is nowhere, in each of the options that name one.
    #[test]
    fn a_server_that_is_nowhere_is_found() {
        let options = SessionOptions::from_json(
            r#"{"id": "i", "include": {"everthing": []}, "exclude": {"everthing": ["x"], "fs": ["x"]},
                "trust": {"far": true}, "always_load": {"everything": ["x"]}}"#,
        );
        let found = UnknownServer::all(&options.unwrap(), ["everything", "fs"]);
        let told: Vec<_> =
            found.iter().map(|it| (it.option, &*it.server, it.meant.as_deref())).collect();
        let meant = Some("everything");
        let expected = [
            ("exclude", "everthing", meant),
            ("include", "everthing", meant),
            ("trust", "far", None),
        ];
        assert_eq!(told, expected);
        assert_eq!(
            found[0].message(),
            "the session's `exclude` names the server `everthing`, which is configured nowhere; is `everything` meant?"
        );
    }
}
