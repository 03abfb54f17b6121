//! What an explanation says.

use super::*;
use crate::view::ByWhom;

/// SPEC 11.6: an explanation says what it is about, why, where that comes from and what to do.
#[test]
fn an_explanation_has_a_reason_a_place_and_a_remedy() {
    let from = ReasonSource {
        source: "project:/w/.mcp.json".into(),
        file: Some("/w/.mcp.json".into()),
        line: Some(3),
        list: Some("excluded"),
    };
    let about = Explanation {
        name: "mcp__s__t",
        subject: Subject::Tool(Some("s")),
        reason: Some(Reason::Excluded),
        cause: None,
        from: Some(from),
        idle: Vec::new(),
    };
    let expected = json!({
        "v": 1, "name": "mcp__s__t", "kind": "tool", "server": "s", "available": false,
        "reason": "excluded", "message": "`s` is on a list of servers that may not run",
        "from": {
            "source": "project:/w/.mcp.json", "file": "/w/.mcp.json", "line": 3, "list": "excluded",
        },
        "remedy": "take the name off that list",
    });
    assert_eq!(about.to_json(), expected);
    let subject = Subject::Server;
    let failed = Explanation {
        name: "s",
        subject,
        reason: Some(Reason::Failed),
        cause: Some("it exited".into()),
        from: None,
        idle: Vec::new(),
    };
    assert_eq!(failed.message(), "`s` has failed: it exited");
    let there = Explanation { reason: None, cause: None, ..failed };
    let expected = json!({
        "v": 1, "name": "s", "kind": "server", "available": true, "message": "`s` is connected",
    });
    assert_eq!(there.to_json(), expected);
    let outdated = Explanation { cause: Some("`args` is wrong".into()), ..there };
    assert_eq!(
        outdated.message(),
        "`s` is connected by what its entry said before; what it says now is wrong: `args` is wrong"
    );
    let nobodys = Explanation { subject: Subject::Tool(None), ..about };
    assert_eq!(nobodys.message(), "no server has a name that the tool could belong to");
}

/// SPEC 18.11: filters that do nothing stand beside the reason, and the first of them in the
/// sentence.
#[test]
fn an_explanation_says_which_filters_do_nothing() {
    let pattern = |pattern: &str| {
        let (option, by) = ("exclude", ByWhom::Session);
        IdleFilter::Pattern("s".into(), Unmatched { option, pattern: pattern.into(), by })
    };
    let (server, meant) = ("S".to_owned(), Some("s".to_owned()));
    let idle = vec![
        pattern("a"),
        IdleFilter::Server(UnknownServer { option: "trust", server, meant }),
        pattern("b"),
        pattern("c"),
    ];
    let (subject, reason, cause, from) = (Subject::Server, None, None, None);
    let about = Explanation { name: "s", subject, reason, cause, from, idle };
    assert_eq!(
        about.message(),
        "`s` is connected; the pattern `a` of the session's `exclude` matches nothing that `s` lists; the session's \
         `trust` names the server `S`, which is configured nowhere; is `s` meant?; the pattern `b` of the session's \
         `exclude` matches nothing that `s` lists"
    );
    let told = about.to_json()["unmatched"].clone();
    assert_eq!(
        told[0],
        json!({"option": "exclude", "server": "s", "pattern": "a", "by": "session"})
    );
    assert_eq!(told[1], json!({"option": "trust", "server": "S", "by": "session", "meant": "s"}));
    assert_eq!(told.as_array().unwrap().len(), 4);
}

/// SPEC 11.6: what the host's own list holds back no decision lets in, and there is no request to
/// show.
#[test]
fn the_list_of_the_host_is_the_remedy_of_what_it_holds_back() {
    let by = |list| {
        let from = ReasonSource { source: "host".into(), list, ..ReasonSource::default() };
        let (subject, reason) = (Subject::Server, Some(Reason::PendingApproval));
        let (cause, from, idle) = (None, Some(from), Vec::new());
        let about = Explanation { name: "s", subject, reason, cause, from, idle };
        about.to_json()["remedy"].as_str().unwrap().to_owned()
    };
    assert!(by(Some("pending")).contains("`set_gates`"));
    assert_eq!(by(None), Reason::PendingApproval.remedy());
}
