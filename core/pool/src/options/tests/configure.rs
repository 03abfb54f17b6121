//! Changes of a live session's options.

use super::super::*;

fn configured(before: &str, change: &str) -> SessionOptions {
    let mut options = SessionOptions::from_json(before).unwrap();
    options.configure(ConfigureOptions::from_json(change).unwrap());
    options
}

const BEFORE: &str = r#"{"id": "i", "servers": ["s"], "include": {"s": ["a"]}, "exclude": {"s": ["b"], "t": ["c"]},
    "trust": {"s": true}, "always_load": {"s": ["x"]}, "keep_for_ms": 5, "roots": ["r"]}"#;

/// SPEC 6.3: what is not given stays as it is.
#[test]
fn what_is_absent_stays() {
    let before = SessionOptions::from_json(BEFORE).unwrap();
    for nothing in ["", "{}", r#"{"include": null, "servers": null, "trust": null}"#] {
        assert_eq!(configured(BEFORE, nothing), before, "{nothing}");
    }
}

/// SPEC 6.3: each member that is given replaces that member whole, and no other.
#[test]
fn what_is_given_replaces_all_of_it() {
    for (change, after) in [
        (
            r#"{"include": {"t": []}, "roots": ["p", "q"]}"#,
            r#"{"id": "i", "servers": ["s"], "include": {"t": []}, "exclude": {"s": ["b"], "t": ["c"]},
                "trust": {"s": true}, "always_load": {"s": ["x"]}, "keep_for_ms": 5, "roots": ["p", "q"]}"#,
        ),
        (
            r#"{"exclude": {}, "servers": "all", "roots": []}"#,
            r#"{"id": "i", "include": {"s": ["a"]}, "trust": {"s": true}, "always_load": {"s": ["x"]}, "keep_for_ms": 5}"#,
        ),
        (
            r#"{"exclude": {"s": ["d"]}, "include": {}, "servers": [], "trust": {"t": false}, "always_load": {}}"#,
            r#"{"id": "i", "servers": [], "exclude": {"s": ["d"]}, "trust": {"t": false}, "keep_for_ms": 5, "roots": ["r"]}"#,
        ),
    ] {
        assert_eq!(
            configured(BEFORE, change),
            SessionOptions::from_json(after).unwrap(),
            "{change}"
        );
    }
}

/// SPEC 16.5: what cannot be changed is no option here.
#[test]
fn an_id_stays() {
    let error = ConfigureOptions::from_json(r#"{"id": "other"}"#).unwrap_err();
    assert_eq!(error.code().name(), "unknown_option");
}
