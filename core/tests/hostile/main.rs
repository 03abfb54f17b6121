//! What hostile settings start while nobody let them: nothing (SPEC 11.1, 12.5; I-22).
#![cfg(target_os = "linux")]

mod containers;
mod generate;
#[path = "../rig/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod rig;
#[path = "../supervisor/traces.rs"]
#[allow(dead_code, reason = "the supervisor's tests use the rest")]
mod traces;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use containers::Container;
use generate::{ARGUMENTS, Dice, Hostile, hostile};
use rig::{HANG, Rig, testserver};
use serde_json::{Value, json};
use trunkline::{
    Error, HandlerKind, Handlers, LoadOptions, PoolOptions, Refusal, ServerRequest, Session,
    SourceName,
};

/// How many files there are, each in one of the four states.
const FILES: usize = 2_000;

/// Valid ones that are approved, to see what their program receives.
const APPROVED: usize = 30;

fn host<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn seed() -> u64 {
    let seed = std::env::var("TRUNKLINE_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("TRUNKLINE_SEED={seed}");
    seed
}

/// The number of a file that is valid, and stays.
const VALID: usize = usize::MAX;

/// A pool in which nothing of a file may run, why, and a session that wants everything.
struct Place {
    rig: Rig,
    session: Session,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    Rejected,
    Untrusted,
    Excluded,
}

/// How often the host was asked for a value.
static ASKED: AtomicUsize = AtomicUsize::new(0);

async fn unasked(_: ServerRequest) -> Result<String, Refusal> {
    ASKED.fetch_add(1, Ordering::Relaxed);
    Ok(json!({ "value": "canary" }).to_string())
}

impl Place {
    fn new(state: State) -> Place {
        let trusted = state != State::Untrusted;
        let mut options = json!({ "approvals": "memory", "trusted": trusted, "commands": true });
        if state == State::Excluded {
            options["excluded"] = json!(["*"]);
        }
        let rig = Rig::in_workspace_with(|workspace| {
            options["workspace"] = json!(workspace);
            let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
            options.handlers = Handlers::new()
                .with(HandlerKind::Inputs, unasked)
                .with(HandlerKind::Secrets, unasked);
            options
        });
        let session = rig.session_with(json!({ "id": "a" }));
        Place { rig, session, state }
    }

    /// The source that the state is about.
    fn source(&self) -> &'static str {
        if self.state == State::Excluded { "user" } else { "project" }
    }

    /// Makes a hostile file the source, by a text or on the disk; the source, and what became of it.
    async fn put(&self, number: usize, hostile: &Hostile) -> (SourceName, Result<Value, Error>) {
        let pool = &self.rig.pool;
        if number % 16 < 8 {
            let file = self.rig.path(&format!("hostile.{}", hostile.container.extension()));
            std::fs::write(&file, &hostile.text).unwrap();
            let source = format!("{}:{}", self.source(), file.display()).parse().unwrap();
            let options = json!({ "source": self.source() }).to_string();
            let options = LoadOptions::from_json(&options).unwrap();
            return (source, pool.load(file, &options).await);
        }
        let source = self.source().parse().unwrap();
        let report = pool.set_source(&source, Some(&hostile.text));
        (source, report)
    }

    async fn requests(&self) -> Vec<Value> {
        self.rig.pool.approvals().await.unwrap()["requests"].as_array().unwrap().clone()
    }

    /// Puts one in, looks at what a person is shown, and asks for it in every way; how many requests there were.
    async fn face(&self, number: usize, hostile: &Hostile) -> usize {
        let (source, report) = self.put(number, hostile).await;
        let requests = self.requests().await;
        if number == VALID {
            assert_eq!(requests.len(), 1, "{report:?}");
        }
        for request in &requests {
            is_exact(number, request, hostile);
            if self.state == State::Rejected {
                let (server, hash) = (&request["server"], &request["hash"]);
                let (server, hash) = (server.as_str().unwrap(), hash.as_str().unwrap());
                self.rig.pool.reject(server, hash).await.unwrap();
            }
        }
        let acquired = self.session.acquire(&hostile.server, None, &Default::default()).await;
        assert!(acquired.is_err(), "{number} runs");
        assert!(self.session.tools().unwrap().is_empty());
        if number != VALID {
            self.rig.pool.set_source(&source, None).unwrap();
        }
        requests.len()
    }
}

/// SPEC 12.5: what a person is shown is what would run, byte by byte, and nothing of it reaches their terminal.
fn is_exact(number: usize, request: &Value, hostile: &Hostile) {
    if let (Some(argv), true) = (&hostile.argv, request["exact"]["argv"].is_array()) {
        assert_eq!(request["exact"]["argv"], json!(argv), "{number}");
    }
    let line = request["escaped"]["line"].as_str().unwrap();
    assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{number}: {line:?}");
    assert!(!request.to_string().contains("canary"), "{number}: a value is shown");
}

/// SPEC 11.1, 11.4, 11.6, 12.3, S-04: while they are pending, rejected, untrusted or excluded, the trace of every system call of the
/// process has no start of theirs and no connection to them; that of a server that may run, and of one that may be dialled, it has.
#[test]
fn what_nobody_let_in_starts_and_dials_nothing() {
    const TEST: &str = "what_nobody_let_in_starts_and_dials_nothing";
    if let Some(given) = traces::in_host(TEST) {
        return face_all(given.as_u64().unwrap());
    }
    let rig = Rig::new(json!({}));
    let file = rig.path("trace");
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-s",
        "256",
        "-e",
        "trace=execve,execveat,connect,sendto,sendmsg,sendmmsg",
        "-o",
    ]);
    strace.arg(&file).arg(std::env::current_exe().unwrap());
    let mut strace = traces::again_by(strace, TEST, &json!(seed()));
    strace.env("TRUNKLINE_TESTSERVER", testserver());
    let output = strace.output().expect("strace is installed");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    print!("{said}");
    let trace = std::fs::read_to_string(&file).unwrap();
    let server = testserver().to_str().unwrap();
    let starts = |line: &&str| line.contains("execve") && line.contains(server);
    assert_eq!(trace.lines().filter(starts).count(), 1, "the one that may run:\n{trace}");
    let dials = |line: &&str| line.contains("connect(") && line.contains("htons(1)");
    assert!(trace.lines().any(|line| dials(&line)), "the one that may be dialled:\n{trace}");
    let own = format!("execve({:?},", std::env::current_exe().unwrap());
    let (mut own_starts, mut others) = (0, Vec::new());
    for line in trace.lines() {
        if line.contains("execve") && !line.contains(" resumed>") {
            // The supervisor is a program without a path.
            let of_ours = line.contains("execveat(") && line.contains(", \"\", [\"trunkline-");
            own_starts += usize::from(line.contains(&own));
            if !of_ours && !line.contains(&own) && !starts(&line) {
                others.push(line);
            }
        }
        let dials = line.contains("connect(") || line.contains("sin_port") || line.contains("sin6");
        if line.contains("nowhere") || dials && !line.contains("htons(1)") {
            others.push(line);
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert_eq!(own_starts, 1, "the test itself:\n{trace}");
    rig::score::done("unapproved", FILES as u64);
}

fn face_all(seed: u64) {
    let control = Rig::new(json!({}));
    let places =
        [State::Pending, State::Rejected, State::Untrusted, State::Excluded].map(Place::new);
    let asked = host(async {
        // Port 1 of the host itself, where nobody listens.
        let dialled = json!({ "url": "http://127.0.0.1:1/" });
        control.configure(json!({ "s": control.server(&[]), "d": dialled })).await;
        let session = control.session("a");
        drop(rig::acquire(&session, "s").await);
        assert!(session.acquire("d", None, &Default::default()).await.is_err());
        let (mut asked, mut containers) = ([0; 4], [0; 5]);
        for number in 0..FILES {
            let hostile = hostile(number, seed);
            // Each kind of file meets each state, by a text and on the disk.
            let place = number / 16 % places.len();
            let requests = places[place].face(number, &hostile).await;
            asked[place] += requests;
            containers[hostile.container as usize] += requests;
        }
        assert!(containers.iter().all(|requests| *requests > 10), "{containers:?}");
        asked
    });
    assert_eq!(ASKED.load(Ordering::Relaxed), 0, "the host was asked for what may not run");
    println!("{FILES} files, requests in the states: {asked:?}");
    assert!(asked[0] > FILES / 20 && asked[1] > FILES / 20, "{asked:?}");
    assert_eq!(asked[2..], [0, 0], "asked for what may not run anyway");
}

/// What notes the arguments that it gets, and is the test server then.
const NOTING: &str = r#"#!/bin/sh
printf '%s\0' "$0" "$@" > "$0.argv"
exec "$TESTSERVER"
"#;

/// SPEC 12.5, 12.6: what was shown, and approved, is what the program receives, byte by byte.
#[test]
fn what_is_approved_is_what_the_program_receives() {
    let mut dice = Dice::new(seed());
    // What has a control character or a byte order mark is no configuration.
    let arguments: Vec<&str> = ARGUMENTS
        .into_iter()
        .filter(|text| !text.chars().any(|it| it.is_control() || it == '\u{feff}'))
        .collect();
    let place = Place::new(State::Pending);
    host(async {
        for number in 0..APPROVED {
            let program = place.rig.path(&format!("noting-{number}"));
            std::fs::write(&program, NOTING).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            std::fs::set_permissions(&program, mode).unwrap();
            let mut args: Vec<String> =
                (0..1 + dice.roll(8)).map(|_| dice.pick(&arguments).to_owned()).collect();
            args.push(dice.pick(&["x", "\u{202e}", "\" "]).repeat(1 + dice.roll(30_000)));
            let argv = [vec![program.to_str().unwrap().to_owned()], args.clone()].concat();
            let entry =
                json!({ "command": program, "args": args, "env": { "TESTSERVER": testserver() } });
            let text = json!({ "mcpServers": { "s": entry } }).to_string();
            let (server, container) = ("s".to_owned(), Container::Common);
            let hostile = Hostile { text, server, argv: Some(argv.clone()), container };
            place.face(VALID, &hostile).await;
            let request = place.requests().await.remove(0);
            assert_eq!(request["exact"]["argv"], json!(argv));
            let noted = place.rig.path(&format!("noting-{number}.argv"));
            assert!(!noted.exists());
            place.rig.pool.approve("s", request["hash"].as_str().unwrap()).await.unwrap();
            let states = place.rig.pool.settled(Some(HANG)).await.unwrap();
            assert_eq!(states["servers"]["s"]["state"], "ready", "{states}");
            let received = std::fs::read(&noted).unwrap();
            let expected: Vec<u8> =
                argv.iter().flat_map(|it| [it.as_bytes(), b"\0"].concat()).collect();
            assert!(received == expected, "{number}: {:?}", String::from_utf8_lossy(&received));
            place.rig.pool.set_source(&"project".parse().unwrap(), None).unwrap();
        }
    });
}
