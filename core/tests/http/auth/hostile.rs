//! The hostile authorization server: a table of what it says, and what must come of it (S-30 to
//! S-33, S-36, S-37).

use std::collections::BTreeSet;
use std::process::Command;

use rig::person::{assert_shows_no_secret, guarded, options, visit};
use rig::{Folder, Rig, apart, host, score};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error};

use crate::trap::Trap;

/// A folder that is not there, and that a case tries to take away when it begins: so the trace has
/// the port of its server.
const MAY_DIAL: &str = "/nowhere/may-dial-";

const CASES: &str = include_str!("hostile.json");

/// S-30, S-31, S-32, S-33, S-36, S-37, S-48: nothing of what a server or its authorization server
/// says leads to another place, and nothing of ours arrives there.
#[test]
fn a_hostile_authorization_server_gets_nothing() {
    let test = rig::this_test!();
    if apart::given(test).is_none() {
        return traced(test);
    }
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        if let Err(why) = check(case) {
            wrong.push(format!("{}: {why}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    score::done("sign-in", cases.len() as u64);
}

/// The test in a process of its own, since other tests listen too. Each system call of it that
/// dials is traced: it goes to a server of the case, whatever that says.
fn traced(test: &str) {
    let folder = Folder::new();
    let file = folder.join("trace");
    let mut strace = Command::new("strace");
    let calls = "trace=connect,sendto,sendmsg,sendmmsg,?rmdir,unlinkat";
    strace.args(["-f", "--seccomp-bpf", "-qq", "-e", calls, "-o"]);
    strace.arg(&file).arg(std::env::current_exe().unwrap());
    let output = apart::again_by(strace, test, &Value::Null).output().expect("strace is installed");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{test} failed in its own process: {said}{why}");
    let trace = std::fs::read_to_string(&file).unwrap();
    let (mut port, mut cases, mut dials, mut forbidden) = ("", 0, 0, Vec::new());
    for line in trace.lines() {
        if let Some((_, begun)) = line.split_once(MAY_DIAL) {
            (port, cases) = (begun.split('"').next().unwrap(), cases + 1);
        } else if line.contains("sa_family=AF_INET") {
            dials += 1;
            let is_here = line.contains("inet_addr(\"127.0.0.1\")");
            let is_allowed = is_here && line.contains(&format!("sin_port=htons({port})"));
            forbidden.extend((!is_allowed).then_some(line));
        }
    }
    assert!(forbidden.is_empty(), "{forbidden:#?}");
    assert!(cases >= 60 && dials > cases, "{dials} dials in {cases} cases");
}

fn check(case: &Value) -> Result<(), String> {
    let trap = Trap::new();
    let filled = case.to_string().replace("$other", &trap.origin());
    let case: Value = serde_json::from_str(&filled).unwrap();
    let rig = Rig::new(json!({}));
    let (_remote, config) = guarded(&rig, &case["ways"], case["oauth"].clone());
    let url = config["url"].as_str().unwrap();
    let port = url.rsplit(':').next().and_then(|rest| rest.split('/').next());
    std::fs::remove_dir(format!("{MAY_DIAL}{}", port.unwrap())).expect_err("it is not there");
    let before = listening();
    assert!(!before.is_empty(), "the trap's port is one of them");
    let mut opened = BTreeSet::new();
    let mut look = || opened.extend(listening().difference(&before).cloned());
    let came = host(attempt(&rig, config, &case, &mut look));
    look();
    assert_shows_no_secret(&rig, came.as_ref().err().map(|(_, error)| error));
    if !opened.is_empty() {
        return Err(format!("it listens: {opened:?}; {came:?}"));
    }
    if !trap.is_untouched() {
        return Err(format!("it went to another place; {came:?}"));
    }
    let expected = &case["expect"];
    let found = match &came {
        Ok(()) => json!("signed in"),
        Err((at, error)) => {
            let mut found = json!({ "at": at, "code": error.code().name() });
            if error.is_retryable() != error.code().is_retryable() {
                found["retryable"] = error.is_retryable().into();
            }
            for name in ["refused", "limit", "status"] {
                if let Some(what) = error.detail().get(name) {
                    found[name] = what.clone();
                }
            }
            found
        }
    };
    if found == *expected {
        return Ok(());
    }
    Err(format!("{found}, not {expected}; {came:?}"))
}

/// Signs in and calls a tool; where it ended otherwise. Looks while the person is away at the
/// authorization server, and when they are back.
pub(super) async fn attempt(
    rig: &Rig,
    config: Value,
    case: &Value,
    look: &mut impl FnMut(),
) -> Result<(), (&'static str, Error)> {
    rig.configure(json!({ "s": config })).await;
    let session = rig.session("a");
    let patience = AcquireOptions::default();
    let acquire = || session.acquire("s", None, &patience);
    acquire().await.err().expect("it wants a token");
    let begun = rig.pool.sign_in("s", &options()).await.map_err(|error| ("sign_in", error))?;
    look();
    let back = visit(begun["url"].as_str().unwrap());
    look();
    let back = match case["replace"].as_array().map(Vec::as_slice) {
        Some([from, to]) => back.replace(from.as_str().unwrap(), to.as_str().unwrap()),
        _ => back,
    };
    let finished = rig.pool.finish_sign_in(&back).await;
    if case["twice"] == json!(true) {
        rig.pool.finish_sign_in(&back).await.map_err(|error| ("again", error))?;
    }
    finished.map_err(|error| ("finish", error))?;
    let lease = acquire().await.map_err(|error| ("acquire", error))?;
    let options = CallOptions::default();
    lease.call_tool("echo", r#"{"message":"hi"}"#, &options).await.map_err(|e| ("call", e))?;
    Ok(())
}

/// The ports of this process on which it listens (S-36).
fn listening() -> BTreeSet<String> {
    let own: BTreeSet<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .collect();
    let mut found = BTreeSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let table = std::fs::read_to_string(table).unwrap_or_default();
        for row in table.lines().skip(1) {
            let row: Vec<&str> = row.split_whitespace().collect();
            if row[3] == "0A" && own.contains(&format!("socket:[{}]", row[9])) {
                found.insert(row[1].to_owned());
            }
        }
    }
    found
}
