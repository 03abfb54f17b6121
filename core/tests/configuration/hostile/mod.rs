//! What hostile settings start, dial and write while nobody let them: nothing (SPEC 11.1, 12.5,
//! S-01, S-02).
#![cfg(target_os = "linux")]

mod changed;
mod containers;
mod generate;
mod traced;

use std::sync::atomic::{AtomicUsize, Ordering};

use changed::Changing;
use containers::Container;
use generate::{ARGUMENTS, Aim, Dice, Hostile, hostile};
use rig::{HANG, Rig, apart, host, testserver};
use serde_json::{Value, json};
use traced::Folders;
use trunkline::{
    Error, ErrorCode, HandlerKind, Handlers, LoadOptions, PoolOptions, Refusal, ServerRequest,
    Session, SourceName,
};

/// How many files there are, each in one of the four states.
const FILES: usize = 2_000;

/// How many of them are let in, to see that the trace has that.
const OPEN: usize = 24;

/// Valid ones that are approved, to see what their program receives.
const APPROVED: usize = 30;

fn seed() -> u64 {
    let seed = std::env::var("TRUNKLINE_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("TRUNKLINE_SEED={seed}");
    seed
}

/// The number of a file that is valid, and stays.
const VALID: usize = usize::MAX;

/// A pool in which nothing of a file may run, why, and a session that wants everything; where it
/// may, one that wants nothing by itself, so that each of its acquires is one start or one dial.
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
    /// Everything is let in.
    Open,
}

impl State {
    /// What is said of a server that would run otherwise.
    fn reason(self) -> Option<&'static str> {
        match self {
            State::Pending => Some("pending_approval"),
            State::Rejected => Some("rejected"),
            State::Untrusted => Some("untrusted"),
            State::Excluded => Some("excluded"),
            State::Open => None,
        }
    }
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
        let mut options = json!({ "trusted": trusted, "commands": true });
        if state == State::Excluded {
            options["excluded"] = json!(["*"]);
        }
        let rig = Rig::in_workspace_with(|workspace| {
            let folder = workspace.parent().unwrap();
            // Of what nobody decided, and nobody let in, nothing is kept.
            let kept = if state == State::Rejected { traced::KEPT } else { "unkept" };
            options["workspace"] = json!(workspace);
            options["approvals"] = json!(folder.join(kept).join("approvals.json"));
            options["cache"] = json!(folder.join("unkept"));
            let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
            options.handlers = Handlers::new()
                .with(HandlerKind::Inputs, unasked)
                .with(HandlerKind::Secrets, unasked);
            options
        });
        let wanted = if state == State::Open { json!([]) } else { json!("all") };
        let session = rig.session_with(json!({ "id": "a", "servers": wanted }));
        Place { rig, session, state }
    }

    /// The source that the state is about.
    fn source(&self) -> &'static str {
        if matches!(self.state, State::Excluded | State::Open) { "user" } else { "project" }
    }

    /// Makes a hostile file the source, by a text or on the disk; the source, and what became of
    /// it.
    async fn put(&self, number: usize, hostile: &Hostile) -> (SourceName, Result<Value, Error>) {
        let pool = &self.rig.pool;
        if generate::is_on_disk(number) {
            let file = self.rig.path(&format!("{}{}", traced::FILE, hostile.container.extension()));
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

    /// Puts one in, looks at what a person is shown, and asks for it in every way; how many
    /// requests there were.
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
        let error = acquired.err().unwrap_or_else(|| panic!("{number} runs"));
        let reason = error.detail().get("reason").and_then(Value::as_str);
        if hostile.is_well_formed {
            let expected = (ErrorCode::NotAdmitted, self.state.reason());
            assert_eq!((error.code(), reason), expected, "{number}: {error} {report:?}");
        }
        // Whatever else is wrong with it, nobody tried it.
        let untried = [ErrorCode::NotAdmitted, ErrorCode::InvalidConfig];
        assert!(untried.contains(&error.code()), "{number}: {error:?}");
        assert!(self.session.tools().unwrap().is_empty());
        if number != VALID {
            self.rig.pool.set_source(&source, None).unwrap();
        }
        requests.len()
    }

    /// Lets some of the well-formed ones run, which the trace has to show.
    async fn let_in(&self, seed: u64, folders: &Folders) -> LetIn {
        let aim = Aim { programs: &folders.let_in, port: traced::LET_IN };
        let (mut programs, mut remotes) = (0, 0);
        let all = (0..FILES).map(|number| (number, hostile(number, seed, &aim)));
        for (number, hostile) in all.filter(|(_, hostile)| hostile.is_well_formed).take(OPEN) {
            let (source, report) = self.put(number, &hostile).await;
            let acquired = self.session.acquire(&hostile.server, None, &Default::default()).await;
            let error = acquired.err().expect("it starts, and ends");
            assert_ne!(error.code(), ErrorCode::NotAdmitted, "{number}: {error} {report:?}");
            *if hostile.argv.is_some() { &mut programs } else { &mut remotes } += 1;
            self.rig.pool.set_source(&source, None).unwrap();
        }
        assert!(programs > OPEN / 2 && remotes > 1, "{programs} {remotes}");
        [programs, remotes, programs]
    }
}

/// SPEC 12.5, 18.9: what a person is shown is what would run, byte by byte, and nothing of it
/// reaches their terminal. A program below the home folder is shown with that folder.
fn is_exact(number: usize, request: &Value, hostile: &Hostile) {
    if let (Some(argv), true) = (&hostile.argv, request["exact"]["argv"].is_array()) {
        let mut argv = argv.clone();
        if let Some(below_home) = argv.first().and_then(|program| program.strip_prefix("~/")) {
            argv[0] = format!("{}/{below_home}", std::env::var("HOME").unwrap());
        }
        assert_eq!(request["exact"]["argv"], json!(argv), "{number}");
    }
    let line = request["escaped"]["line"].as_str().unwrap();
    assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{number}: {line:?}");
    assert!(!request.to_string().contains("canary"), "{number}: a value is shown");
}

/// SPEC 11.1, 11.4, 11.6, 12.3, S-01, S-02, S-04: while they are pending, rejected, untrusted or
/// excluded, and after one field of what was approved is another, the trace of every system call of
/// the process has no start of theirs, no connection to them and no write; that of the same servers
/// once somebody lets them in it has.
#[test]
fn what_nobody_let_in_starts_and_dials_nothing() {
    let test = rig::this_test!();
    if let Some(given) = apart::given(test) {
        return face_all(given["seed"].as_u64().unwrap(), &Folders::of_json(&given["folders"]));
    }
    let rig = Rig::new(json!({}));
    let folders = Folders::new(&rig, |folder| {
        let hostile = (0..FILES).map(|number| folder.join(format!("hostile-{number}")));
        hostile.chain(changed::programs(folder)).collect()
    });
    let given = json!({ "seed": seed(), "folders": folders.to_json() });
    let (said, trace) = traced::run(&rig, &folders, test, &given);
    print!("{said}");
    assert!(trace.others.is_empty(), "{}", trace.others.join("\n"));
    assert_eq!(trace.own_starts, 1, "the test itself");
    assert_eq!(trace.server_starts, 1, "the one that may run");
    assert!(trace.own_dials > 0, "the one that may be dialled");
    assert!(trace.own_writes > 0, "decisions are kept");
    let told = said.lines().find_map(|line| line.strip_prefix("let in: ")).unwrap();
    assert_eq!(json!(trace.let_in).to_string(), told, "starts, dials and writes of what is let in");
    assert_eq!(Folders::noted(&folders.shut), 0);
}

/// What somebody let in, as it has to be in the trace: starts, dials and files that are written.
pub type LetIn = [usize; 3];

fn face_all(seed: u64, folders: &Folders) {
    let control = Rig::new(json!({}));
    let places =
        [State::Pending, State::Rejected, State::Untrusted, State::Excluded].map(Place::new);
    let open = Place::new(State::Open);
    let changing = Changing::new(folders);
    host(async {
        let own = format!("http://127.0.0.1:{}/", traced::OWN);
        control.configure(json!({ "s": control.server(&[]), "d": { "url": own } })).await;
        let session = control.session("a");
        drop(rig::acquire(&session, "s").await);
        assert!(session.acquire("d", None, &Default::default()).await.is_err());
    });
    let (files, changes, let_in) = traced::between(|| {
        host(async {
            let files = face_in(&places, seed, folders).await;
            let mut let_in = open.let_in(seed, folders).await;
            let changes = changing.face(&mut let_in).await;
            (files, changes, let_in)
        })
    });
    assert_eq!(ASKED.load(Ordering::Relaxed), 0, "the host was asked for what may not run");
    println!("let in: {}", json!(let_in));
    // A trace that shows something makes the test red, and its row with it.
    rig::score::done("unapproved/files", files);
    rig::score::done("unapproved/changes", changes);
}

/// Shows every file to one of the places; how many there were.
async fn face_in(places: &[Place; 4], seed: u64, folders: &Folders) -> u64 {
    let aim = Aim { programs: &folders.shut, port: traced::SHUT };
    let (mut asked, mut containers, mut well_formed, mut faced) = ([0; 4], [0; 5], 0, 0);
    for number in 0..FILES {
        let hostile = hostile(number, seed, &aim);
        // Each kind of file meets each state, by a text and on the disk.
        let place = number / 16 % places.len();
        let requests = places[place].face(number, &hostile).await;
        asked[place] += requests;
        containers[hostile.container as usize] += requests;
        well_formed += usize::from(hostile.is_well_formed);
        faced += 1;
    }
    println!("{FILES} files, {well_formed} of them well-formed, requests in the states: {asked:?}");
    assert!(well_formed > FILES / 20, "{well_formed}");
    assert!(containers.iter().all(|requests| *requests > 10), "{containers:?}");
    assert!(asked[0] > FILES / 20 && asked[1] > FILES / 20, "{asked:?}");
    assert_eq!(asked[2..], [0, 0], "asked for what may not run anyway");
    faced
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
            let hostile =
                Hostile { text, server, argv: Some(argv.clone()), container, is_well_formed: true };
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
