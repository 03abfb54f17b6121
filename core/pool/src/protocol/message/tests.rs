//! Which texts are messages: a table that the next odd server extends by a line.

use super::*;

/// In one word each, with the id where there is one.
fn said(heard: &Heard<'_>) -> String {
    match heard {
        Heard::Message(Message::Result { id, .. }) => format!("result {id}"),
        Heard::Message(Message::Error { id: Some(id), .. }) => format!("error {id}"),
        Heard::Message(Message::Error { id: None, .. }) => "error".into(),
        Heard::Message(Message::Request { method, .. }) => format!("request {method}"),
        Heard::Message(Message::Notification { method, .. }) => format!("notification {method}"),
        Heard::Message(Message::Stray) => "stray".into(),
        Heard::Broken { id: Some(id) } => format!("broken {id}"),
        Heard::Broken { id: None } => "broken".into(),
        Heard::Noise => "noise".into(),
    }
}

/// What a text is, and the texts that are that.
const TEXTS: &[(&str, &[&str])] = &[
    // What loggers write by default, and other lines of programs.
    (
        "noise",
        &[
            r#"{"level":"info","msg":"ready","time":"2026-01-01T00:00:00Z"}"#,
            r#"{"level":"error","error":"dial tcp: refused"}"#,
            r#"{"level":"info","method":"GET","path":"/x","status":200}"#,
            r#"{"level":30,"time":1760000000000,"pid":1,"hostname":"h","msg":"listening"}"#,
            r#"{"id":7,"msg":"row one"}"#,
            r#"{"id":7,"result":"ok","msg":"done"}"#,
            r#"{"id":7,"result":null}"#,
            r#"{"id":7,"error":"refused"}"#,
            r#"{"id":7,"method":"GET"}"#,
            r#"{"id":7,"method":7}"#,
            r#"{"error":{"code":-32700,"message":"m"}}"#,
            r#"{"id":null,"error":{"code":1}}"#,
            r#"{"result":{}}"#,
            r#"{"params":{}}"#,
            "{}",
            "{",
            "}",
            "{\"",
            "{ }",
            "null",
            "7",
            r#""ready""#,
            "[]",
            "",
            "Listening on port 80",
            "Traceback (most recent call last):",
            "\u{1b}[2J",
            "> ",
            "INFO {\"level\":\"info\"}",
            "GET {id} 200",
            "{not json}",
            r#"  "level": "info","#,
            r#"{"level":"info","id":7,"resu"#,
            // A batch is none, however its parts would read as members.
            r#"[7,"ping"]"#,
            "[null,null,null,{},null]",
            r#"[{"jsonrpc":"2.0","id":7,"result":{}}]"#,
            // Of `jsonrpc` alone nobody waits for anything.
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","error":7}"#,
            // Without an id it answers nothing; `null` is one, which says that ours could not be
            // read.
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","result":null,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","method":7}"#,
            r#"{"jsonrpc":"2.0","id":"abc"}"#,
            r#"{"jsonrpc":null,"method":"GET"}"#,
            // What a log says of a message is none where it is not whole.
            r#"sent {"jsonrpc":"2.0","id":7,"method":"ping"} in 3 ms"#,
            r#"got {"jsonrpc":"2.0","id":7,"resu"#,
        ],
    ),
    (
        "result 7",
        &[
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"7","result":{}}"#,
            r#"{"id":7,"result":{}}"#,
            r#"{"id":7,"result":[]}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":"ok"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":null,"params":null,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
            r#"{"jsonrpc":null,"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":null,"error":null}"#,
            r#"{"result":{"a":1},"id":7,"jsonrpc":"2.0"}"#,
            " {\"id\":7,\"result\":{}}\r",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
            "\u{1b}[0m{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
            "> {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
            "data: {\"id\":7,\"result\":{\"a\":\"{\"}}",
            "2026-11-27 INFO {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
        ],
    ),
    (
        "error 7",
        &[
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#,
            r#"{"id":7,"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":"text"}"#,
        ],
    ),
    (
        "error",
        &[
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id": null,"result":null,"error":{"code":-32600}}"#,
        ],
    ),
    (
        "stray",
        &[
            r#"{"jsonrpc":"2.0","id":"abc","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"abc","error":{}}"#,
            r#"{"id":"req-1","result":{"a":1}}"#,
        ],
    ),
    (
        "request ping",
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":null}"#,
            r#"{"id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping","result":null,"error":null}"#,
        ],
    ),
    ("request a", &[r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[]}"#]),
    (
        "notification ping",
        &[r#"{"jsonrpc":"2.0","method":"ping"}"#, r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#],
    ),
    (
        "notification notifications/progress",
        &[
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
            r#"{"method":"notifications/progress","params":{}}"#,
        ],
    ),
    (
        "broken 7",
        &[
            r#"{"jsonrpc":"2.0","id":7,"resu"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"a":nope}}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":7,"id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}}"#,
            r#"{"id":"7","jsonrpc":"2.0","result":{}"#,
            r#"{"jsonrpc":"2.0","a":"\"id\":9","b":{"id":9},"id":7,nope}"#,
        ],
    ),
    (
        "broken",
        &[
            r#"{"jsonrpc""#,
            r#"{"jsonrpc":"2.0","id":7"#,
            r#"{"jsonrpc":"2.0","id":"7-a","result":nope}"#,
            r#"{"jsonrpc":"2.0","method":"a","params":nope}"#,
            r#"{"jsonrpc": garbage"#,
        ],
    ),
];

/// SPEC 18.1, 5.10.
#[test]
fn every_text_is_what_the_table_says() {
    for (expected, texts) in TEXTS {
        for text in *texts {
            assert_eq!(said(&heard(text.as_bytes())), *expected, "{text}");
        }
    }
}

/// SPEC 18.2: where a map belongs an empty array is one, and `null` is nothing.
#[test]
fn params_that_are_an_empty_array_or_null_are_none() {
    let params = |written: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{written}}}"#);
        match heard(text.as_bytes()) {
            Heard::Message(Message::Notification { params, .. }) => params.map(str::to_owned),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(params("null"), None);
    assert_eq!(params("[ ]").as_deref(), Some("{}"));
    assert_eq!(params(r#"[1]"#).as_deref(), Some("[1]"));
}

/// SPEC 5.10: of what is too long the beginning says whose it is.
#[test]
fn of_what_is_too_long_the_first_members_count() {
    for (expected, beginning) in [
        ("broken 7", r#"{"jsonrpc":"2.0","id":7,"result":{"a":"xxx"#),
        ("broken 7", r#" {"id":7,"result":{"a":"xxx"#),
        ("broken", r#"{"result":{"a":"xxx"#),
        ("broken", r#"{"trace":"x","jsonrpc":"2.0","result":{"#),
        ("noise", r#"{"level":"info","msg":"xxx"#),
        ("noise", r#"{"a":{"jsonrpc":"2.0","id":7"#),
        ("broken", "{\"xxx"),
        ("broken", "{{{{"),
        ("noise", "xxx {\"jsonrpc\":\"2.0\",\"id\":7"),
    ] {
        assert_eq!(said(&heard_of(beginning.as_bytes())), expected, "{beginning}");
    }
}

/// A number of JSON has no zero before it, and an id none that is more than 64 bits.
#[test]
fn the_common_form_is_read_as_any_other() {
    let read = |id: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":[1]}}}}"#);
        let general = said(&heard_in_general(frame.as_bytes()));
        assert_eq!(said(&heard(frame.as_bytes())), general);
        general
    };
    for id in ["0", "7", "10", "18446744073709551615"] {
        assert_eq!(read(id), format!("result {id}"));
    }
    for id in ["18446744073709551616", "-0", "1.0"] {
        assert_eq!(read(id), "stray", "{id}");
    }
    for id in ["007", "00", "01", "-", "", "+7", "7 7"] {
        assert!(read(id).starts_with("broken"), "{id}");
    }
}

/// SPEC 5.10: what is written otherwise is no id of ours, and so without effect.
#[test]
fn an_id_of_ours_is_written_as_we_write_it() {
    for (text, id) in [("7", 7), ("\"7\"", 7), ("18446744073709551615", u64::MAX)] {
        assert_eq!(own_id(text), Some(id));
    }
    for text in ["\"+7\"", "\"007\"", "\"\"", "\" 7\"", "7.0", "-0", "18446744073709551616"] {
        assert_eq!(own_id(text), None, "{text}");
    }
}
