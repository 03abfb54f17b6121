//! Exposed names.

mod hostile;
mod styles;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::base::random::Random;

fn tool(server: &str, tool: &str) -> ToolName {
    ToolName { server: server.into(), tool: tool.into() }
}

fn is_well_formed(name: &str) -> bool {
    name.starts_with("mcp__") && is_valid(name)
}

/// What all of the model APIs take.
pub(super) fn is_valid(name: &str) -> bool {
    let is_exposable = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins_well && name.len() <= 63 && name.chars().all(is_exposable)
}

fn exposed_name(server: &str, tool: &str) -> String {
    Naming::default().of_pair(server, tool)
}

fn beside(reserved: &BTreeSet<String>) -> Naming {
    Naming::new(NameStyle::McpServerTool, reserved.iter().cloned())
}

fn map(tools: impl IntoIterator<Item = ToolName>, naming: &Naming) -> NameMap {
    NameMap::new(tools, naming, &BareNames::default())
}

/// SPEC 14.3: ordinary names are joined as they are.
#[test]
fn ordinary_names_are_plain() {
    for (server, tool, expected) in [
        ("everything", "echo", "mcp__everything__echo"),
        ("my-server", "get_sum", "mcp__my-server__get_sum"),
        ("a_b", "c_d_", "mcp__a_b__c_d_"),
        ("1", "2", "mcp__1__2"),
    ] {
        assert_eq!(exposed_name(server, tool), expected);
    }
    let longest = "t".repeat(63 - "mcp__s__".len());
    assert_eq!(exposed_name("s", &longest), format!("mcp__s__{longest}"));
}

/// SPEC 14.3: everything else is cleaned and given a hash: goldens, since a host remembers names.
#[test]
fn other_names_are_cleaned_and_hashed() {
    for (server, tool, clean) in [
        ("a.b", "c", "mcp__a_b__c__"),
        ("a", "c d", "mcp__a__c_d__"),
        ("a__b", "c", "mcp__a__b__c__"),
        ("a", "b__c", "mcp__a__b__c__"),
        ("a_", "b", "mcp__a___b__"),
        ("_a", "b", "mcp___a__b__"),
        ("a", "_b", "mcp__a___b__"),
        ("ü", "漢字", "mcp_________"),
        ("", "b", "mcp____b__"),
        ("a", "", "mcp__a____"),
        ("a", "b\u{1b}[31m", "mcp__a__b__31m__"),
    ] {
        let name = exposed_name(server, tool);
        let hash = name.strip_prefix(clean).unwrap_or_else(|| panic!("{name} {clean}"));
        assert_eq!(hash.len(), 12, "{name}");
        assert!(is_well_formed(&name), "{name}");
    }
    assert_eq!(exposed_name("a.b", "c"), GOLDEN);
}

const GOLDEN: &str = "mcp__a_b__c__yhf7kun9btj7";

/// SPEC 14.3: long names are cut so that both parts stay visible.
#[test]
fn long_names_keep_a_part_of_both() {
    let long = |letter: &str| letter.repeat(100);
    let name = exposed_name(&long("s"), &long("t"));
    assert!(name.starts_with(&format!("mcp__{}__{}__", "s".repeat(21), "t".repeat(21))), "{name}");
    let name = exposed_name("srv", &long("t"));
    assert!(name.starts_with(&format!("mcp__srv__{}__", "t".repeat(39))), "{name}");
    let name = exposed_name(&long("s"), "tool");
    assert!(name.starts_with(&format!("mcp__{}__tool__", "s".repeat(38))), "{name}");
    for (server, tool) in
        [(long("s"), long("t")), ("srv".into(), long("t")), (long("s"), "tool".into())]
    {
        assert_eq!(exposed_name(&server, &tool).len(), 63);
    }
}

/// SPEC 14.3, S-42: the pairs that a plain join would confuse have different names.
#[test]
fn names_that_a_plain_join_confuses_differ() {
    let pairs = [
        ("a__b", "c"),
        ("a", "b__c"),
        ("a", "_b"),
        ("a_", "b"),
        ("a_b", "c"),
        ("a.b", "c"),
        ("a b", "c"),
    ];
    let names: BTreeSet<String> =
        pairs.iter().map(|(server, tool)| exposed_name(server, tool)).collect();
    assert_eq!(names.len(), pairs.len());
}

/// SPEC 14.3, S-42: nobody can take a hashed name by writing it out as a plain one, however the
/// parts are cut.
#[test]
fn a_hashed_name_cannot_be_spelled_out() {
    let long = "s".repeat(80);
    for (server, tool) in [
        ("a.b", "c"),
        ("a", "b c"),
        (&*long, "t"),
        ("a", &*long),
        (&*long, &*long),
        ("a_", ""),
        ("", ""),
    ] {
        let hashed = exposed_name(server, tool);
        let rest = hashed.strip_prefix("mcp__").unwrap();
        for (joint, _) in rest.match_indices('_') {
            for width in 0..=3 {
                let Some(tool) = rest.get(joint + width..) else { continue };
                let server = &rest[..joint];
                assert_ne!(exposed_name(server, tool), hashed, "{server} {tool}");
            }
        }
    }
}

/// SPEC 14.3, S-42: injective over every pair of short words of the letters that matter, and
/// well-formed.
#[test]
fn every_short_pair_has_its_own_name() {
    let mut words = vec![String::new()];
    let mut last = words.clone();
    for _ in 0..4 {
        last = last
            .iter()
            .flat_map(|word| ["a", "_", "."].map(|letter| format!("{word}{letter}")))
            .collect();
        words.extend(last.iter().cloned());
    }
    let mut seen: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for server in &words {
        for tool in &words {
            let name = exposed_name(server, tool);
            assert!(is_well_formed(&name), "{name}");
            if let Some(other) = seen.insert(name, (server, tool)) {
                panic!("{server} {tool} and {other:?} have one name");
            }
        }
    }
    assert_eq!(seen.len(), words.len() * words.len());
}

/// SPEC 14.3, S-42: the same for 20,000 generated pairs, long, odd and hostile ones among them.
#[test]
fn generated_pairs_have_their_own_names() {
    let letters: Vec<char> = "aab__--.:/ Zü9\u{0}".chars().collect();
    let mut random = Random::new(17);
    let mut seen: BTreeMap<String, (String, String)> = BTreeMap::new();
    for _ in 0..20_000 {
        let length = *random.pick(&[3, 10, 40, 90]);
        let mut pair = (random.word(&letters, length), random.word(&letters, length));
        if random.one_in(4) && !seen.is_empty() {
            // A tool that copies a name which is already taken.
            let taken = seen.keys().next().unwrap().trim_start_matches("mcp__").to_owned();
            pair = taken.split_once("__").map_or(pair, |(a, b)| (a.into(), b.into()));
        }
        let name = exposed_name(&pair.0, &pair.1);
        assert!(is_well_formed(&name), "{name}");
        if let Some(other) = seen.insert(name, pair.clone()) {
            assert_eq!(other, pair);
        }
    }
}

/// SPEC 14.3, S-42: a reserved name is never taken, not even a hashed one.
#[test]
fn reserved_names_are_never_taken() {
    let mut reserved = BTreeSet::new();
    for _ in 0..5 {
        let name = beside(&reserved).of_pair("a", "b");
        assert!(is_well_formed(&name));
        assert!(reserved.insert(name));
    }
    assert!(reserved.contains("mcp__a__b"));
    assert_eq!(beside(&reserved).of_pair("a", "c"), "mcp__a__c");
}

/// SPEC 14.3, 6.6: names are resolved through the map, in a stable order, and what is elsewhere
/// does not move them.
#[test]
fn the_map_resolves_every_tool() {
    let mut tools =
        vec![tool("b", "x"), tool("a", "y"), tool("a", "x"), tool("a.b", "x"), tool("a", "x")];
    let map = self::map(tools.clone(), &Naming::default());
    assert_eq!(map.len(), 4);
    assert_eq!(map.resolve("mcp__a__x"), Some(&tool("a", "x")));
    assert_eq!(map.resolve(GOLDEN), None);
    assert_eq!(map.resolve(&exposed_name("a.b", "x")), Some(&tool("a.b", "x")));
    for name in ["mcp__a__z", "a__x", "", "mcp__a__x "] {
        assert_eq!(map.resolve(name), None, "{name}");
    }
    let names: Vec<_> = map.iter().map(|(name, _)| name.to_string()).collect();
    assert!(names.is_sorted());
    assert_eq!(map.left_out(), []);
    tools.reverse();
    assert_eq!(self::map(tools, &Naming::default()), map);
    let one = self::map([tool("a.b", "x")], &Naming::default());
    assert_eq!(one.iter().next(), map.iter().find(|(_, tool)| &*tool.server == "a.b"));
    assert!(NameMap::default().is_empty() && !map.is_empty());
}

/// SPEC 14.3: a tool that found its name taken is told. Nobody can make two hashes meet, so the map
/// is written out.
#[test]
fn tools_that_were_left_out_are_told() {
    let left_out = vec![tool("a", "x")];
    let map = NameMap { left_out: left_out.clone(), ..NameMap::default() };
    assert_eq!(map.left_out(), left_out);
}

/// SPEC 14.3: tools of a reserved name move, and the map finds them where they are.
#[test]
fn the_map_keeps_reserved_names_free() {
    let reserved = BTreeSet::from(["mcp__a__x".to_owned()]);
    let map = self::map([tool("a", "x"), tool("a", "y")], &beside(&reserved));
    assert_eq!(map.resolve("mcp__a__x"), None);
    let (name, _) = map.iter().find(|(_, found)| **found == tool("a", "x")).unwrap();
    assert!(name.starts_with("mcp__a__x__"));
}

/// SPEC 11.6: also where the server's part of the name was cut.
#[test]
fn an_unknown_name_is_explained_by_the_server_whose_part_was_cut() {
    let server = "company-internal-knowledge-base.of the whole house";
    let servers = ["company", "company-internal-knowledge-base.of the other", server];
    for style in NameStyle::ALL {
        let naming = Naming::new(style, []);
        for tool in ["search_documents_by_category_and_by_more", "search_documents", "x"] {
            let exposed = naming.of_pair(server, tool);
            let found = naming.explain_unknown(&exposed, servers).unwrap();
            assert!(found.starts_with("company-internal"), "{exposed}: {found}");
            let alone = naming.explain_unknown(&exposed, ["company", server]);
            assert_eq!(alone, Some(server), "{exposed}");
        }
        let elsewhere = naming.of_pair("company-internal", "x");
        assert_eq!(naming.explain_unknown(&elsewhere, [server]), None, "{elsewhere}");
    }
}

/// SPEC 11.6: an unknown name is explained by the server that it would belong to, the longest that
/// fits.
#[test]
fn an_unknown_name_is_explained_by_the_longest_server() {
    let servers = ["a", "a__b", "a.b", "github", ""];
    let explain = |name: &str| Naming::default().explain_unknown(name, servers);
    assert_eq!(explain("mcp__a__x"), Some("a"));
    assert_eq!(explain("mcp__a__b__x"), Some("a__b"));
    assert_eq!(explain("mcp__a_b__x"), Some("a.b"));
    assert_eq!(explain("mcp__github__delete_repo"), Some("github"));
    assert_eq!(explain("mcp__git__x"), None);
    assert_eq!(explain("mcp____x"), None);
    assert_eq!(explain("github__x"), None);
    assert_eq!(explain("mcp__github"), None);
    assert_eq!(Naming::default().explain_unknown("mcp__a_b__x", ["a.b", "a b"]), Some("a b"));
}
