//! The table of the layers.

use super::*;
use crate::config::ServerSpec;
use crate::settings::{ReadOptions, read};

fn contents(servers: &str) -> Contents {
    let text = format!(r#"{{ "mcpServers": {servers} }}"#);
    Contents::of_settings(read(&text, "s.json", &ReadOptions::default()).unwrap())
}

/// Settings with one server whose program says who defined it.
fn by(who: &str) -> Contents {
    contents(&format!(r#"{{ "s": {{ "command": "{who}" }} }}"#))
}

fn name(text: &str) -> SourceName {
    text.parse().unwrap()
}

/// The program that counts, and the source that it comes from.
fn winner(layers: &Layers) -> Option<(String, String)> {
    let winners = layers.resolve();
    let winner = winners.get("s")?;
    let program = match &winner.defined.entry {
        SourceEntry::Template(template) => {
            template.configuration()["command"].as_str().unwrap().into()
        }
        SourceEntry::Literal(_) => "literal".to_owned(),
        SourceEntry::Invalid(_) => "invalid".to_owned(),
    };
    Some((program, winner.source.to_string()))
}

fn said(program: &str, source: &str) -> Option<(String, String)> {
    Some((program.into(), source.into()))
}

/// SPEC 10.1: every pair and triple of scopes, declared in every order: the highest counts.
#[test]
fn of_any_scopes_the_highest_counts_in_whatever_order_they_came() {
    let mut cases = 0;
    for one in Scope::ALL {
        for two in Scope::ALL {
            for three in Scope::ALL {
                let mut layers = Layers::default();
                for scope in [one, two, three] {
                    layers.put(SourceName::of_scope(scope), by(scope.as_str()));
                }
                let highest = one.max(two).max(three).as_str();
                assert_eq!(winner(&layers), said(highest, highest), "{one} {two} {three}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 512);
}

/// SPEC 10.1: extensions fill names that nobody defined, run time beats all.
#[test]
fn the_order_of_the_scopes_is_the_documented_one() {
    let words = Scope::ALL.map(Scope::as_str).join(" < ");
    assert_eq!(
        words,
        "extension < user < project < workspace < managed < session < launch < runtime"
    );
    assert!(Scope::ALL.is_sorted());
    let gated: Vec<Scope> = Scope::ALL.into_iter().filter(|scope| scope.is_gated()).collect();
    assert_eq!(gated, [Scope::Project, Scope::Workspace]);
}

/// SPEC 10.1: within a scope the later source counts, of extensions the first.
#[test]
fn of_one_scope_the_later_counts_and_of_extensions_the_first() {
    for scope in Scope::ALL {
        let mut layers = Layers::default();
        for part in ["b", "a", "c"] {
            layers.put(SourceName::new(scope, part).unwrap(), by(part));
        }
        let expected = if scope == Scope::Extension { "b" } else { "c" };
        assert_eq!(winner(&layers), said(expected, &format!("{scope}:{expected}")));
        // A replacement keeps its place.
        layers.put(SourceName::new(scope, "a").unwrap(), by("other"));
        assert_eq!(winner(&layers), said(expected, &format!("{scope}:{expected}")));
        // One that was away is the newest.
        let newest = SourceName::new(scope, "b").unwrap();
        layers.remove(&newest);
        layers.put(newest, by("again"));
        let expected = if scope == Scope::Extension { ("other", "a") } else { ("again", "b") };
        assert_eq!(winner(&layers), said(expected.0, &format!("{scope}:{}", expected.1)));
    }
}

/// SPEC 10.2: replacing a source replaces it whole, so that removal works; the others are as they
/// were.
#[test]
fn a_source_is_replaced_whole_and_alone() {
    let mut layers = Layers::default();
    layers.put(name("user"), contents(r#"{ "a": { "command": "x" }, "b": { "command": "x" } }"#));
    layers
        .put(name("project"), contents(r#"{ "b": { "command": "y" }, "c": { "command": "y" } }"#));
    let names = |layers: &Layers| {
        let rows = layers.resolve();
        let rows = rows.iter().map(|(name, winner)| format!("{name} {}", winner.source));
        rows.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(names(&layers), "a user, b project, c project");
    layers.put(name("project"), contents(r#"{ "c": { "command": "y" } }"#));
    assert_eq!(names(&layers), "a user, b user, c project");
    layers.remove(&name("user"));
    assert_eq!(names(&layers), "c project");
    assert!(layers.remove(&name("user")).is_none());
}

/// SPEC 10.2: any source can be switched off, and every source of a scope, those that come later
/// included.
#[test]
fn a_source_that_is_off_counts_for_nothing_until_it_is_on() {
    let mut layers = Layers::default();
    layers.put(name("user"), by("user"));
    layers.put(name("project:/a"), by("a"));
    assert!(layers.switch(&name("project:/a"), Switch::Off));
    assert!(!layers.switch(&name("project:/a"), Switch::Off));
    assert_eq!(winner(&layers), said("user", "user"));
    assert!(layers.switch(&name("project:/a"), Switch::On));
    assert!(layers.switch(&name("project"), Switch::Off));
    layers.put(name("project:/b"), by("b"));
    assert_eq!(winner(&layers), said("user", "user"));
    // Its lists count for nothing either.
    assert!(layers.lists().is_empty());
    assert!(layers.switch(&name("project"), Switch::On));
    assert_eq!(winner(&layers), said("b", "project:/b"));
}

/// SPEC 10.7: an entry that is wrong is wrong: what it stands above does not show through.
#[test]
fn a_wrong_entry_hides_what_is_below_it() {
    let mut layers = Layers::default();
    layers.put(name("user"), by("user"));
    layers.put(name("workspace"), contents(r#"{ "s": { "command": 5 } }"#));
    assert_eq!(winner(&layers), said("invalid", "workspace"));
}

/// SPEC 13.3: what means the same is the very same entry after a replacement, and what does not is
/// another.
#[test]
fn entries_of_equal_meaning_stay_the_same() {
    let same = [
        (r#"{ "command": "x" }"#, r#"{ "args": [], "env": {}, "exclude": [], "command": "x" }"#),
        (r#"{ "url": "http://h/" }"#, r#"{ "headers": {}, "url": "http://h/" }"#),
        (
            r#"{ "command": "x", "env": { "A": "1", "B": "2" } }"#,
            r#"{ "command": "x", "env": { "B": "2", "A": "1" } }"#,
        ),
    ];
    let other = [
        (r#"{ "command": "x" }"#, r#"{ "command": "x", "include": [] }"#),
        (r#"{ "command": "x", "args": ["a", "b"] }"#, r#"{ "command": "x", "args": ["b", "a"] }"#),
        (r#"{ "command": "x" }"#, r#"{ "command": "y" }"#),
        (
            r#"{ "command": "x", "env": { "A": "1" } }"#,
            r#"{ "command": "x", "env": { "A": "2" } }"#,
        ),
        (r#"{ "command": "x" }"#, r#"{ "command": "x", "description": "d" }"#),
    ];
    let pairs = same.map(|pair| (pair, true)).into_iter().chain(other.map(|pair| (pair, false)));
    for ((before, after), is_same) in pairs {
        let mut layers = Layers::default();
        layers.put(name("user"), contents(&format!(r#"{{ "s": {before} }}"#)));
        let old = layers.resolve().remove("s").unwrap();
        layers.put(name("user"), contents(&format!(r#"{{ "s": {after} }}"#)));
        let new = layers.resolve().remove("s").unwrap();
        assert_eq!(Arc::ptr_eq(&old.defined, &new.defined), is_same, "{before} {after}");
    }
}

/// SPEC 11.1: the lists of each source, from the least; no list is not an empty one.
#[test]
fn lists_are_told_by_source() {
    let settings = |text: &str| {
        let source = read(text, ".gemini/settings.json", &ReadOptions::default()).unwrap();
        Contents::of_settings(source)
    };
    let mut layers = Layers::default();
    layers.put(name("managed"), settings(r#"{ "mcp": { "allowed": [] } }"#));
    layers.put(name("user"), settings(r#"{ "mcp": { "excluded": ["a", "a"] } }"#));
    layers.put(name("workspace"), settings(r#"{ "mcp": {} }"#));
    let excluded = GateLists::new(None, vec!["a".into()], Vec::new());
    let nothing = GateLists::new(Some(Vec::new()), Vec::new(), Vec::new());
    assert_eq!(layers.lists(), [(name("user"), excluded), (name("managed"), nothing)]);
}

/// SPEC 10.1: a name of a source is one text, both ways.
#[test]
fn names_of_sources_are_read_as_they_are_written() {
    for text in ["user", "extension:foo", "project:/srv/a:b/.mcp.json", "runtime", "launch:x y"] {
        assert_eq!(name(text).to_string(), text);
    }
    for text in ["", "users", "User", "user:", ":x", "\u{202e}user"] {
        let error = text.parse::<SourceName>().unwrap_err();
        assert_eq!(error.code(), crate::ErrorCode::InvalidArgument);
        assert_eq!(error.detail()["path"], "source");
        assert!(!error.message().contains('\u{202e}'));
    }
    assert!("user:".parse::<SourceName>().is_err());
    assert!(SourceName::new(Scope::User, &"x".repeat(4097)).is_err());
}

/// SPEC 2.1, 11.7: what a configuration would grant itself is found, and can be taken away.
#[test]
fn what_a_configuration_grants_itself_can_be_taken_away() {
    let text = r#"{ "command": "x", "trust": true, "share": "pool" }"#;
    let mut spec = ServerSpec::from_value("s", &serde_json::from_str(text).unwrap()).unwrap();
    assert_eq!(SelfGrant::of(&spec), [SelfGrant::Trust, SelfGrant::Share]);
    SelfGrant::of(&spec).into_iter().for_each(|granted| granted.revoke(&mut spec));
    assert_eq!(SelfGrant::of(&spec), []);
    let plain = ServerSpec::from_value("s", &serde_json::json!({ "command": "x" })).unwrap();
    assert!(spec == plain);
}

/// SPEC 2.1, 11.7: by the names of its fields.
#[test]
fn what_a_configuration_grants_itself_is_named_by_its_field() {
    let words = [SelfGrant::Trust, SelfGrant::Share].map(SelfGrant::as_str);
    assert_eq!(words, ["trust", "share"]);
}

/// SPEC 10.2: what each source says is there to be looked at, also while it is switched off.
#[test]
fn what_each_source_says_can_be_looked_at() {
    let mut layers = Layers::default();
    assert_eq!(layers.names().count(), 0);
    let [plugin, user] = ["extension:a/b", "user"].map(name);
    assert_eq!((plugin.part(), user.part()), ("a/b", ""));
    layers.put(user.clone(), by("x"));
    layers.put(plugin.clone(), contents(r#"{ "t": { "command": "y" } }"#));
    layers.switch(&user, Switch::Off);
    assert_eq!(layers.names().collect::<Vec<_>>(), [&plugin, &user]);
    for (source, server) in [(&plugin, "t"), (&user, "s")] {
        let says = layers.contents(source).unwrap();
        assert_eq!(says.servers.keys().map(|name| &**name).collect::<Vec<_>>(), [server]);
    }
    assert!(layers.contents(&name("project")).is_none());
}

/// SPEC 10.1, 11.2: a server is what the host gave, or what a file has; either may be switched off
/// by its own configuration, and what is wrong is kept for its error.
#[test]
fn a_server_is_a_value_or_a_template_or_wrong() {
    let spec = |disabled: bool| {
        let value = serde_json::json!({ "command": "x", "disabled": disabled });
        ServerSpec::from_value("s", &value)
    };
    let wrong = ServerSpec::from_value("s", &serde_json::json!({}));
    let given = Contents::literal([("on", spec(false)), ("off", spec(true)), ("wrong", wrong)]);
    let switched = |contents: &Contents| {
        let servers = contents.servers.iter();
        servers.map(|(name, it)| (name.to_string(), it.entry.is_disabled())).collect::<Vec<_>>()
    };
    let expected = [("off", true), ("on", false), ("wrong", false)];
    let expected = expected.map(|(name, disabled)| (name.to_owned(), disabled));
    assert_eq!(switched(&given), expected);
    assert!(
        matches!(&given.servers["on"].entry, SourceEntry::Literal(on) if **on == spec(false).unwrap())
    );
    assert!(matches!(&given.servers["wrong"].entry, SourceEntry::Invalid(_)));
    assert!(given.template("on").is_none() && given.template("wrong").is_none());

    let file = contents(
        r#"{ "off": { "command": "x", "disabled": true }, "on": { "command": "y" }, "wrong": {} }"#,
    );
    assert_eq!(switched(&file), expected);
    assert_eq!(file.template("on").unwrap().configuration()["command"], "y");
    assert!(file.template("wrong").is_none() && file.template("none").is_none());
}

/// SPEC 13.3, 13.5: what a source says is compared by meaning, and lists as sets.
#[test]
fn contents_are_compared_by_meaning() {
    let gemini = |text: &str| {
        let source = read(text, ".gemini/settings.json", &ReadOptions::default()).unwrap();
        Contents::of_settings(source)
    };
    let inputs = |text: &str| {
        let source = read(text, ".vscode/mcp.json", &ReadOptions::default()).unwrap();
        Contents::of_settings(source)
    };
    let input = |id: &str| format!(r#"{{ "type": "promptString", "id": "{id}" }}"#);
    let all = |text: &str| format!(r#"{{ "servers": {{}}, "inputs": [{text}] }}"#);
    for (one, other, is_same) in [
        (
            contents(r#"{ "s": { "command": "x" } }"#),
            contents("\n{ \"s\": { \"command\": \"x\" } }"),
            true,
        ),
        (
            contents(r#"{ "s": { "command": "x" } }"#),
            contents(r#"{ "t": { "command": "x" } }"#),
            false,
        ),
        (contents(r#"{ "s": { "command": "x" } }"#), contents("{}"), false),
        (
            gemini(r#"{ "mcp": { "excluded": ["a", "b"] } }"#),
            gemini(r#"{ "mcp": { "excluded": ["b", "a", "a"] } }"#),
            true,
        ),
        (gemini(r#"{ "mcp": { "allowed": [] } }"#), gemini("{}"), false),
        (gemini(r#"{ "theme": "dark" }"#), gemini(r#"{ "theme": "light" }"#), true),
        (inputs(&all(&input("a"))), inputs(&all(&format!("\n{}", input("a")))), true),
        (inputs(&all(&input("a"))), inputs(&all(&input("b"))), false),
    ] {
        assert_eq!(one.means(&other), is_same, "{one:?} {other:?}");
        assert_eq!(other.means(&one), is_same);
    }
}

/// SPEC 13.3: one server of a source is replaced without a touch of the others.
#[test]
fn one_server_of_a_source_is_set_alone() {
    let runtime = SourceName::of_scope(Scope::Runtime);
    let entry = |command: &str| {
        let spec = ServerSpec::from_value("s", &serde_json::json!({ "command": command })).unwrap();
        Some(SourceEntry::Literal(spec.into()))
    };
    let mut layers = Layers::default();
    assert!(!layers.set(&runtime, "a", None));
    assert!(!layers.set(&runtime, "a", entry("x")));
    assert!(!layers.set(&runtime, "b", entry("x")));
    let defined = |layers: &Layers, name: &str| layers.resolve()[name].defined.clone();
    let before = ["a", "b"].map(|name| defined(&layers, name));
    assert!(layers.set(&runtime, "a", entry("x")));
    assert!(Arc::ptr_eq(&defined(&layers, "a"), &before[0]), "it is equal");
    assert!(layers.set(&runtime, "a", entry("y")));
    assert!(!Arc::ptr_eq(&defined(&layers, "a"), &before[0]));
    assert!(Arc::ptr_eq(&defined(&layers, "b"), &before[1]));
    assert!(layers.set(&runtime, "a", None));
    assert!(!layers.resolve().contains_key("a"));
}

/// SPEC 12.11: all entries of a name are there, the highest first, so that one that may not run
/// hides nothing.
#[test]
fn the_entries_of_a_name_lie_over_each_other() {
    let mut layers = Layers::default();
    for source in ["user", "project:/p/.mcp.json", "extension:x"] {
        layers.put(name(source), by(source));
    }
    let stacks = layers.stacks();
    let sources: Vec<String> = stacks["s"].iter().map(|one| one.source.to_string()).collect();
    assert_eq!(sources, ["project:/p/.mcp.json", "user", "extension:x"]);
}
