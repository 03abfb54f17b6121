//! Servers that are not written against the letter, and what of them is understood all the same
//! (SPEC 4.4, 18.1, 18.2, 18.5).

use super::*;

/// A server in shell whose answers to these methods are these texts of members; it has what
/// `scripted` has otherwise.
fn answering(answers: &[(&str, &str)]) -> Server {
    let mut script_text = scripted("reply '{\"content\":[]}'");
    for (method, answer) in answers {
        let case = format!(
            r#"*'"method":"{method}"'*) printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$id" '{answer}';;"#
        );
        script_text = script_text
            .replace("            case $line in", &format!("            case $line in\n{case}"));
    }
    script(&script_text)
}

const ALL: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"sh","version":"0"}}"#;
const PROMPTS: &str = r#""result":{"prompts":[{"name":"p"}]}"#;
const RESOURCES: &str = r#""result":{"resources":[{"uri":"a:b","name":"r"}]}"#;
const NO_TEMPLATES: &str = r#""error":{"code":-32601,"message":"?"}"#;

/// SPEC 4.4: whichever list fails, in whichever way, the others are there.
#[tokio::test]
async fn each_list_stands_by_itself() {
    let good = [
        ("initialize", ALL),
        ("prompts/list", PROMPTS),
        ("resources/list", RESOURCES),
        ("resources/templates/list", NO_TEMPLATES),
    ];
    for (list, method) in [
        (ListKind::Tools, "tools/list"),
        (ListKind::Prompts, "prompts/list"),
        (ListKind::Resources, "resources/list"),
        (ListKind::ResourceTemplates, "resources/templates/list"),
    ] {
        for bad in [r#""error":{"code":-32603,"message":"no"}"#, r#""result":7"#, r#""result":{}"#]
        {
            let open = answering(&[&good[..], &[(method, bad)]].concat()).connect().await;
            let unlisted: Vec<ListKind> = open.catalog.unlisted.iter().map(|it| it.list).collect();
            assert_eq!(unlisted, [list], "{method} {bad}");
            let counts = ListKind::ALL.map(|list| open.catalog.list(list).len());
            let expected = [ListKind::Tools, ListKind::Prompts, ListKind::Resources];
            let expected = expected.map(|there| usize::from(there != list));
            assert_eq!(counts[..3], expected, "{method} {bad}");
            open.call("any", json!({})).await.unwrap();
            open.close().await;
        }
    }
}

/// SPEC 4.4: a list that hangs costs itself alone, at the deadline of the listing.
#[tokio::test]
async fn a_list_that_hangs_is_left_out() {
    let hanging = [
        ("initialize", ALL),
        ("resources/list", RESOURCES),
        ("resources/templates/list", NO_TEMPLATES),
    ];
    let text = answering(&hanging).value["args"][1].as_str().unwrap().to_owned();
    let server = script(&text).options(|options| options.timeout = Duration::from_secs(3));
    let open = server.connect().await;
    let unlisted = &open.catalog.unlisted[..];
    assert!(
        matches!(unlisted, [one] if one.list == ListKind::Prompts && one.error.code() == ErrorCode::Timeout)
    );
    assert_eq!((open.catalog.tools.len(), open.catalog.resources.len()), (1, 1));
    open.close().await;
}

/// SPEC 4.4: a server whose only list fails is connected, unless the host refuses one that lists
/// nothing.
#[tokio::test]
async fn a_server_without_any_list_that_can_be_had_is_connected() {
    let failing = [("tools/list", r#""error":{"code":-5,"message":"no"}"#)];
    let open = answering(&failing).connect().await;
    let unlisted: Vec<ListKind> = open.catalog.unlisted.iter().map(|it| it.list).collect();
    assert_eq!(unlisted, [ListKind::Tools]);
    open.call("any", json!({})).await.unwrap();
    open.close().await;
    let error = answering(&failing).without_lists().await;
    assert_eq!((error.code(), &error.detail()["code"]), (ErrorCode::ServerError, &(-5).into()));
}

/// SPEC 4.4.
#[tokio::test]
async fn a_server_that_lists_nothing_is_connected_unless_the_host_refuses_that() {
    let nothing = [("tools/list", r#""result":{"tools":null}"#)];
    let open = answering(&nothing).connect().await;
    assert!(open.catalog.is_empty() && open.catalog.unlisted.is_empty());
    open.close().await;
    let server = answering(&nothing).options(|it| it.nothing_listed = NothingListed::Error);
    let error = server.refused().await;
    let said = (error.code(), &error.detail()["reason"]);
    assert_eq!(said, (ErrorCode::Protocol, &"nothing_listed".into()));
}

/// SPEC 18.2: what a handshake may look like; the one tool is there each time.
#[tokio::test]
async fn a_handshake_is_understood_as_it_is_meant() {
    for result in [
        r#"{"protocolVersion":"2025-06-18","capabilities":[],"serverInfo":{"name":"s","version":"1"}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":[]},"serverInfo":{"name":"s","version":"1"}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"prompts":false},"serverInfo":{"name":"s","version":"1"}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":null},"prompts":null,"experimental":[],"logging":[]},"serverInfo":{"name":"s","version":"1","title":null}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":"true"}},"serverInfo":{"name":"s","version":1.0}}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":null,"serverInfo":null,"instructions":null,"_meta":[]}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":7,"serverInfo":"s","instructions":["a"]}"#,
        r#"{"protocolVersion":"2025-06-18"}"#,
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s \ud83d","version":"1","icons":[]},"instructions":"\ud83d"}"#,
    ] {
        let open = answering(&[("initialize", &format!(r#""result":{result}"#))]).connect().await;
        assert_eq!(open.catalog.tools.len(), 1, "{result}");
        assert_eq!(open.connection.server_facts().protocol_version, "2025-06-18");
        open.close().await;
    }
}

/// SPEC 18.5: in the same process, by a list, by words, and by words that name no revision.
#[tokio::test]
async fn a_handshake_that_is_refused_for_its_revision_is_tried_in_another() {
    for refusal in [
        r#"{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"2025-11-25"}}"#,
        r#"{"code":-32000,"message":"Unsupported protocol version (supported versions: 2024-11-05)"}"#,
        r#"{"code":-32600,"message":"protocolVersion 2025-11-25 is not supported"}"#,
    ] {
        let old = scripted("reply '{\"content\":[]}'").replace("2025-11-25", "2024-11-05");
        let only = format!(
            r#"case $line in
                *'"protocolVersion":"2025-11-25"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":%s}}\n' "$id" '{refusal}'; continue;;
            esac
            case $line in"#
        );
        let open = script(&old.replacen("case $line in", &only, 1)).connect().await;
        assert_eq!(open.connection.server_facts().protocol_version, "2024-11-05", "{refusal}");
        assert_eq!(open.recorder.told(), [""; 0]);
        open.close().await;
    }
    let refusal = r#""error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2030-01-01"]}}"#;
    let error = answering(&[("initialize", refusal)]).refused().await;
    assert!(error.message().contains("refused the handshake"), "{error}");
    assert_eq!(error.cause().unwrap().detail()["data"]["supported"][0], "2030-01-01");
}

/// SPEC 18.1: before the handshake, between calls and while one is open.
#[tokio::test]
async fn what_loggers_write_costs_nothing() {
    let noise = r#"echo '{"level":"info","msg":"ready"}'; echo '{'; echo '{}'; echo "{\"id\":$id,\"msg\":\"row one\"}"; echo '{"level":"info","method":"GET","status":200}'; "#;
    let server = scripted(&format!("{noise} reply '{{\"content\":[]}}'"));
    let open = script(&format!("id=1; {noise} {server}")).connect().await;
    for _ in 0..3 {
        assert_eq!(open.call("any", json!({})).await.unwrap(), r#"{"content":[]}"#);
    }
    assert_eq!(open.connection.ignored()[0], ("noise", 20));
    let shown = open.connection.noise_lines();
    assert_eq!(shown.len(), 5);
    assert_eq!(shown[0], r#"{"level":"info","msg":"ready"}"#);
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// FAULTS H4: a finite number as text is one, and everything else of another type is dropped and
/// counted. A report without its number tells a host nothing.
#[tokio::test]
async fn of_progress_what_has_another_type_is_dropped() {
    let tell = |params: &str| {
        format!(
            r#"printf '{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":%s,{params}}}}}\n' "$id";"#
        )
    };
    let told = [
        tell(r#""progress":0.5,"total":null"#),
        tell(r#""progress":"1.5","total":"NaN","message":7"#),
        tell(r#""progress":{},"message":"m""#),
    ];
    let open = script(&scripted(&format!("{} reply '{{}}'", told.concat()))).connect().await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = heard.clone();
    let progress: OnProgress = Box::new(move |params| {
        let mut params: Value = serde_json::from_str(params).unwrap();
        params.as_object_mut().unwrap().remove("progressToken");
        keep.lock().unwrap().push(params.to_string());
    });
    let params = json!({ "name": "any", "arguments": {} }).to_string();
    let (_, answer) =
        open.request(OutgoingRequest { params: &params, progress: Some(progress), ..request() });
    ended(answer).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), [r#"{"progress":0.5}"#, r#"{"progress":1.5}"#]);
    assert_eq!(open.connection.ignored()[2], ("notifications", 2));
    open.close().await;
}
