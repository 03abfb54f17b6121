//! Texts that two readers could understand differently.

use serde_json::{Value, json};

use crate::ErrorCode;
use crate::base::random::Random;
use crate::config::{ServerSpec, Transport, parse_servers};

/// The verdict on each server of a text, as one line; `text` stands for the whole.
fn verdict(text: &str) -> String {
    match parse_servers(text) {
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::InvalidConfig);
            format!("text:{}", error.detail()["path"].as_str().unwrap())
        }
        Ok(servers) => {
            let verdicts = servers.iter().map(|(name, server)| match server {
                Ok(_) => format!("{name} ok"),
                Err(error) => format!("{name}:{}", error.detail()["path"].as_str().unwrap()),
            });
            verdicts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// SPEC 10.3, 10.7: with or without the container; a bad entry spoils itself alone.
#[test]
fn maps_of_servers_are_read() {
    assert_eq!(verdict(r#"{"a":{"command":"c"},"b":{"url":"http://h"}}"#), "a ok, b ok");
    assert_eq!(verdict(r#"{"mcpServers":{"a":{"command":"c"}},"other":{"x":1,"x":2}}"#), "a ok");
    assert_eq!(
        verdict(r#"{"mcpServers":{"a":{"command":"c"},"b":{"args":"x"},"c":7}}"#),
        "a ok, b:command, c:"
    );
    assert_eq!(verdict("{}"), "");
    assert_eq!(verdict(r#"{"mcpServers":{}}"#), "");
}

/// SPEC 10.7, S-15: the text of one server is read as that of a map of servers is.
#[test]
fn the_text_of_one_server_is_read_as_strictly() {
    let read = |text: &str| match ServerSpec::from_json("s", text) {
        Ok(spec) => Ok(spec),
        Err(error) => {
            assert_eq!((error.code(), error.server()), (ErrorCode::InvalidConfig, Some("s")));
            Err(error.detail()["path"].as_str().unwrap().to_owned())
        }
    };
    let text = r#"{"command":"c","env":{"A":"1"}}"#;
    let value = serde_json::from_str(text).unwrap();
    assert_eq!(read(text), Ok(ServerSpec::from_value("s", &value).unwrap()));
    assert_eq!(read(&format!("\u{feff}{text}")), read(text));
    for (text, path) in [
        (r#"{"command":"c","env":{"A":"1","A":"1"}}"#, "env.A"),
        (r#"{"command":"c","command":"c"}"#, "command"),
        (r#"{"command":"c","other":1e300}"#, "other"),
        // Whatever a reader of JSON means by that name.
        (r#"{"$serde_json::private::RawValue":"{\"command\":\"c\"}"}"#, "command"),
        ("[]", ""),
        ("{", ""),
    ] {
        assert_eq!(read(text), Err(path.to_owned()), "{text}");
    }
    assert_eq!(ServerSpec::from_json("s", "{\n{").unwrap_err().detail()["line"], 2);
}

/// SPEC 17, S-15: a byte order mark at the start is dropped, and refused inside names and values.
#[test]
fn a_byte_order_mark_is_dropped_at_the_start_only() {
    assert_eq!(verdict("\u{feff}{\"a\":{\"command\":\"c\"}}"), "a ok");
    assert_eq!(verdict("\u{feff}\u{feff}{}"), "text:");
    assert_eq!(verdict("{\"\u{feff}a\":{\"command\":\"c\"}}"), "\u{feff}a:");
    assert_eq!(verdict("{\"a\":{\"command\":\"\u{feff}c\"}}"), "a:command");
    assert_eq!(verdict("{\"a\":{\"command\":\"c\",\"args\":[\"x\\ufeff\"]}}"), "a:args[0]");
    assert_eq!(
        verdict("{\"a\":{\"command\":\"c\",\"env\":{\"\\ufeffA\":\"\"}}}"),
        "a:env[\"\\u{feff}A\"]"
    );
}

/// S-15: members that are there twice, wrong case, depth and numbers out of range spoil the entry
/// that holds them.
#[test]
fn ambiguous_entries_are_refused() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (entry, path) in [
        (r#"{"command":"c","command":"d"}"#.to_owned(), "command"),
        (r#"{"command":"c","\u0063ommand":"c"}"#.to_owned(), "command"),
        (r#"{"command":"c","env":{"A":"1","A":"1"}}"#.to_owned(), "env.A"),
        (r#"{"command":"c","other":[{"x":1,"x":1}]}"#.to_owned(), "other[0].x"),
        (r#"{"Command":"c"}"#.to_owned(), "Command"),
        (r#"{"command":"c","ARGS":[]}"#.to_owned(), "ARGS"),
        (r#"{"command":"c","includetools":[]}"#.to_owned(), "includetools"),
        (r#"{"command":"c","other":1e300}"#.to_owned(), "other"),
        (r#"{"command":"c","timeout":99999999999999999999}"#.to_owned(), "timeout"),
        (format!(r#"{{"command":"c","other":{}}}"#, nested(62)), "ok"),
        (
            format!(r#"{{"command":"c","other":{}}}"#, nested(63)),
            &*format!("other{}", "[0]".repeat(62)),
        ),
    ] {
        let text = format!("{{\"a\":{entry},\"b\":{{\"command\":\"c\"}}}}");
        let expected = if path == "ok" { "a ok, b ok".into() } else { format!("a:{path}, b ok") };
        assert_eq!(verdict(&text), expected, "{entry}");
    }
}

/// S-15: a server that is there twice is neither of the two; a container that is, is none.
#[test]
fn ambiguous_containers_are_refused() {
    let server = r#"{"command":"c"}"#;
    assert_eq!(verdict(&format!(r#"{{"a":{server},"a":{server},"b":{server}}}"#)), "a:, b ok");
    assert_eq!(
        verdict(&format!(r#"{{"mcpServers":{{"a":{server}}},"mcpServers":{{}}}}"#)),
        "text:mcpServers"
    );
    assert_eq!(verdict(&format!(r#"{{"mcpServers":{{"a":{server},"a":{server}}}}}"#)), "a:");
    assert_eq!(verdict(&format!(r#"{{"mcpservers":{{"a":{server}}}}}"#)), "text:mcpservers");
    assert_eq!(verdict(r#"{"mcpServers":[]}"#), "text:mcpServers");
}

/// S-15: what is no JSON object is refused whole, with the place where reading ended.
#[test]
fn texts_that_are_not_json_are_refused() {
    for text in [
        "",
        " ",
        "[]",
        "null",
        "1",
        "\"a\"",
        "{",
        "{\"a\":}",
        "{\"a\":{},}",
        "{a:{}}",
        "{'a':{}}",
        "{} {}",
        "{}x",
        "{\"a\":{\"command\":\"\\ud800\"}}",
        "{\"\\udc00\":{}}",
        "{\"a\":{\"n\":1e999}}",
        "{\"a\":\"\u{1}\"}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "// x\n{}",
        "{\"a\":\"\\x\"}",
        "{\"a\" {}}",
        "{\"a\":tru}",
    ] {
        assert_eq!(verdict(text), "text:", "{text}");
    }
    let error = parse_servers("{\n \"a\": }").unwrap_err();
    assert_eq!((&error.detail()["line"], &error.detail()["column"]), (&2.into(), &7.into()));
}

/// S-14: the names that other languages trip over survive as server, environment name and member,
/// or are refused by name; here they survive.
#[test]
fn reserved_names_survive_the_whole_chain() {
    let names = [
        "__proto__",
        "constructor",
        "prototype",
        "toString",
        "valueOf",
        "hasOwnProperty",
        "__defineGetter__",
        "isPrototypeOf",
    ];
    for name in names {
        let text = format!(
            r#"{{"{name}":{{"command":"c","env":{{"{name}":"v"}},"{name}":{{"{name}":1}}}}}}"#
        );
        let servers = parse_servers(&text).unwrap();
        let spec = servers[name].as_ref().unwrap();
        let Transport::Stdio(stdio) = &spec.transport else { panic!("{spec:?}") };
        assert_eq!(stdio.env[name], "v");
        assert_eq!(spec.unknown[name][name], 1);
        let without = parse_servers(&format!(r#"{{"{name}":{{"command":"c"}}}}"#)).unwrap();
        let without = without[name].as_ref().unwrap();
        assert_ne!(spec.fingerprint("", &[]), without.fingerprint("", &[]), "{name}");
    }
}

/// SPEC 16.5: a member that is written wrong is said beside what was probably meant.
#[test]
fn what_was_probably_meant_is_said() {
    for (written, meant) in [
        (json!({ "comand": "x" }), Some("command")),
        (json!({ "commnad": "x", "args": [] }), Some("command")),
        (json!({ "ulr": "http://h" }), Some("url")),
        (json!({ "program": "x" }), None),
    ] {
        let error = ServerSpec::from_value("s", &written).unwrap_err();
        let nearest = error.detail().get("nearest").and_then(Value::as_str);
        assert_eq!(nearest, meant, "{written}: {error}");
    }
    for (written, meant) in [("arg", Some("args")), ("enviroment", None), ("notes", None)] {
        let spec =
            ServerSpec::from_value("s", &json!({ "command": "x", written: ["--local-timezone"] }))
                .unwrap();
        let unknown: Vec<_> = spec.unknown_members().collect();
        assert_eq!(unknown, [(written, meant)]);
    }
}

/// I-28, S-15: 4,000 damaged configurations never panic, and what is taken of them is what another
/// reader of JSON finds there.
#[test]
fn damaged_texts_never_panic() {
    let sound = r#"{"mcpServers":{"a":{"command":"c","args":["x"],"env":{"A":"1","B":null},"timeout":5},"b":{"url":"http://h","headers":{"X":"y"},"oauth":{"scopes":["a"]}}}}"#;
    let letters: Vec<char> = "{}[]\":,\\u1e-\u{0}\u{feff}ax".chars().collect();
    let mut random = Random::new(5);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..4_000 {
        let mut text: Vec<char> = sound.chars().collect();
        for _ in 0..=random.below(3) {
            let place = random.below(text.len());
            match random.below(3) {
                0 => drop(text.remove(place)),
                1 => text.insert(place, *random.pick(&letters)),
                _ => text[place] = *random.pick(&letters),
            }
        }
        let text: String = text.into_iter().collect();
        let Ok(servers) = parse_servers(&text) else {
            refused += 1;
            continue;
        };
        let other: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        let other = other.get("mcpServers").unwrap_or(&other);
        assert!(servers.len() <= other.as_object().unwrap().len(), "{text}");
        for (name, server) in servers {
            let Ok(spec) = server else { continue };
            taken += 1;
            assert_eq!(ServerSpec::from_value(&name, &other[&*name]), Ok(spec), "{text}");
        }
    }
    assert!(taken > 1_000 && refused > 1_000, "{taken}, {refused}");
}
