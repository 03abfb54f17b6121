//! What the three syntaxes allow, as far as settings files go.

use serde_json::{Value, json};
use trunkline_pool::settings::{Format, ReadOptions, Source, read};

fn source(text: &str, file: &str) -> Source {
    read(text, file, &ReadOptions::default()).unwrap()
}

/// What the member `v` of a server is read as, in each syntax; an error's message where it is
/// refused.
fn value(file: &str, written: &str) -> Result<Value, String> {
    let text = match file.rsplit('.').next().unwrap() {
        "toml" => format!("[mcp_servers.a]\ncommand = 'x'\nv = {written}\n"),
        "yaml" => format!("mcpServers:\n- name: a\n  command: x\n  v: {written}\n"),
        _ => format!("{{ mcpServers: {{ a: {{ command: 'x', v: {written} }} }} }}"),
    };
    let source = read(&text, file, &ReadOptions::default()).map_err(|error| error.to_string())?;
    let template = source.servers[0].template.clone().map_err(|error| error.to_string())?;
    Ok(template.configuration()["v"].clone())
}

fn all_are(file: &str, values: &[(&str, Value)]) {
    for (written, expected) in values {
        assert_eq!(value(file, written).as_ref(), Ok(expected), "{written}");
    }
}

fn all_are_refused(file: &str, values: &[&str]) {
    for written in values {
        assert!(value(file, written).is_err(), "{written}");
    }
}

/// SPEC 10.3: JSON may have what JSON5 allows; what is out of range or has two meanings is refused.
#[test]
fn json_is_read_with_the_freedoms_of_json5() {
    all_are(
        "x.json",
        &[
            ("'it\\'s'", json!("it's")),
            ("[1, 2, /* three */ ]", json!([1, 2])),
            ("0x10", json!(16)),
            ("-0x10", json!(-16)),
            ("+5", json!(5)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("1e3", json!(1000.0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("{ $a_1: null, 'b c': true } // end\n", json!({ "$a_1": null, "b c": true })),
            ("\"two \\\r\nlines\"", json!("two lines")),
            ("\"\\ud83e\\udd80\"", json!("🦀")),
            // JSON holds back only what stands before the space.
            ("\"a\tb\u{7f}\"", json!("a\tb\u{7f}")),
        ],
    );
    all_are_refused(
        "x.json",
        &[
            "Infinity",
            "-NaN",
            "1e400",
            "18446744073709551616",
            "9007199254740993.0",
            "1 2",
            "\"a\nb\"",
            "'\u{1}'",
            "\"\\ud83e\"",
            "{ a: 1 b: 2 }",
            "[1 2]",
            "[,]",
            "{ x: 1, x: 2 }",
            "tru",
            "/*",
        ],
    );
}

/// SPEC 10.3: YAML is read by its core schema, and what only some readers understand is refused.
#[test]
fn yaml_is_read_as_far_as_it_has_one_meaning() {
    all_are(
        "x.yaml",
        &[
            ("yes", json!("yes")),
            ("on", json!("on")),
            ("True", json!(true)),
            ("!!str 1", json!("1")),
            ("'1'", json!("1")),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("017", json!(17)),
            ("-1.5e3", json!(-1500.0)),
            ("1_000", json!("1_000")),
            ("12:30:45", json!("12:30:45")),
            ("2026-01-02", json!("2026-01-02")),
            ("1.2.3", json!("1.2.3")),
            ("[&a {b: 1}, *a]", json!([{ "b": 1 }, { "b": 1 }])),
            ("{1: one, true: yes}", json!({ "1": "one", "true": "yes" })),
            ("|\n    two\n    lines", json!("two\nlines\n")),
        ],
    );
    all_are_refused(
        "x.yaml",
        &[
            "!secret x",
            "!Ref [a]",
            "&a [*a]",
            "*nobody",
            ".inf",
            "-.INF",
            ".nan",
            "{a: 1, a: 2}",
            "{? [a] : 1}",
            "{<<: {a: 1}}",
            "\"\\ud800\"",
            "'a",
            "18446744073709551616",
        ],
    );
    assert_eq!(source("", "x.yaml").servers, []);
    assert_eq!(source("# nothing\n", "x.yaml").servers, []);
    assert!(read("a: 1\n---\nb: 1\n", "x.yaml", &ReadOptions::default()).is_err());
    assert!(read("- a\n", "x.yaml", &ReadOptions::default()).is_err());
}

/// SPEC 10.9: what YAML has without its being written stands at the end of the text at most, and
/// not on a line that nobody has.
#[test]
fn what_is_not_written_in_yaml_has_a_place_within_the_text() {
    for text in ["e:\n  a:\n? # x", "e:\r\n  a:\r\n?  # x", "e:\n  a:\n? # x\n"] {
        let source = source(text, "x.yaml");
        let [first, last] = &source.servers[..] else { panic!("{:?}", source.servers) };
        assert_eq!((&*first.name, first.place.line, &*last.name), ("e", 1, ""), "{text:?}");
        let lines = text.split('\n').count();
        assert!((3..=lines).contains(&last.place.line), "{text:?}: {:?}", last.place);
    }
}

/// SPEC 10.3: TOML is read as it is specified; times are texts, and what is there twice is no TOML
/// at all.
#[test]
fn toml_is_read() {
    all_are(
        "x.toml",
        &[
            ("0xff", json!(255)),
            ("0b101", json!(5)),
            ("1_000", json!(1000)),
            ("+1.5", json!(1.5)),
            ("2026-01-02T03:04:05Z", json!("2026-01-02T03:04:05Z")),
            ("{ a.b = 1 }", json!({ "a": { "b": 1 } })),
            ("'''raw\\n'''", json!("raw\\n")),
            ("[ 'a', # one\n]", json!(["a"])),
        ],
    );
    all_are_refused(
        "x.toml",
        &["inf", "nan", "9223372036854775808999", "{ a = 1, a = 2 }", "x", "'a\nb'", "01"],
    );
    assert_eq!(source("", ".codex/config.toml").servers, []);
    let text = "[mcp_servers.b]\ncommand = 'b'\n[other]\n[mcp_servers.a]\ncommand = 'a'\n[mcp_servers.b.env]\nK = 'v'\n";
    let source = source(text, "x.toml");
    assert_eq!(source.format, Format::Codex);
    let names: Vec<&str> = source.servers.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(source.servers[0].template.as_ref().unwrap().configuration()["env"]["K"], "v");
}
