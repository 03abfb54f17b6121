//! Texts that two readers could understand differently: one verdict in every language (S-15).
//!
//! `UPDATE_CASES=1 cargo test -p trunkline --test configuration ambiguous` writes the behaviour
//! case anew.

use super::*;

/// What has to come of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// It is refused as a whole, with the place where it was understood no more.
    Refused,
    /// The entry `a` is refused, and `b` stands.
    Spoiled,
    /// Both entries are read.
    Read,
}
use Verdict::{Read, Refused, Spoiled};

/// The members of two entries, by name, with the text of each one's value.
const MEMBERS: [&[(&str, &str)]; 2] = [
    &[
        ("command", r#""c""#),
        ("args", r#"["x"]"#),
        ("env", r#"{"A":"1"}"#),
        ("cwd", r#""/srv""#),
        ("type", r#""stdio""#),
        ("disabled", "false"),
        ("timeout", "5"),
    ],
    &[("url", r#""http://h.test/""#), ("headers", r#"{"A":"1"}"#), ("type", r#""http""#)],
];

/// What stands in a string and is no character, or one to JSON5 alone: a backslash that was not
/// doubled is more likely.
const NO_STRINGS: [&str; 7] =
    [r"\ud800", r"\udc00", r"\udc00\ud800", r"\ud83dx", r"\u12", r"\x41", r"\U0041"];

/// What stands there and can be read by JSON5 alone, in one way.
const LOOSE_STRINGS: [&str; 1] = ["\t"];

/// What stands for a number and is none.
const NO_NUMBERS: [&str; 4] = ["01", "-", "1_000", "--1"];

/// What stands for a number and is none that can be written down, or another one once it is read.
const LOST_NUMBERS: [&str; 6] =
    ["NaN", "Infinity", "1e999", "99999999999999999999", "1e300", "-99999999999999999999"];

/// What is a number to JSON5 alone.
const LOOSE_NUMBERS: [&str; 4] = ["+1", "1.", "0x10", "1e0"];

/// What may stand behind the text of a whole object.
const REMAINDERS: [&str; 9] = ["{}", "x", ",", "]", "}", "null", "\u{feff}", "\u{1}", "\"\""];

/// An object with these members, in their order.
fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let members = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The text of a source with the entries `a`, whose text is given, and `b`.
fn around(entry: &str) -> String {
    format!(r#"{{"mcpServers":{{"a":{entry},"b":{{"command":"c"}}}}}}"#)
}

fn nested(depth: usize, open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

/// Entries with one member that is there twice, or under a name that is almost its own.
fn members() -> Vec<(Verdict, String)> {
    let mut texts = Vec::new();
    for members in MEMBERS {
        for (at, (name, value)) in members.iter().enumerate() {
            let with = |name: &str, value: &str| {
                around(&object(members.iter().copied().chain([(name, value)])))
            };
            let mut instead = |verdict, name: &str| {
                let mut members = members.to_vec();
                members[at].0 = name;
                texts.push((verdict, around(&object(members))));
            };
            let (first, rest) = name.split_at(1);
            instead(Spoiled, &name.to_uppercase());
            instead(Spoiled, &format!("{}{rest}", first.to_uppercase()));
            instead(
                Spoiled,
                &format!("{}{}", &name[..name.len() - 1], &name[name.len() - 1..].to_uppercase()),
            );
            // What is needed is missing then; of anything else nobody reads it, which is told.
            let is_needed = matches!(*name, "command" | "url");
            instead(if is_needed { Spoiled } else { Read }, &format!(r"\ufeff{name}"));
            instead(Spoiled, &format!("{name}\u{1}"));
            instead(Spoiled, &format!(r"{name}\ud800"));
            let escaped = format!(r"\u{:04x}{rest}", u32::from(first.as_bytes()[0]));
            texts.extend([
                (Spoiled, with(name, value)),
                (Spoiled, with(name, "null")),
                (Spoiled, with(&name.to_uppercase(), value)),
                (Spoiled, with(&escaped, value)),
                (Refused, with(name, "")),
            ]);
        }
    }
    texts
}

/// Entries with a value that is none, or another one for each who reads it.
fn values() -> Vec<(Verdict, String)> {
    let places: [fn(&str) -> String; 6] = [
        |it| format!(r#"{{"command":"{it}"}}"#),
        |it| format!(r#"{{"command":"c","args":["{it}"]}}"#),
        |it| format!(r#"{{"command":"c","env":{{"A":"{it}"}}}}"#),
        |it| format!(r#"{{"command":"c","env":{{"{it}":"1"}}}}"#),
        |it| format!(r#"{{"command":"c","cwd":"/{it}"}}"#),
        |it| format!(r#"{{"type":"http","url":"http://h.test/","headers":{{"A":"{it}"}}}}"#),
    ];
    let mut texts = Vec::new();
    for place in places {
        texts.extend(NO_STRINGS.map(|it| (Spoiled, around(&place(it)))));
        texts.extend(LOOSE_STRINGS.map(|it| (Read, around(&place(it)))));
        texts.push((Spoiled, around(&place("\u{1}"))));
        texts.push((Spoiled, around(&place(r"\ufeffx"))));
    }
    for name in ["timeout", "other"] {
        let number = |it| around(&format!(r#"{{"command":"c","{name}":{it}}}"#));
        texts.extend(NO_NUMBERS.map(|it| (Refused, number(it))));
        texts.extend(LOST_NUMBERS.map(|it| (Spoiled, number(it))));
        texts.extend(LOOSE_NUMBERS.map(|it| (Read, number(it))));
    }
    for (open, close, levels) in
        [("[", "]", [60, 61, 62, 100]), ("{\"x\":", "}", [60, 61, 62, 100])]
    {
        for depth in levels {
            let verdict = if depth <= 61 { Read } else { Spoiled };
            let deep = nested(depth, open, close);
            texts.push((verdict, around(&format!(r#"{{"command":"c","other":{deep}}}"#))));
        }
    }
    let twice = [
        r#""env":{"A":"1","A":"2"}"#,
        r#""other":[{"x":1,"x":1}]"#,
        r#""env":{"A":"1","\u0041":"1"}"#,
    ];
    texts.extend(twice.map(|it| (Spoiled, around(&format!(r#"{{"command":"c",{it}}}"#)))));
    texts
}

/// Texts that are damaged, or have their entries twice.
fn wholes() -> Vec<(Verdict, String)> {
    let sound = around(&object(MEMBERS[0].iter().copied()));
    let entry = r#"{"command":"c"}"#;
    // To C an empty text is none.
    let cut = (2..sound.len()).step_by(2).map(|end| (Refused, sound[..end].to_owned()));
    let mut texts: Vec<_> = cut.collect();
    texts.extend(REMAINDERS.map(|it| (Refused, format!("{sound}{it}"))));
    texts.extend([
        (Read, sound.clone()),
        (Read, format!("\u{feff}{sound}")),
        (Read, format!(" \r\n\t{sound}\n")),
        (Refused, format!("\u{feff}\u{feff}{sound}")),
        (Read, format!("\u{a0}{sound}")),
        (Refused, sound.replace("mcpServers", "mcpservers")),
        (Refused, sound.replace("mcpServers", "MCPSERVERS")),
        (Refused, format!("[{sound}]")),
        (Read, sound.replace('"', "'")),
        (Read, sound.replace("\"a\"", "a")),
        (Refused, format!(r#"{{"mcpServers":{{"a":{entry}}},"mcpServers":{{}}}}"#)),
        (Refused, format!(r#"{{"mcpServers":{{"a":{entry}}},"\u006dcpServers":{{}}}}"#)),
        (Refused, r#"{"mcpServers":7}"#.to_owned()),
        (Spoiled, around(&format!(r#"{entry},"a":{entry}"#))),
        (Spoiled, around(&format!(r#"{entry},"\u0061":{entry}"#))),
        (Spoiled, around("7")),
        (Spoiled, around("[]")),
        (Spoiled, around(r#""c""#)),
    ]);
    texts
}

/// What a pool that is given a text says of it, as a step of a behaviour case.
fn step(pool: &Pool, text: &str) -> (Verdict, Value) {
    let place = |error: &Value| {
        let detail = &error["detail"];
        assert!(detail["line"].is_u64() && detail["column"].is_u64(), "{text}: {error}");
        let place = ["path", "line", "column"].map(|member| (member, detail[member].clone()));
        json!({ "code": error["code"], "detail": Value::from_iter(place) })
    };
    let mut step = json!({ "set_source": ["user", text] });
    let report = match pool.set_source(&name("user"), Some(text)) {
        Err(error) => {
            step["error"] = place(&error.to_json());
            return (Refused, step);
        }
        Ok(report) => report,
    };
    let rows = &report["servers"];
    assert_ne!(rows["b"]["action"], "invalid", "{text}: {report}");
    let a = match rows["a"]["action"].as_str().unwrap() {
        "invalid" => json!({ "action": "invalid", "error": place(&rows["a"]["error"]) }),
        action => json!({ "action": action }),
    };
    step["match"] = json!({ "servers": { "a": a, "b": { "action": rows["b"]["action"] } } });
    let verdict = if a["action"] == "invalid" { Spoiled } else { Read };
    (verdict, step)
}

/// S-15, SPEC 10.7: each of these texts has its verdict, at its place, and the behaviour case made
/// of them has the same in each language.
#[test]
fn a_text_with_two_meanings_has_one_verdict() {
    let texts = [members(), values(), wholes()].concat();
    assert!(texts.len() >= 300, "{}", texts.len());
    let steps = || {
        let rig = trusted();
        let step = |(expected, text): &(Verdict, String)| {
            let (verdict, step) = step(&rig.pool, text);
            assert_eq!(verdict, *expected, "{text:?}");
            step.to_string()
        };
        texts.iter().map(step).collect::<Vec<_>>()
    };
    let first = steps();
    assert_eq!(first, steps(), "on every run");
    let case = format!(
        "[\n  {{ \"name\": \"a text with two meanings has one verdict\", \"spec\": [\"10.7\", \"S-15\"],\n    \"options\": {{ \"trusted\": true }},\n    \"steps\": [\n      {} ],\n    \"after\": {{ \"processes\": 0 }} }}\n]\n",
        first.join(",\n      ")
    );
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/behaviour/10-ambiguous.json");
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(file, &case).unwrap();
    }
    let current = std::fs::read_to_string(file).unwrap_or_default();
    assert!(current == case, "{file} is stale: see the head of this test");
}
