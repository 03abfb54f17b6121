//! Streams that are odd, hostile or endless, from servers that are connected: nothing hangs, and
//! others are untouched (I-28).

use super::*;
use crate::platform;

/// SPEC 5.10, S-44: a reply after the cancel of its call changes nothing, and finds no other call.
#[tokio::test]
async fn a_reply_after_the_cancel_is_dropped() {
    let late = r#"case $calls in 1) first=$id;; *) second=$id; id=$first; reply '{"late":true}'; id=$second; reply '{"own":true}';; esac"#;
    let open = script(&scripted(late)).connect().await;
    let (id, cancelled) = open.start("any", json!({}));
    open.connection.cancel(id);
    assert_eq!(ended(cancelled).await.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(open.call("any", json!({})).await.unwrap(), r#"{"own":true}"#);
    assert_eq!(open.connection.in_flight(), 0);
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 9.4, S-24: as of a refused handshake so of a list that is refused later the error is kept;
/// that of a call has all that was said.
#[tokio::test]
async fn a_refusal_to_list_again_has_a_bound_and_that_of_a_call_has_none() {
    const WORDS: usize = 1 << 20;
    let refuse = r#"printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-5,"message":"%s"}}\n' "$id" "$(head -c 1048576 /dev/zero | tr '\0' w)""#;
    let listed = r#"reply '{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}'"#;
    let once = format!("list() {{ {listed}; list() {{ {refuse}; }}; }}");
    let server = scripted(refuse).replace(listed, "list").replace("calls=0", &once);
    let open = script(&server).connect().await;
    let said = |error: Error| error.detail()["message"].as_str().unwrap().len();
    assert_eq!(said(open.call("any", json!({})).await.unwrap_err()), WORDS);
    let kept = said(open.connection.list().await.unwrap_err());
    assert!((1 << 10..4 << 10).contains(&kept), "{kept} bytes");
    open.close().await;
}

/// SPEC 5.10: line ends of another system, a mark at the start of the stream, and blank lines are
/// no fault.
#[tokio::test]
async fn a_byte_order_mark_carriage_returns_and_blank_lines_do_no_harm() {
    let server = scripted(r#"printf '\r\n\n'; reply '{"a":1}'"#)
        .replace(r#""result":%s}\n"#, r#""result":%s}\r\n"#)
        .replace("calls=0", r"calls=0; printf '\357\273\277'");
    let open = script(&server).connect().await;
    assert_eq!(open.call("any", json!({})).await.unwrap(), r#"{"a":1}"#);
    open.close().await;
}

/// SPEC 5.10, S-44: replies to nobody, whatever their ids are, between frames of others.
#[tokio::test]
async fn replies_with_ids_that_are_none_of_ours_change_nothing() {
    let open = test_server(&[]).connect().await;
    for id in ["null", r#""abc""#, "-1", "1.5", "18446744073709551616", "{}", "[1]", "true"] {
        for rest in [r#""result":{}"#, r#""error":{"code":1,"message":"m"}"#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#);
            open.call("write", json!({ "line": line })).await.unwrap();
        }
    }
    assert_eq!(open.recorder.told(), [""; 0]);
    open.close().await;
}

/// SPEC 5.10, I-28: result and error together name their call, and fail it alone.
#[tokio::test]
async fn a_reply_with_a_result_and_an_error_fails_its_call_alone() {
    let both = r#"case $calls in
        1) held=$id;;
        2) printf '{"jsonrpc":"2.0","id":%s,"result":{},"error":{"code":1,"message":"m"}}\n' $id
           id=$held; reply '{"held":true}';;
        esac"#;
    let open = script(&scripted(both)).connect().await;
    let (_, held) = open.start("any", json!({}));
    let error = open.call("any", json!({})).await.unwrap_err();
    assert_eq!(
        (error.code(), error.outcome()),
        (ErrorCode::Protocol, Some(crate::Outcome::Unknown))
    );
    assert_eq!(&*ended(held).await.unwrap().json, r#"{"held":true}"#);
    open.close().await;
}

/// SECURITY finding 7, SPEC 4.5, I-28: depth where something reads what is inside, and not only in
/// a result.
#[tokio::test]
async fn depth_does_not_overflow_in_errors_notifications_and_lists() {
    let deep =
        "$(head -c 200000 /dev/zero | tr '\\0' '[')$(head -c 200000 /dev/zero | tr '\\0' ']')";
    let answer = r#"deep=DEEP
        printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%s}}\n' "$deep"
        printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s}}\n' "$deep"
        printf '{"jsonrpc":"2.0","method":"never/heard","unknown":%s,"params":{}}\n' "$deep"
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"m","data":%s}}\n' "$id" "$deep""#
        .replace("DEEP", deep);
    let list = r#"deep=DEEP
        reply "{\"tools\":[{\"name\":\"deep\",\"inputSchema\":{\"type\":\"object\",\"x\":$deep}},{\"name\":\"any\",\"inputSchema\":{\"type\":\"object\"}}]}""#
        .replace("DEEP", deep);
    let plain = r#"reply '{"tools":[{"name":"any","inputSchema":{"type":"object"}}]}'"#;
    let server = scripted(&answer);
    assert!(server.contains(plain));
    let open = script(&server.replace(plain, &list)).connect().await;
    assert!(open.catalog.tool("any").is_some(), "{:?}", open.catalog.skipped);
    let error = open.call("any", json!({})).await.unwrap_err();
    assert_eq!(error.outcome(), Some(crate::Outcome::Unknown), "{error}");
    assert_eq!(open.recorder.told().len(), 1);
    assert!(open.connection.list().await.is_ok(), "it lives");
    open.close().await;
}

/// SPEC 5.10, 5.6: what a dying server wrote whole counts, and half a line does not.
#[tokio::test]
async fn half_a_line_before_the_exit_spoils_nothing_that_came_before_it() {
    let dying = r#"case $calls in 1) first=$id;; *) second=$id; id=$first; reply '{"whole":true}'; printf '{"jsonrpc":"2.0","id":%s,"result":{"ha' $second; exit 0;; esac"#;
    let open = script(&scripted(dying)).connect().await;
    let (_, first) = open.start("any", json!({}));
    let error = open.call("any", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::CallInterrupted);
    assert_eq!(&*ended(first).await.unwrap().json, r#"{"whole":true}"#);
    open.close().await;
}

/// SPEC 5.10, S-24, I-17: a frame that never ends costs what the limit allows, and its own call
/// alone.
#[tokio::test]
async fn a_result_line_far_above_the_limit_leaves_other_calls_alone() {
    let server = test_server(&[]).options(|options| options.frame_bytes = 100_000);
    let open = server.connect().await;
    let (_, other) = open.start("sleep", json!({ "ms": 300 }));
    let error = open.call("big", json!({ "bytes": 30_000_000 })).await.unwrap_err();
    assert_eq!((error.code(), &error.detail()["limit"]), (ErrorCode::Limit, &"frame_bytes".into()));
    assert!(ended(other).await.unwrap().json.contains("slept"));
    open.close().await;
}

/// SPEC 4.7, S-24: 64 MiB on stderr, half of it one line, are read at once and not kept.
#[test]
fn a_flood_on_stderr_costs_no_memory() {
    const KIB_MAX: u64 = 8 << 10;
    platform::alone_in_a_process(
        "client::tests::odd_frames::a_flood_on_stderr_costs_no_memory",
        || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let flood = r#"head -c 33554432 /dev/zero | tr '\0' x >&2; echo >&2
                    yes "$(printf '%03000d' 0)" | head -c 33554432 >&2; echo >&2; echo the end >&2; reply '{}'"#;
                let mut server = script(&scripted(flood));
                server.forgets = true;
                let open = server.connect().await;
                let before = peak_kib();
                open.call("any", json!({})).await.unwrap();
                open.recorder.wait_for("stderr the end").await;
                let kept: usize = open.connection.stderr_tail().iter().map(String::len).sum();
                let grown = peak_kib() - before;
                assert!(kept <= 64 << 10, "kept {kept} bytes");
                assert!(grown <= KIB_MAX, "grew by {grown} KiB");
                open.close().await;
            });
        },
    );
}

/// The most memory that this process ever had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
