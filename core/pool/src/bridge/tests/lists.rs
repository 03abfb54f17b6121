//! Lists, names and introductions, as each client is shown them.

use serde_json::{Value, json};

use super::offered::{Servers, full};
use crate::bridge::facts::{EndpointName, ServedPath};
use crate::bridge::presentation::introductions::Introducing;
use crate::bridge::presentation::lists::page;
use crate::bridge::presentation::names::{located, named};
use crate::bridge::wire::codes::DenialKind;
use crate::catalog::{CacheScope, ListKind};
use crate::config::Era;

const AGGREGATE: ServedPath = ServedPath { profile: None, server: None };

fn transparent(server: &str) -> ServedPath {
    ServedPath { profile: None, server: Some(server.to_owned()) }
}

fn endpoint() -> EndpointName {
    EndpointName { name: "trunkline".to_owned(), version: "1".to_owned() }
}

fn shown(servers: &Servers, path: &ServedPath, era: Era, kind: ListKind) -> Value {
    let endpoint = endpoint();
    let introducing = Introducing { path, endpoint: &endpoint, offers: servers, era };
    serde_json::from_str(&page(introducing, kind, None).unwrap()).unwrap()
}

/// SPEC 19.3, 19.6: a transparent path changes no byte; the aggregate changes names and URIs.
#[test]
fn lists_are_shown_as_the_path_has_them() {
    let servers = Servers::of([("a", full(Era::Modern)), ("b", full(Era::Legacy))]);
    let endpoint = endpoint();
    let path = transparent("a");
    let introducing =
        Introducing { path: &path, endpoint: &endpoint, offers: &servers, era: Era::Modern };
    // Of a transparent path the offers have the one server.
    let one = Servers::of([("a", full(Era::Modern))]);
    let introducing = Introducing { offers: &one, ..introducing };
    let text = page(introducing, ListKind::Tools, None).unwrap();
    assert!(text.contains(&full(Era::Modern).items[&ListKind::Tools][0].1), "{text}");
    for (kind, list, member, names) in [
        (ListKind::Tools, "tools", "name", ["a__echo", "b__echo"]),
        (ListKind::Prompts, "prompts", "name", ["a__hello", "b__hello"]),
        (
            ListKind::Resources,
            "resources",
            "uri",
            ["trunkline://a/file:///a", "trunkline://b/file:///a"],
        ),
        (
            ListKind::ResourceTemplates,
            "resourceTemplates",
            "uriTemplate",
            ["trunkline://a/x://{id}", "trunkline://b/x://{id}"],
        ),
    ] {
        let page = shown(&servers, &AGGREGATE, Era::Legacy, kind);
        let found: Vec<_> = page[list].as_array().unwrap().iter().map(|i| &i[member]).collect();
        assert_eq!(found, names);
        assert_eq!(page.get("ttlMs"), None);
    }
    // A modern client knows no legacy tasks.
    let tools = shown(&servers, &AGGREGATE, Era::Modern, ListKind::Tools);
    assert!(tools["tools"][0].get("execution").is_some());
    assert!(tools["tools"][1].get("execution").is_none());
    assert_eq!((&tools["ttlMs"], &tools["cacheScope"]), (&json!(0), &json!("private")));
}

#[test]
fn the_least_fresh_and_the_most_private_server_count() {
    let mut servers = Servers::of([("a", full(Era::Modern)), ("b", full(Era::Modern))]);
    let tools = |servers: &Servers| shown(servers, &AGGREGATE, Era::Modern, ListKind::Tools);
    let page = tools(&servers);
    assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(5000), &json!("public")));
    servers.0.get_mut("b").unwrap().freshness = (7, CacheScope::Private);
    let page = tools(&servers);
    assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(7), &json!("private")));
}

/// SPEC 19.3: one server that is down never empties another, and is named.
#[test]
fn a_server_that_is_down_is_named_in_the_list() {
    let mut servers = Servers::of([("a", full(Era::Modern)), ("b", full(Era::Modern))]);
    let down = servers.0.get_mut("a").unwrap();
    (down.is_listed, down.items) = (false, Default::default());
    let page = shown(&servers, &AGGREGATE, Era::Legacy, ListKind::Tools);
    assert_eq!(page["tools"].as_array().unwrap().len(), 1);
    assert_eq!(page["_meta"], json!({ "trunkline/missing_servers": ["a"] }));
}

/// SPEC 19.3: pages follow one another through servers that come and go.
#[test]
fn a_cursor_survives_servers_that_come_and_go() {
    let many = |count: usize| {
        let mut server = full(Era::Modern);
        let tool = |n: usize| (format!("t{n:04}"), format!(r#"{{"name":"t{n:04}"}}"#));
        server.items.insert(ListKind::Tools, (0..count).map(tool).collect());
        server
    };
    let mut servers = Servers::of([("b", many(1500)), ("a", many(3))]);
    let endpoint = endpoint();
    fn next(servers: &Servers, endpoint: &EndpointName, cursor: Option<&str>) -> Value {
        let era = Era::Modern;
        let introducing = Introducing { path: &AGGREGATE, endpoint, offers: servers, era };
        serde_json::from_str(&page(introducing, ListKind::Tools, cursor).unwrap()).unwrap()
    }
    let first = next(&servers, &endpoint, None);
    assert_eq!(first["tools"].as_array().unwrap().len(), 1000);
    assert_eq!(first["tools"][999]["name"], "b__t0996");
    servers.0.remove("a");
    servers.0.insert("c".to_owned(), many(2));
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = next(&servers, &endpoint, Some(cursor));
    assert_eq!(second["tools"][0]["name"], "b__t0997");
    assert_eq!(second["tools"].as_array().unwrap().len(), 503 + 2);
    assert_eq!(second.get("nextCursor"), None);
    let introducing =
        Introducing { path: &AGGREGATE, endpoint: &endpoint, offers: &servers, era: Era::Modern };
    for (kind, cursor) in
        [(ListKind::Prompts, cursor), (ListKind::Tools, "x"), (ListKind::Tools, "")]
    {
        let denied = page(introducing, kind, Some(cursor)).unwrap_err();
        assert_eq!(denied.kind, DenialKind::BadParams);
    }
}

#[test]
fn names_of_the_aggregate_lead_back() {
    let mut odd = full(Era::Legacy);
    odd.items
        .insert(ListKind::Tools, vec![("a tool!".to_owned(), r#"{"name":"a tool!"}"#.to_owned())]);
    let servers = Servers::of([("a", full(Era::Legacy)), ("o.d", odd)]);
    let page = shown(&servers, &AGGREGATE, Era::Legacy, ListKind::Tools);
    let mut owners = Vec::new();
    for tool in page["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap_or_default();
        let target = named(&AGGREGATE, &servers, ListKind::Tools, name).unwrap();
        owners.push((target.server, target.own));
    }
    let pair = |server: &str, own: &str| (server.to_owned(), own.to_owned());
    assert_eq!(owners, [pair("a", "echo"), pair("o.d", "a tool!")]);
    for name in ["a__other", "echo", "", "b__echo"] {
        assert!(named(&AGGREGATE, &servers, ListKind::Tools, name).is_err(), "{name}");
    }
}

/// SPEC 19.3: a URI out of a text leads to the one server that has it.
#[test]
fn uris_lead_to_their_server() {
    let mut other = full(Era::Legacy);
    other.items.remove(&ListKind::ResourceTemplates);
    let servers = Servers::of([("a", full(Era::Legacy)), ("b", other)]);
    let found = |uri: &str| located(&AGGREGATE, &servers, uri).map(|t| (t.server, t.own));
    let pair = |server: &str, own: &str| Ok((server.to_owned(), own.to_owned()));
    assert_eq!(found("trunkline://b/file:///a"), pair("b", "file:///a"));
    assert_eq!(found("ui://a+view"), pair("a", "ui://view"));
    assert_eq!(found("x://7"), pair("a", "x://7"));
    assert_eq!(found("file:///b").unwrap_err().kind, DenialKind::UnknownResource);
    let both = found("file:///a").unwrap_err();
    assert_eq!(both.attached.unwrap()["candidates"].as_array().unwrap().len(), 2);
    let path = transparent("a");
    assert_eq!(located(&path, &servers, "any:x").unwrap().own, "any:x");
}

/// SPEC 19.2: both introductions, for servers of both eras.
#[test]
fn an_endpoint_introduces_itself_in_both_eras() {
    let servers = Servers::of([("a", full(Era::Legacy))]);
    let endpoint = endpoint();
    let path = transparent("a");
    let introducing =
        Introducing { path: &path, endpoint: &endpoint, offers: &servers, era: Era::Legacy };
    let initialize: Value = serde_json::from_str(&introducing.initialize("2025-06-18")).unwrap();
    assert_eq!(
        initialize,
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {
                "tools": { "listChanged": true }, "prompts": { "listChanged": true },
                "resources": { "listChanged": true, "subscribe": true },
                "completions": {}, "logging": {},
            },
            "serverInfo": { "name": "upstream", "version": "9" },
            "instructions": "Be kind.",
        })
    );
    let introducing = Introducing { path: &AGGREGATE, era: Era::Modern, ..introducing };
    let discover: Value = serde_json::from_str(&introducing.discover()).unwrap();
    assert_eq!(discover["supportedVersions"][0], "2026-07-28");
    assert_eq!(discover["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(discover["capabilities"].get("logging"), None);
    assert!(discover["instructions"].as_str().unwrap().contains("## a\nBe kind."));
    let identity: Value = serde_json::from_str(&introducing.identity()).unwrap();
    assert_eq!(identity, json!({ "name": "trunkline", "version": "1" }));
}

#[test]
fn what_the_server_lacks_is_not_offered() {
    let mut server = full(Era::Modern);
    server.capabilities = Some(r#"{"tools":{}}"#.to_owned());
    let mut servers = Servers::of([("a", server)]);
    let endpoint = endpoint();
    let path = transparent("a");
    let has = |servers: &Servers, path: &ServedPath, what: &str| {
        Introducing { path, endpoint: &endpoint, offers: servers, era: Era::Legacy }.has(what)
    };
    for (capability, is_there) in [("tools", true), ("prompts", false), ("logging", false)] {
        assert_eq!(has(&servers, &path, capability), is_there, "{capability}");
    }
    assert!(has(&servers, &AGGREGATE, "prompts"), "servers come late");
    servers.0.get_mut("a").unwrap().capabilities = None;
    assert!(has(&servers, &path, "prompts"), "nobody knows yet");
}
