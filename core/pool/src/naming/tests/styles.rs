//! The three styles of names.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn styled(style: NameStyle) -> Naming {
    Naming::new(style, [])
}

/// A session's names of what came, look after look.
fn names_of(naming: &Naming, looks: &[&[(&str, &str)]]) -> Vec<Vec<String>> {
    let mut bare = BareNames::default();
    let mut name = |look: &&[(&str, &str)]| {
        let tools: Vec<ToolName> = look.iter().map(|(server, name)| tool(server, name)).collect();
        bare.settle(naming, tools.clone());
        let map = NameMap::new(tools.clone(), naming, &bare);
        let of =
            |tool: &ToolName| map.iter().find(|(_, found)| *found == tool).unwrap().0.to_string();
        tools.iter().map(of).collect()
    };
    looks.iter().map(&mut name).collect()
}

/// SPEC 14.3: each style has a word, and no other word is one.
#[test]
fn each_style_has_a_word() {
    for style in NameStyle::ALL {
        assert_eq!(NameStyle::from_word(style.as_str()), Some(style));
    }
    for word in ["", "mcp", "bare", "None"] {
        assert_eq!(NameStyle::from_word(word), None);
    }
}

/// SPEC 14.3: ordinary pairs are joined; others are cleaned and have a hash, with a server that
/// begins as a name must.
#[test]
fn names_without_the_prefix_begin_with_a_letter_or_an_underscore() {
    let naming = styled(NameStyle::ServerTool);
    for (server, tool, expected) in [
        ("github", "get_me", "github__get_me"),
        ("my-server", "x", "my-server__x"),
        ("a_b", "c_d_", "a_b__c_d_"),
        ("mcp", "a", "mcp__a"),
    ] {
        assert_eq!(naming.of_pair(server, tool), expected);
    }
    for (server, tool, clean) in [
        ("1", "2", "_1__2__"),
        ("-a", "b", "_-a__b__"),
        ("a.b", "c", "a_b__c__"),
        ("a", "_b", "a___b__"),
        ("ü", "x", "___x__"),
        ("", "x", "__x__"),
    ] {
        let name = naming.of_pair(server, tool);
        assert!(name.starts_with(clean) && name.len() == clean.len() + 12, "{name}");
        assert!(is_valid(&name), "{name}");
    }
    let longest = "t".repeat(63 - "s__".len());
    assert_eq!(naming.of_pair("s", &longest), format!("s__{longest}"));
    assert_eq!(naming.of_pair(&"s".repeat(100), &"t".repeat(100)).len(), 62);
}

/// SPEC 14.3: without a prefix of any kind a tool has its own name, as long as that is a name, and
/// one server's alone.
#[test]
fn a_bare_name_is_the_tools_own() {
    let naming = styled(NameStyle::Bare);
    let looks = names_of(&naming, &[&[("s", "echo"), ("t", "add"), ("t", "_x"), ("t", "a-b_")]]);
    assert_eq!(looks, [["echo", "add", "_x", "a-b_"]]);
    let [odd] = &names_of(&naming, &[&[("s", "a__b"), ("s", "1"), ("s", "a.b"), ("s", "")]])[..]
    else {
        unreachable!()
    };
    assert!(
        odd.iter().all(|name| is_valid(name) && name.starts_with("s__") && name.len() > 14),
        "{odd:?}"
    );
}

/// SPEC 14.3: of tools that come with one name at one time none has it bare, also when one of them
/// is alone later.
#[test]
fn a_bare_name_that_several_come_with_is_nobodys() {
    let naming = styled(NameStyle::Bare);
    let looks = names_of(&naming, &[&[("s", "echo"), ("t", "echo")], &[("t", "echo")]]);
    assert_ne!(looks[0][0], looks[0][1]);
    assert!(looks[0].iter().all(|name| name.contains("__echo__")), "{looks:?}");
    assert_eq!(looks[1], [looks[0][1].clone()]);
}

/// SPEC 14.3, S-42: a bare name never changes hands, no matter which server brings it later and
/// whether its tool is there.
#[test]
fn a_bare_name_never_changes_hands() {
    let naming = styled(NameStyle::Bare);
    let both: &[(&str, &str)] = &[("t", "echo"), ("a", "echo")];
    let looks = names_of(&naming, &[&[("t", "echo")], both, &[("a", "echo")], both]);
    assert_eq!(looks[0], ["echo"]);
    assert_eq!(looks[1][0], "echo");
    assert!(looks[1][1].starts_with("a__echo__"), "{looks:?}");
    assert_eq!(looks[2], [looks[1][1].clone()]);
    assert_eq!(looks[3], looks[1]);
}

/// SPEC 14.3, S-42: reserved names stay free in each style.
#[test]
fn reserved_names_are_free_in_each_style() {
    for style in NameStyle::ALL {
        let mut reserved = BTreeSet::new();
        for _ in 0..4 {
            let naming = Naming::new(style, reserved.iter().cloned());
            let name = names_of(&naming, &[&[("s", "echo")]]).concat().concat();
            assert!(is_valid(&name), "{name}");
            assert!(reserved.insert(name));
        }
    }
}

/// SPEC 14.3, S-42: in each style all pairs of short words of the letters that matter have names of
/// their own.
#[test]
fn every_short_pair_has_its_own_name_in_each_style() {
    let mut words = vec![String::new()];
    let mut last = words.clone();
    for _ in 0..3 {
        let longer = |word: &String| ["a", "_", ".", "1"].map(|letter| format!("{word}{letter}"));
        last = last.iter().flat_map(longer).collect();
        words.extend(last.iter().cloned());
    }
    let pairs = || words.iter().flat_map(|server| words.iter().map(move |name| tool(server, name)));
    for style in NameStyle::ALL {
        let naming = styled(style);
        let mut bare = BareNames::default();
        bare.settle(&naming, pairs());
        let map = NameMap::new(pairs(), &naming, &bare);
        assert_eq!((map.len(), map.left_out().len()), (words.len() * words.len(), 0));
        assert!(map.iter().all(|(name, _)| is_valid(name)));
    }
}

/// SPEC 14.3: a server that lists ever other names has no decision forgotten, and later ones have
/// hashed names.
#[test]
fn bare_names_have_a_bound() {
    let naming = styled(NameStyle::Bare);
    let mut bare = BareNames::default();
    bare.settle(&naming, (0..100_000).map(|number| tool("s", &format!("t{number}"))));
    let late = tool("s", "late");
    bare.settle(&naming, [late.clone()]);
    let map = NameMap::new([late.clone(), tool("s", "t7")], &naming, &bare);
    assert_eq!(map.resolve("t7"), Some(&tool("s", "t7")));
    assert_eq!(map.resolve("late"), None);
    assert_eq!(map.resolve(&naming.of_pair("s", "late")), Some(&late));
}

/// SPEC 11.6: an unknown name is explained in each style; a bare one says nothing of its server.
#[test]
fn an_unknown_name_is_explained_in_each_style() {
    let servers = ["a", "a__b", "a.b", "1", "github", ""];
    let by_style: BTreeMap<&str, [(&str, Option<&str>); 4]> = BTreeMap::from([
        (
            "mcp__server__tool",
            [("a__x", None), ("mcp__a__b__x", Some("a__b")), ("mcp__1__x", Some("1")), ("x", None)],
        ),
        (
            "server__tool",
            [("a__x", Some("a")), ("a_b__x__h", Some("a.b")), ("_1__x__h", Some("1")), ("x", None)],
        ),
        (
            "none",
            [
                ("a__x__h", Some("a")),
                ("github__x__h", Some("github")),
                ("git__x", None),
                ("x", None),
            ],
        ),
    ]);
    for (word, cases) in by_style {
        let naming = styled(NameStyle::from_word(word).unwrap());
        for (name, expected) in cases {
            assert_eq!(naming.explain_unknown(name, servers), expected, "{word} {name}");
        }
    }
}

/// SPEC 11.6: which name a tool can have somewhere is known without a session.
#[test]
fn a_tool_is_known_by_each_of_its_names() {
    let bare = styled(NameStyle::Bare);
    assert!(
        bare.can_be("echo", "s", "echo") && bare.can_be(&bare.of_pair("s", "echo"), "s", "echo")
    );
    assert!(!bare.can_be("echo", "s", "add"));
    assert!(Naming::default().can_be("mcp__s__echo", "s", "echo"));
    assert!(!Naming::default().can_be("echo", "s", "echo"));
    let exposed = NameStyle::ALL.map(|style| styled(style).is_exposed("s__echo"));
    assert_eq!(exposed, [false, true, true]);
}

/// SPEC 19.3: a served name has 46 characters at most, and hangs on its pair alone.
#[test]
fn served_names_leave_room_for_the_prefixes_of_clients() {
    let naming = Naming::served();
    assert_eq!(naming.of_pair("github", "get_me"), "github__get_me");
    let longest = "a".repeat(SERVED_NAME_MAX - "server__".len());
    assert_eq!(naming.of_pair("server", &longest), format!("server__{longest}"));
    for (server, tool) in [("server", format!("{longest}a")), ("s.v", "t".repeat(90))] {
        let name = naming.of_pair(server, &tool);
        assert!(name.len() <= SERVED_NAME_MAX && is_valid(&name), "{name}");
        assert_ne!(name, naming.of_pair(server, &format!("{tool}b")));
    }
}
