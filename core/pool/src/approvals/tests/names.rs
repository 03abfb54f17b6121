//! Names that look like others.

use super::{process, root, spec};
use crate::approvals::{
    Alike, Asked, Candidate, HiddenEntry, Request, RequestOrigin, is_deceptive,
};

/// SPEC 12.11: mixed scripts and letters that look like those of ASCII.
#[test]
fn names_that_may_be_read_as_others_are_deceptive() {
    for (is_one, name) in [
        (true, "gith\u{443}b"),
        (true, "\u{440}\u{430}\u{443}\u{440}\u{430}l"),
        (true, "\u{430}\u{440}\u{440}\u{435}"),
        (true, "g\u{456}t"),
        (true, "\u{1d41a}bc"),
        (true, "git\u{127}ub\u{3b1}"),
        (false, "github"),
        (false, "git_hub-2"),
        (false, "\u{43f}\u{43e}\u{433}\u{43e}\u{434}\u{430}"),
        (false, "\u{6771}\u{4eac}"),
        (false, "caf\u{e9}"),
    ] {
        assert_eq!(is_deceptive(name), is_one, "{name}");
    }
}

/// SPEC 12.11: a name that looks like another one that is configured.
#[test]
fn names_that_look_alike_are_found() {
    let names = ["github", "g\u{456}thub", "modern", "rnodern", "GitLab", "gitlab", "other"];
    let alike = Alike::of(names);
    for (name, other) in [
        ("github", Some("g\u{456}thub")),
        ("g\u{456}thub", Some("github")),
        ("modern", Some("rnodern")),
        ("gitlab", Some("GitLab")),
        ("other", None),
    ] {
        assert_eq!(alike.to(name), other, "{name}");
    }
}

/// SPEC 12.11: what a request would take the place of, and what its name looks like, are shown and
/// marked.
#[test]
fn a_request_says_what_it_hides_and_what_it_looks_like() {
    let spec = spec(&serde_json::json!({ "command": "c" }));
    let shown = process("c", &[]);
    let hidden = |is_users| HiddenEntry {
        source: "user:cursor".into(),
        file: Some("/h/.cursor/mcp.json".into()),
        line: Some(1),
        is_users,
    };
    let request = |hides: &HiddenEntry, alike| {
        let origin = RequestOrigin { scope: "project".into(), file: None, line: None };
        let asked = Asked {
            root: &root("/p"),
            server: "gith\u{443}b",
            origin: &origin,
            candidate: Candidate::of_spec(&spec, &shown),
            last: None,
            hides: Some(hides),
            alike,
        };
        Request::new(&asked).to_json()
    };
    let json = request(&hidden(true), Some("github"));
    assert_eq!(
        json["hides"],
        serde_json::json!({ "source": "user:cursor", "file": "/h/.cursor/mcp.json", "line": 1 })
    );
    let text = json["escaped"]["text"].as_str().unwrap();
    assert!(text.starts_with("gith\\u{443}b\n"), "{text}");
    assert!(text.contains("  hides    user:cursor, /h/.cursor/mcp.json:1\n"), "{text}");
    let marks = [
        ("hides_user_server", "user:cursor, /h/.cursor/mcp.json:1"),
        ("lookalike_name", "gith\\u{443}b, like github"),
    ];
    for (kind, subject) in marks {
        let mark = serde_json::json!({ "kind": kind, "subject": subject, "argument": null });
        assert!(json["risks"].as_array().unwrap().contains(&mark), "{mark} {json}");
    }
    let json = request(&hidden(false), None);
    let kinds = json["risks"].as_array().unwrap().iter().map(|mark| mark["kind"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["lookalike_name"]);
}
