//! Announcements, limits and ends.

use super::requests::OPEN;
use super::talk::{facts, talk};
use crate::bridge::{Era, LaneKind};
use crate::state::Moment;

const CALL: &str = r#"1 > 1 tools/call {META+,"name":"echo"}"#;

/// SPEC 19.4: a cancel reaches the one server of its call, and nobody is answered.
#[test]
fn a_call_is_cancelled_in_the_way_of_its_lane() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[(CALL, &["call 1 …"]), ("closed 1", &["cancel 1"]), ("answered 1 {}", &[])],
    );
    talk(
        facts(Era::Modern, LaneKind::Lines),
        Era::Modern,
        &[
            (CALL, &["call 1 …"]),
            (r#"2 > 1 tools/call {META+,"name":"echo"}"#, &["call 2 …"]),
            (r#"1 > - notifications/cancelled {"requestId":1}"#, &["cancel 1"]),
            (r#"1 > - notifications/cancelled {"requestId":9}"#, &[]),
            ("answered 2 {}", &["send 2 200 {\"id\":1,…"]),
        ],
    );
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Legacy,
        &[
            OPEN,
            (r#"2 > 7 tools/call {"name":"echo"}"#, &["call 1 …"]),
            // A lost stream is no cancel in the legacy era.
            ("closed 2", &[]),
            (r#"asked 9 s 1 elicitation/create {}"#, &["send 2 200 …"]),
            (
                r#"3 > - notifications/cancelled {"requestId":7}"#,
                &[
                    "send 2 200 …notifications/cancelled…",
                    "answer 9 -32603",
                    "cancel 1",
                    "end 2",
                    "accepted 3",
                ],
            ),
        ],
    );
}

/// SPEC 19.4: messages reach the call that asked for them, or nobody.
#[test]
fn messages_of_servers_reach_who_asked_for_them() {
    let level = r#"1 > 1 tools/call {"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"warning"}}"#;
    let wrong = level.replace("warning", "loud");
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (&wrong, &["send 1 last 200 …-32602…logLevel…"]),
            (level, &["call 1 s tools/call {\"name\":\"echo\"} warning"]),
            (
                r#"logged s 1 {"level":"error","data":1}"#,
                &["send 1 droppable 200 …notifications/message…"],
            ),
            (r#"logged s 1 {"level":"info","data":1}"#, &["dropped s Log"]),
            (r#"logged s - {"level":"error","data":1}"#, &["send 1 droppable 200 …"]),
            (&level.replace("1 > 1", "2 > 1"), &["call 2 …"]),
            // Whose it is nobody knows.
            (r#"logged s - {"level":"error","data":1}"#, &["dropped s Log"]),
        ],
    );
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Legacy,
        &[
            OPEN,
            (r#"logged s - {"level":"error"}"#, &["dropped s Log"]),
            ("stream 2", &[]),
            (r#"logged s - {"level":"debug"}"#, &["send 2 droppable 200 …"]),
            (r#"3 > 1 logging/setLevel {"level":"error"}"#, &["level error", "send 3 last 200 …"]),
            (r#"logged s - {"level":"debug"}"#, &[]),
        ],
    );
}

/// SPEC 19.5: a listen is acknowledged first, with what is granted.
#[test]
fn a_listen_gets_what_it_asked_for_and_nothing_else() {
    let listen = r#"1 > "l" subscriptions/listen {META,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:a","x:b"]}}"#;
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (listen, &["subscribe 1 s x:a", "subscribe 2 s x:b"]),
            ("lists", &[]),
            ("answered 1 {}", &[]),
            (
                "failed 2 -32602 {}",
                &[
                    r#"send 1 200 …"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#,
                    "send 1 200 …notifications/tools/list_changed…",
                ],
            ),
            (
                "lists",
                &[
                    r#"send 1 200 …"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#,
                ],
            ),
            (
                "updated s x:a",
                &[
                    r#"send 1 200 …resources/updated","params":{"uri":"x:a","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#,
                ],
            ),
            ("updated s x:b", &[]),
            // A second listen shares the subscription, and the last one ends it.
            (
                r#"2 > 1 subscriptions/listen {META,"notifications":{"resourceSubscriptions":["x:a"]}}"#,
                &["send 2 200 …acknowledged…[\"x:a\"]…\"…/subscriptionId\":1}}}"],
            ),
            ("closed 1", &[]),
            ("updated s x:a", &["send 2 200 …"]),
            ("closed 2", &["unsubscribe s x:a"]),
            (
                r#"3 > 1 subscriptions/listen {META,"notifications":{"taskIds":["t"]}}"#,
                &["send 3 last 400 …-32021…"],
            ),
            (
                r#"3 > 1 subscriptions/listen {META}"#,
                &["send 3 last 200 …-32602…`params.notifications`…"],
            ),
        ],
    );
}

/// SPEC 19.4: a legacy session hears of changes on its own stream, also of those before it.
#[test]
fn changes_wait_for_the_stream_of_a_legacy_session() {
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Modern,
        &[
            ("lists", &[]),
            OPEN,
            ("lists", &[]),
            ("lists", &[]),
            (
                "stream 2",
                &[
                    "send 2 200 …tools/list_changed…",
                    "send 2 200 …prompts/list_changed…",
                    "send 2 200 …resources/list_changed…",
                ],
            ),
            ("stream 3", &["end 2"]),
            (r#"4 > 1 resources/subscribe {"uri":"x:a"}"#, &["subscribe 1 s x:a"]),
            ("answered 1 {}", &["send 4 last 200 {\"id\":1,\"result\":{}}"]),
            ("updated s x:a", &[r#"send 3 200 …"params":{"uri":"x:a"}}"#]),
            (
                r#"4 > 2 resources/unsubscribe {"uri":"x:a"}"#,
                &["unsubscribe s x:a", "send 4 last 200 …"],
            ),
            (r#"4 > 3 resources/subscribe {"uri":"x:b"}"#, &["subscribe 2 s x:b"]),
            ("failed 2 -32602 {}", &["send 4 last 200 …-32602…"]),
            ("updated s x:b", &[]),
        ],
    );
}

/// SPEC 19.8: beyond the bounds a client is refused, and nothing of it is kept.
#[test]
fn a_client_has_bounds() {
    let mut small = facts(Era::Modern, LaneKind::Http);
    (small.limits.calls, small.limits.listens) = (1, 1);
    let listen = r#"3 > 1 subscriptions/listen {META,"notifications":{}}"#;
    talk(
        small,
        Era::Modern,
        &[
            (CALL, &["call 1 …"]),
            (
                r#"2 > 1 tools/call {META+,"name":"echo"}"#,
                &["send 2 last 200 …-32603…\"limit\":\"calls\"…"],
            ),
            (listen, &["send 3 200 …acknowledged…"]),
            (&listen.replace("3 >", "4 >"), &["send 4 last 200 …-32603…\"limit\":\"listens\"…"]),
        ],
    );
    // One call has bounds too.
    let mut table: Vec<(String, Vec<String>)> = Vec::new();
    for question in 10..10 + 16 {
        let asked = format!(r#"asked {question} s 1 elicitation/create {{}}"#);
        table.push((asked, vec!["send 2 200 …".to_owned()]));
    }
    let asked = r#"asked 99 s 1 elicitation/create {}"#.to_owned();
    table.push((asked, vec!["answer 99 -32603".to_owned(), "dropped s Question".to_owned()]));
    let mut talk = talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Legacy,
        &[OPEN, (r#"2 > 7 tools/call {"name":"echo"}"#, &["call 1 …"])],
    );
    for (line, expected) in &table {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        talk.go_on(&[(line, &expected)]);
    }
}

/// SPEC 19.8: a client that says nothing and has nothing open ends; one with a stream does not.
#[test]
fn an_idle_client_ends() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[
            ("1 > 1 tools/list {META}", &["send 1 last 200 …"]),
            ("wait 899", &[]),
            ("1 > 1 tools/list {META}", &["send 1 last 200 …"]),
            ("wait 899", &[]),
            ("wait 1", &["close"]),
        ],
    );
    let talk = talk(
        facts(Era::Legacy, LaneKind::Lines),
        Era::Modern,
        &[("stream 1", &[]), (OPEN.0, &["open 1", "send 1 200 …"]), ("wait 9000", &[])],
    );
    assert_eq!(talk.next_deadline(), None::<Moment>);
}

/// SPEC 19.8: a drain answers what is open, ends listens, and takes nothing new.
#[test]
fn a_drain_answers_what_is_open() {
    let listen =
        r#"2 > 5 subscriptions/listen {META,"notifications":{"resourceSubscriptions":["x:a"]}}"#;
    let http = talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[
            (CALL, &["call 1 …"]),
            (listen, &["subscribe 2 s x:a"]),
            ("answered 2 {}", &["send 2 200 …acknowledged…"]),
            (
                "drain",
                &[
                    "unsubscribe s x:a",
                    r#"send 2 last 200 {"id":5,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":5,…"resultType":"complete"}}"#,
                ],
            ),
            ("3 > 1 tools/list {META}", &["send 3 last 200 …-32603…\"outcome\":\"not_sent\"…"]),
            ("answered 1 {}", &["send 1 last 200 …", "close"]),
        ],
    );
    assert!(http.is_empty());
    talk(
        facts(Era::Modern, LaneKind::Lines),
        Era::Modern,
        &[
            (listen, &["subscribe 1 s x:a"]),
            ("answered 1 {}", &["send 2 200 …acknowledged…"]),
            (
                "drain",
                &[
                    "unsubscribe s x:a",
                    r#"send 2 200 …notifications/cancelled","params":{"requestId":5}}"#,
                    "send 2 200 {\"id\":5,\"result\":…",
                    "close",
                ],
            ),
        ],
    );
}

/// SPEC 19.4: what a client asked is cancelled with it.
#[test]
fn a_client_that_goes_leaves_nothing() {
    let talk = talk(
        facts(Era::Legacy, LaneKind::Lines),
        Era::Legacy,
        &[
            ("stream 1", &[]),
            (OPEN.0, &["open 1", "send 1 200 …"]),
            (r#"1 > 7 tools/call {"name":"echo"}"#, &["call 1 …"]),
            (r#"asked 9 s 1 elicitation/create {}"#, &["send 1 200 …"]),
            (r#"1 > 8 resources/subscribe {"uri":"x:a"}"#, &["subscribe 2 s x:a"]),
            ("answered 2 {}", &["send 1 200 …"]),
            (
                "close",
                &[
                    "send 1 200 …notifications/cancelled…",
                    "answer 9 -32603",
                    "cancel 1",
                    "unsubscribe s x:a",
                    "close",
                ],
            ),
            ("answered 1 {}", &[]),
            ("close", &[]),
        ],
    );
    assert!(talk.is_empty());
}
