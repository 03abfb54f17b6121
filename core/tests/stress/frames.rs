//! Frames that are made wrong at random (I-28, SECURITY row 14). Those that somebody thought of are
//! in `bad_frames.rs`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rig::peak::Peak;
use rig::{HANG, Rig, host, score, testserver};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error, ErrorCode, Lease};

use crate::rounds;

/// The answer that frames are made of. Each character is one byte; `$ID` is the id of the call.
const GOOD: &str = r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"any \u00e9"}],"structuredContent":{"a":[1,-2.5e3,null],"b":{"c":"\n"}},"isError":false}}"#;

/// What is put in or in place of something.
const PIECES: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\0",
    "\u{7f}",
    "\u{ff}",
    "\u{c3}\u{28}",
    "\u{ef}\u{bb}\u{bf}",
    "$ID",
    "-1",
    "1e999",
    "18446744073709551616",
    "null",
    "true",
    "\"id\":1,",
    "\"id\":null,",
    "\"error\":{},",
    "\"error\":{\"code\":1,\"message\":\"m\"},",
    "\"method\":\"ping\",",
    "\"result\":7,",
    "\"jsonrpc\":\"1.0\",",
    "\\ud800",
    "\\u12",
    " ",
    "\r",
    "\t",
    "/**/",
    "\"isError\":\"yes\",",
    "\"content\":{},",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn piece(&mut self) -> &'static str {
        PIECES[self.roll(PIECES.len())]
    }
}

/// A frame with one to three things wrong, or by chance with none.
fn frame(dice: &mut Dice) -> String {
    let mut bytes: Vec<char> = GOOD.chars().collect();
    for _ in 0..1 + dice.roll(3) {
        let at = dice.roll(bytes.len());
        match dice.roll(6) {
            0 => bytes.truncate(at + 1),
            1 => drop(bytes.remove(at)),
            2 => bytes[at] = char::from(dice.roll(256) as u8),
            3 => drop(bytes.splice(at..at, dice.piece().chars())),
            4 => {
                let end = (at + 1 + dice.roll(20)).min(bytes.len());
                let piece = dice.piece().chars();
                drop(bytes.splice(at..end, piece));
            }
            _ => {
                let end = (at + 1 + dice.roll(40)).min(bytes.len());
                let again: Vec<char> = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
        }
        if bytes.is_empty() {
            bytes.push(' ');
        }
    }
    // A line is one frame.
    bytes.into_iter().filter(|it| *it != '\n').collect()
}

/// What a call may come to when the frame in place of its answer is wrong: its answer after all, an
/// error of the protocol, one of the server's, the loss of the connection, or, where the frame is
/// nobody's, its time.
fn is_allowed(error: &Error, line: &str) -> bool {
    match error.code() {
        ErrorCode::Protocol | ErrorCode::ServerError | ErrorCode::CallInterrupted => true,
        ErrorCode::Timeout => error.detail()["which"] == "total" && !is_its_own(line),
        _ => false,
    }
}

/// Whether the frame can be seen to be the reply to the call, so that it has to end it: what begins
/// as a reply with its id does, whatever follows, and what is JSON with one such id, wherever it
/// stands. A request of the server with that id is none.
fn is_its_own(line: &str) -> bool {
    let Ok(frame) = serde_json::from_slice::<Value>(&sent(line)) else {
        return line.starts_with(HEAD);
    };
    let has = |member| frame.get(member).is_some();
    let is_request = frame["method"].is_string() && !has("result") && !has("error");
    let id = &frame["id"];
    let has_id = id.as_u64() == Some(ID) || id.as_str() == Some(&ID.to_string());
    let is_alone = line.matches("id").count() == 1;
    !is_request && (line.starts_with(HEAD) || has_id && is_alone)
}

/// The bytes that are sent for a line, were this the call's id.
fn sent(line: &str) -> Vec<u8> {
    line.replace("$ID", &ID.to_string()).chars().map(|it| u32::from(it) as u8).collect()
}

/// What all these frames may take: SECURITY row 14.
const GROWTH_KIB_MAX: usize = 64 << 10;

/// An id that no piece has.
const ID: u64 = 7_654_321;

const HEAD: &str = r#"{"jsonrpc":"2.0","id":$ID,"#;

async fn acquired(rig: &Rig) -> Lease {
    let session = rig.session("a");
    session.acquire("s", None, &AcquireOptions::default()).await.unwrap()
}

/// SPEC 5.10, I-28: each costs its own call, or the connection, which comes back, and nothing else;
/// the answer of the call after it is the right one.
#[test]
fn a_frame_made_wrong_at_random_costs_its_own_call_at_most() {
    let seed = std::env::var("TRUNKLINE_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("TRUNKLINE_SEED={seed}");
    let wanted = rounds(5_000, 100_000);
    let rig = Rig::new(json!({ "reconnect": {
        "delays_ms": { "local": [1] }, "breaker": { "window_ms": 1 }, "healthy_after_ms": 0,
    } }));
    let mut server = rig.server(&["--frame", "said"]);
    server["command"] = json!(testserver().with_file_name("trunkline-faultserver"));
    let (mut ends, mut own) = (BTreeMap::<String, usize>::new(), Vec::new());
    host(async {
        rig.configure(json!({ "s": server })).await;
        let lease = acquired(&rig).await;
        let brief = CallOptions::from_json(r#"{"timeout_ms":200,"wait":true}"#).unwrap();
        let patient = json!({ "timeout_ms": HANG.as_millis() as u64, "wait": true });
        let patient = CallOptions::from_json(&patient.to_string()).unwrap();
        let mut dice = Dice(seed);
        let peak = Peak::begin();
        for number in 0..wanted {
            let line = frame(&mut dice);
            let arguments = json!({ "line": line }).to_string();
            let begun = Instant::now();
            let mut came = lease.call_tool("any", &arguments, &brief).await;
            if came.as_ref().is_err_and(|error| !is_allowed(error, &line)) {
                // It is late where the machine is busy: what ends the call does so in all the time
                // there is.
                came = lease.call_tool("any", &arguments, &patient).await;
            }
            let end = match came {
                Ok(_) => "ok".to_owned(),
                Err(error) => {
                    assert!(is_allowed(&error, &line), "frame {number}, {line:?}: {error}");
                    own.extend(is_its_own(&line).then(|| begun.elapsed()));
                    format!("{:?}", error.code())
                }
            };
            *ends.entry(end).or_default() += 1;
            let next = lease.call_tool("plain", "{}", &patient).await;
            let next =
                next.unwrap_or_else(|error| panic!("after frame {number}, {line:?}: {error}"));
            let next: Value = serde_json::from_str(next.json()).unwrap();
            assert_eq!(next["content"][0]["text"], "plain", "after frame {number}, {line:?}");
        }
        // Beside other tests, as in the gate, their memory is in it as well.
        let (grown, most) = (peak.grown_kib(), rounds(usize::MAX, GROWTH_KIB_MAX));
        assert!(grown <= most as u64, "{grown} KiB");
        println!("grown by {grown} KiB");
    });
    println!("{wanted} frames, {} of them wrong and yet the call's own: {ends:?}", own.len());
    assert!(ends.len() >= 4, "every kind of end: {ends:?}");
    assert!(own.len() > wanted / 4, "{}", own.len());
    ended_soon(own);
    score::done("frames/generated", wanted as u64);
}

/// Calls that their own frame ended did so at once. The machine of the gate may do other work; the
/// long form holds what is promised.
fn ended_soon(mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let (middle, most, worst) = (at(50), at(95), at(100));
    println!("ended by their own frame in {middle:?}, 95 of 100 {most:?}, {worst:?} at worst");
    let promised = Duration::from_millis(rounds(HANG.as_millis() as usize, 100) as u64);
    assert!(most <= promised, "95 of 100 ended in {most:?}, and not in {promised:?}");
}

/// What the oracle goes by.
#[test]
fn a_frame_is_a_calls_own_where_its_id_can_be_read() {
    let own = [
        GOOD,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{"a":nope}}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":$ID,\u{ff}",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"ping","result":7}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"method":"ping","result""#,
        r#"{"jsonrpc":"1.0", "result":{}, "id":"$ID"}"#,
    ];
    let nobodys = [
        "",
        r#"{"jsonrpc":"2.0","id":$I"#,
        r#"{"jsonrpc":"2.0","id":$ID1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":$ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"method":"ping","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"[{"jsonrpc":"2.0","id":$ID,"result":{}}]"#,
    ];
    for line in own {
        assert!(is_its_own(line), "{line}");
    }
    for line in nobodys {
        assert!(!is_its_own(line), "{line}");
    }
}
