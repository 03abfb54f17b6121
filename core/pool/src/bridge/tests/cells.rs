//! The four cells: a client of each era, with a server of each era (SPEC 19.5).

use super::offered::{Servers, full};
use super::requests::OPEN;
use super::talk::{Talk, facts, talk};
use crate::bridge::{ClientFacts, Era, LaneKind, ServedPath};
use crate::options::Parking;

const ASKED: &str = r#"asked 9 s 1 elicitation/create {"message":"m","requestedSchema":{}}"#;

/// Legacy × legacy: questions go to the client on the stream of their call, and the answers back.
#[test]
fn a_legacy_server_asks_a_legacy_client_on_the_stream_of_its_call() {
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Legacy,
        &[
            OPEN,
            ("stream 2", &[]),
            (r#"3 > 7 tools/call {"name":"echo"}"#, &["call 1 s tools/call …"]),
            (
                ASKED,
                &[r#"send 3 200 {"id":1,"method":"elicitation/create","params":{"message":"m",…"#],
            ),
            (
                r#"4 < 1 {"action":"accept","content":{"a":1}}"#,
                &[r#"answer 9 {"action":"accept","content":{"a":1}}"#, "accepted 4"],
            ),
            (r#"4 < 1 {"action":"decline"}"#, &["accepted 4"]),
            (r#"asked 10 s 1 sampling/createMessage {"messages":[]}"#, &["send 3 200 {\"id\":2,…"]),
            (
                r#"4 raw {"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#,
                &["answer 10 -1", "accepted 4"],
            ),
            (ASKED, &["send 3 200 {\"id\":3,…"]),
            ("unasked 9", &["send 3 200 …notifications/cancelled…{\"requestId\":3,…"]),
            (r#"asked 11 s - elicitation/create {}"#, &["answer 11 -32601", "dropped s Question"]),
            (
                r#"asked 12 other 1 elicitation/create {}"#,
                &["answer 12 -32601", "dropped other Question"],
            ),
            (
                r#"asked 13 s 1 elicitation/create {"mode":"url"}"#,
                &["answer 13 -32601", "dropped s Question"],
            ),
            (ASKED, &["send 3 200 {\"id\":4,…"]),
            // The call ends before the client answers.
            (
                "answered 1 {}",
                &[
                    "send 3 200 …notifications/cancelled…",
                    "answer 9 -32603",
                    r#"send 3 last 200 {"id":7,"result":{}}"#,
                ],
            ),
        ],
    );
}

/// Modern × modern: the question is the result, and only its state is another.
#[test]
fn a_modern_server_asks_a_modern_client_by_its_result() {
    let call = r#"1 > 1 tools/call {META+,"name":"echo","arguments":{"a":1}}"#;
    let round = r#"answered 1 {"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}},"requestState":"upstream"}"#;
    let talk = talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[
            (
                call,
                &[
                    r#"call 1 s tools/call {"name":"echo","arguments":{"a":1}} relays  {"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#,
                ],
            ),
            (
                round,
                &[
                    r#"send 1 last 200 …"inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m"}}},"resultType":"input_required","requestState":"…"#,
                ],
            ),
            (
                r#"2 > 2 tools/call {META+,"name":"echo","arguments":{"a":1},"inputResponses":{"k":{"action":"accept"}},"requestState":"STATE"}"#,
                &[
                    r#"call 2 s tools/call {"name":"echo","arguments":{"a":1},"inputResponses":{"k":{"action":"accept"}},"requestState":"upstream"} relays …"#,
                ],
            ),
            (
                "answered 2 {\"content\":[]}",
                &[r#"send 2 last 200 {"id":2,"result":{"content":[],"resultType":"complete",…"#],
            ),
            // For other arguments, touched, or of another kind, the state is worth nothing.
            (
                r#"3 > 3 tools/call {META+,"name":"echo","arguments":{"a":2},"requestState":"STATE"}"#,
                &["send 3 last 200 …-32602…`params.requestState`…"],
            ),
            (
                r#"3 > 3 tools/call {META+,"name":"echo","arguments":{"a":1},"requestState":"xSTATE"}"#,
                &["send 3 last 200 …-32602…"],
            ),
            (
                r#"3 > 3 tools/call {META+,"name":"echo","requestState":7}"#,
                &["send 3 last 200 …-32602…`params.requestState`…"],
            ),
            ("wait 3601", &["close"]),
        ],
    );
    assert!(talk.is_empty());
}

/// SPEC 19.5: the same arguments are the same, however the client writes them the second time.
#[test]
fn a_state_is_bound_to_what_the_arguments_say() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[
            (r#"1 > 1 tools/call {META+,"name":"echo","arguments":{"a":1,"b":2}}"#, &["call 1 …"]),
            (
                r#"answered 1 {"resultType":"input_required","requestState":"u"}"#,
                &["send 1 last 200 …"],
            ),
            (
                r#"2 > 2 tools/call {"arguments":{ "b": 2, "a": 1 },"requestState":"STATE","name":"echo",META+}"#,
                &["call 2 s tools/call …\"requestState\":\"u\"…"],
            ),
        ],
    );
}

/// Modern × modern: a server that asks for what was not declared is at fault.
#[test]
fn a_modern_server_cannot_ask_for_what_was_not_declared() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Modern,
        &[
            (
                r#"1 > 1 tools/call {META,"name":"echo"}"#,
                &["call 1 s tools/call {\"name\":\"echo\"} relays  {}"],
            ),
            (
                r#"answered 1 {"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage"}}}"#,
                &["send 1 last 200 …-32603…\"method\":\"sampling/createMessage\"…"],
            ),
            (
                r#"1 > 1 completion/complete {META,"ref":{"type":"ref/prompt","name":"hello"},"argument":{}}"#,
                &["call 2 …"],
            ),
            (
                r#"answered 2 {"resultType":"input_required"}"#,
                &["send 1 last 200 …-32603…`resultType`…"],
            ),
            (r#"1 > 1 tools/call {META,"name":"echo"}"#, &["call 3 …"]),
            (r#"answered 3 {"resultType":"task"}"#, &["send 1 last 200 …-32603…"]),
        ],
    );
}

const CALL: &str = r#"1 > 1 tools/call {META+,"name":"echo"}"#;
const PARKED: &str = r#"send 1 last 200 …"inputRequests":{"1":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}},"resultType":"input_required","requestState":"…"#;

/// Modern × legacy: the call waits, and its client comes back.
#[test]
fn a_legacy_server_asks_a_modern_client_whose_call_waits() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (CALL, &["call 1 s tools/call {\"name\":\"echo\"}"]),
            (ASKED, &[PARKED]),
            // The POST is answered: that it goes now cancels nothing.
            ("closed 1", &[]),
            (
                r#"2 > 2 tools/call {META+,"name":"echo","inputResponses":{"1":7},"requestState":"STATE"}"#,
                &["send 2 last 200 …-32602…`params.inputResponses.1`…"],
            ),
            // A second question waits for the first.
            (r#"asked 10 s 1 elicitation/create {"message":"n"}"#, &[]),
            (
                r#"2 > 2 tools/call {META+,"name":"echo","inputResponses":{"1":{"action":"accept"},"x":{}},"requestState":"STATE"}"#,
                &[
                    r#"answer 9 {"action":"accept"}"#,
                    "send 2 last 200 …\"message\":\"n\"…input_required…",
                ],
            ),
            (
                r#"3 > 3 tools/call {META+,"name":"echo","inputResponses":{"1":{"action":"accept"}},"requestState":"STATE"}"#,
                &["answer 10 {\"action\":\"accept\"}"],
            ),
            // Single-use.
            (
                r#"4 > 4 tools/call {META+,"name":"echo","inputResponses":{"1":{}},"requestState":"STATE"}"#,
                &["send 4 last 200 …-32602…expired…"],
            ),
            (
                r#"answered 1 {"content":[]}"#,
                &[
                    "send 3 last 200 {\"id\":3,\"result\":{\"content\":[],\"resultType\":\"complete\"…",
                ],
            ),
        ],
    );
}

/// Modern × legacy: what is missing is asked again, under another handle.
#[test]
fn an_answer_that_is_missing_is_asked_for_again() {
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (CALL, &["call 1 …"]),
            (ASKED, &[PARKED]),
            (
                r#"1 > 2 tools/call {META+,"name":"echo","inputResponses":{},"requestState":"STATE"}"#,
                &[PARKED],
            ),
            (
                r#"2 > 3 tools/call {META+,"name":"echo","inputResponses":{"1":{"action":"cancel"}},"requestState":"STATE"}"#,
                &["answer 9 {\"action\":\"cancel\"}"],
            ),
            ("closed 2", &["cancel 1"]),
        ],
    );
}

/// Modern × legacy: a server that goes on by itself leaves its result for the client.
#[test]
fn the_result_of_a_parked_call_waits_for_its_client() {
    let talk = talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (CALL, &["call 1 …"]),
            (ASKED, &[PARKED]),
            ("unasked 9", &[]),
            ("answered 1 {\"content\":[]}", &[]),
            (
                r#"2 > 2 tools/call {META+,"name":"echo","inputResponses":{"1":{}},"requestState":"STATE"}"#,
                &["send 2 last 200 {\"id\":2,\"result\":{\"content\":[]…"],
            ),
        ],
    );
    assert!(talk.is_empty());
}

/// Modern × legacy: a client that stays away loses its call, and the server is told.
#[test]
fn a_parked_call_ends_when_its_client_stays_away() {
    let talk = talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (CALL, &["call 1 …"]),
            (ASKED, &[PARKED]),
            ("wait 299", &[]),
            ("wait 1", &["answer 9 …", "cancel 1", "dropped s ParkedCall"]),
            (
                r#"2 > 2 tools/call {META+,"name":"echo","inputResponses":{"1":{}},"requestState":"STATE"}"#,
                &["send 2 last 200 …-32602…"],
            ),
        ],
    );
    assert!(talk.is_empty());
}

/// Modern × legacy: a handle is its principal's and its request's alone.
#[test]
fn a_parked_call_is_resumed_by_its_own_request_alone() {
    let mut other = facts(Era::Modern, LaneKind::Http);
    other.principal = "q".to_owned();
    let mut thief = Talk::new(other, Servers::of([("s", full(Era::Legacy))]));
    let mut owner =
        Talk::new(facts(Era::Modern, LaneKind::Http), Servers::of([("s", full(Era::Legacy))]));
    for talk in [&mut owner, &mut thief] {
        talk.go_on(&[(CALL, &["call 1 …"]), (ASKED, &[PARKED])]);
    }
    let state = owner.state().to_owned();
    let retry = format!(
        r#"2 > 2 tools/call {{META+,"name":"echo","inputResponses":{{"1":{{}}}},"requestState":"{state}"}}"#
    );
    let other = retry.replace(r#""name":"echo""#, r#""name":"echo","arguments":{"a":1}"#);
    thief.go_on(&[(&retry, &["send 2 last 200 …-32602…"])]);
    owner.go_on(&[(&other, &["send 2 last 200 …-32602…"]), (&retry, &["answer 9 {}"])]);
}

/// Modern × legacy: what the client did not declare, and what is too much, is answered at once.
#[test]
fn a_question_that_cannot_wait_is_answered_at_once() {
    let mut small = facts(Era::Modern, LaneKind::Http);
    small.limits.parked = 1;
    let two = r#"2 > 2 tools/call {META+,"name":"echo"}"#;
    talk(
        small,
        Era::Legacy,
        &[
            (r#"1 > 1 tools/call {META,"name":"echo"}"#, &["call 1 …"]),
            (ASKED, &["answer 9 -32601", "dropped s Question"]),
            ("answered 1 {}", &["send 1 last 200 …"]),
            (CALL, &["call 2 …"]),
            (r#"asked 9 s 2 elicitation/create {"message":"m","requestedSchema":{}}"#, &[PARKED]),
            (two, &["call 3 …"]),
            (r#"asked 10 s 3 elicitation/create {}"#, &["answer 10 -32603", "dropped s Question"]),
        ],
    );
}

/// SPEC 19.5, option `refuse`: the call ends, with what the client would have to declare.
#[test]
fn an_endpoint_that_refuses_to_wait_ends_the_call() {
    let refuse = || ClientFacts { parking: Parking::Refuse, ..facts(Era::Modern, LaneKind::Http) };
    talk(
        refuse(),
        Era::Legacy,
        &[
            (CALL, &["call 1 …"]),
            (
                ASKED,
                &[
                    "answer 9 -32603",
                    "dropped s Question",
                    "cancel 1",
                    "send 1 last 200 …-32603…SEP-2322…",
                ],
            ),
        ],
    );
    talk(
        refuse(),
        Era::Legacy,
        &[
            (r#"1 > 1 tools/call {META,"name":"echo"}"#, &["call 1 …"]),
            (
                ASKED,
                &[
                    "answer 9 -32601",
                    "dropped s Question",
                    "cancel 1",
                    r#"send 1 last 400 …-32021…"requiredCapabilities":{"elicitation":{"form":{}}}…"#,
                ],
            ),
        ],
    );
}

/// Addresses to be opened: each era has its own way to say so.
#[test]
fn an_address_is_opened_in_the_way_of_the_client() {
    let visit =
        r#"{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x","message":"m"}]}"#;
    let failed = format!("failed 1 -32042 {visit}");
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (CALL, &["call 1 …"]),
            (
                &failed,
                &[
                    r#"send 1 last 200 …"inputRequests":{"1":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x"}}},"resultType":"input_required",…"#,
                ],
            ),
            // The request is sent anew, and carries nothing to the legacy server.
            (
                r#"1 > 2 tools/call {META+,"name":"echo","inputResponses":{"1":{"action":"accept"}},"requestState":"STATE"}"#,
                &["call 2 s tools/call {\"name\":\"echo\"}"],
            ),
        ],
    );
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (r#"1 > 1 tools/call {META,"name":"echo"}"#, &["call 1 …"]),
            (&failed, &["send 1 last 400 …-32021…"]),
        ],
    );
    // The id belongs to the legacy era.
    talk(
        facts(Era::Modern, LaneKind::Http),
        Era::Legacy,
        &[
            (CALL, &["call 1 …"]),
            (
                r#"asked 9 s 1 elicitation/create {"mode":"url","elicitationId":"e","url":"https://x"}"#,
                &[r#"send 1 last 200 …"params":{"mode":"url","url":"https://x"}…"#],
            ),
        ],
    );
}

/// Legacy × modern: the pool asks for the server, and an address gets the id that the era needs.
#[test]
fn a_modern_server_asks_a_legacy_client_through_the_pool() {
    let open = r#"1 > 1 initialize {"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}}}"#;
    talk(
        facts(Era::Legacy, LaneKind::Http),
        Era::Modern,
        &[
            (open, &["open 1", "send 1 last 200 …"]),
            (r#"2 > 7 tools/call {"name":"echo"}"#, &["call 1 s tools/call {\"name\":\"echo\"}"]),
            (
                r#"asked 9 s 1 elicitation/create {"mode":"url","url":"https://x"}"#,
                &[
                    r#"send 2 200 {"id":1,"method":"elicitation/create","params":{"mode":"url","url":"https://x","elicitationId":"1"}}"#,
                ],
            ),
            (r#"3 < 1 {"action":"accept"}"#, &["answer 9 {\"action\":\"accept\"}", "accepted 3"]),
            (
                r#"answered 1 {"resultType":"complete","content":[]}"#,
                &[
                    r#"send 2 200 …"notifications/elicitation/complete","params":{"elicitationId":"1"}}"#,
                    r#"send 2 last 200 {"id":7,"result":{"content":[]}}"#,
                ],
            ),
        ],
    );
}

/// SPEC 19.3: on the aggregate the client sees our names, and each server its own.
#[test]
fn the_aggregate_leads_each_name_to_its_server() {
    let path = ServedPath { profile: None, server: None };
    let facts = ClientFacts { path, ..facts(Era::Modern, LaneKind::Http) };
    let mut quiet = full(Era::Legacy);
    quiet.capabilities = Some(r#"{"tools":{},"prompts":{},"resources":{}}"#.to_owned());
    let mut talk = Talk::new(facts, Servers::of([("s", full(Era::Modern)), ("t", quiet)]));
    talk.go_on(&[
        (r#"1 > 1 tools/call {META+,"name":"t__echo"}"#, &[r#"call 1 t tools/call {"name":"echo"}"#]),
        (
            r#"answered 1 {"content":[{"type":"resource_link","uri":"x:y","name":"n"}]}"#,
            &[r#"send 1 last 200 …"uri":"trunkline://t/x:y"…"#],
        ),
        (r#"1 > 1 tools/call {META+,"name":"echo"}"#, &["send 1 last 200 …-32602…unknown tool…"]),
        (r#"1 > 1 resources/read {META+,"uri":"trunkline://s/x:y"}"#, &[r#"call 2 s resources/read {"uri":"x:y"} relays …"#]),
        (r#"answered 2 {"contents":[{"uri":"x:y"}]}"#, &[r#"send 1 last 200 …"uri":"trunkline://s/x:y"…"#]),
        (r#"1 > 1 resources/read {META+,"uri":"q:z"}"#, &[r#"send 1 last 200 …-32602…{"uri":"q:z"}…"#]),
        (
            r#"1 > 1 completion/complete {META,"ref":{"type":"ref/prompt","name":"t__hello"},"argument":{}}"#,
            &[r#"send 1 last 200 …"values":[]…"#],
        ),
        (
            r#"1 > 1 completion/complete {META,"ref":{"type":"ref/resource","uri":"trunkline://s/x://{id}"},"argument":{}}"#,
            &[r#"call 3 s completion/complete {"ref":{"type":"ref/resource","uri":"x://{id}"},"argument":{}}"#],
        ),
        ("2 > 1 completion/complete {META}", &["send 2 last 200 …-32602…`params.ref`…"]),
    ]);
}
