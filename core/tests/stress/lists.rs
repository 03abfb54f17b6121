//! Lists that change all the time, over connections that are lost all the time (SECURITY row 9).

use std::collections::{BTreeMap, BTreeSet};

use rig::{Rig, acquire, host, score, text, traces, until};
use serde_json::{Value, json};
use trunkline::{CallOptions, ErrorCode, EventMask, Lease, Session, Subscription};

use crate::rounds;

const SESSIONS: usize = 64;

/// One server of each era, which have their bursts in turn.
const ERAS: [&str; 2] = ["legacy", "modern"];

/// Changes for each loss.
const BURST: usize = 20;

/// Tools that are defined, defined anew and removed.
const TOOLS: usize = 8;

/// The tool that a server puts at the head of its list between the first two pages that are read of
/// it: so each connect has a change within.
const BETWEEN: &str = "between_1";

/// What the servers list beside their fixed tools: the version of each, by server and tool.
type Truth = BTreeMap<String, String>;

/// One session, and what it was told.
struct Watcher {
    session: Session,
    leases: [Lease; ERAS.len()],
    events: Subscription,
    /// The tools that it knows of by its first look and its events alone.
    told: BTreeSet<String>,
}

impl Watcher {
    /// A session that sees this from the beginning, so that no event will tell it.
    fn new(rig: &Rig, number: usize, sees: &Truth) -> Watcher {
        let session = rig.session(&format!("session-{number}"));
        let events = session.subscribe(EventMask::ALL).unwrap();
        let leases = ERAS.map(|era| host(acquire(&session, era)));
        Watcher { session, leases, events, told: sees.keys().cloned().collect() }
    }

    /// The tools of the truth as its list has them.
    fn seen(&self) -> Truth {
        let version = |definition: &str| {
            let definition: Value = serde_json::from_str(definition).unwrap();
            definition["description"].as_str().unwrap_or_default().to_owned()
        };
        let tools = self.session.tools().unwrap();
        let changing = tools
            .iter()
            .filter(|it| it.own_name.starts_with("changing_") || *it.own_name == *BETWEEN);
        changing.map(|it| (named(&it.server, &it.own_name), version(&it.definition))).collect()
    }

    /// Takes in what it was told.
    fn listen(&mut self) {
        while let Some(event) = self.events.try_next() {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            assert_ne!(event["type"], "lagged", "some events were not seen");
            if event["type"] != "tools_changed" {
                continue;
            }
            let server = event["server"].as_str().unwrap();
            let names = |of: &str| -> Vec<String> {
                let names = event[of].as_array().unwrap();
                names.iter().map(|tool| named(server, tool.as_str().unwrap())).collect()
            };
            for name in names("removed") {
                assert!(self.told.remove(&name), "{name} went before it came");
            }
            for name in names("added") {
                assert!(self.told.insert(name.clone()), "{name} came twice");
            }
            for name in names("changed") {
                assert!(self.told.contains(&name), "{name} changed before it came");
            }
        }
    }

    /// By its events alone, it knows the same.
    fn is_told(&mut self, truth: &Truth) -> bool {
        self.listen();
        self.told.iter().eq(truth.keys())
    }
}

fn named(server: &str, tool: &str) -> String {
    format!("{server}/{tool}")
}

/// The server begins anew, with what it lists then.
fn begin(truth: &mut Truth, server: &str) {
    truth.retain(|name, _| !name.starts_with(&named(server, "")));
    truth.insert(named(server, BETWEEN), BETWEEN.to_owned());
}

/// A tool that is defined anew, or removed.
struct Change {
    tool: String,
    /// How it is described from then on; one without is removed.
    version: Option<String>,
}

impl Change {
    fn new(number: usize, server: &str, truth: &Truth) -> Change {
        let tool = format!("changing_{}", number * 5 % TOOLS);
        let goes = number.is_multiple_of(3) && truth.contains_key(&named(server, &tool));
        Change { tool, version: (!goes).then(|| format!("version {number}")) }
    }

    fn arguments(&self) -> String {
        let Change { tool, version } = self;
        let arguments = match version {
            Some(version) => json!({ "define": [
                { "name": tool, "description": version, "inputSchema": { "type": "object" } },
            ] }),
            None => json!({ "remove": [tool] }),
        };
        arguments.to_string()
    }

    /// Has the server carry it out and announce it, the one that is there or the one that comes
    /// next: what a loss took is said again.
    async fn make(self, lease: &Lease, truth: &mut Truth) {
        let options = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
        while let Err(error) = lease.call_tool("change_list", &self.arguments(), &options).await {
            assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
        }
        let name = named(lease.server(), &self.tool);
        match self.version {
            Some(version) => truth.insert(name, version),
            None => truth.remove(&name),
        };
    }

    /// Kills the server while it is on its way, be it made or not.
    async fn make_in_vain(self, lease: &Lease) {
        let pid = text(lease, "pid", json!({})).await.parse().unwrap();
        let arguments = self.arguments();
        let options = CallOptions::default();
        let on_its_way = lease.call_tool("change_list", &arguments, &options);
        let (made, ()) = tokio::join!(on_its_way, async { traces::kill("KILL", pid) });
        if let Err(error) = made {
            assert_eq!(error.code(), ErrorCode::CallInterrupted, "{error}");
        }
    }
}

/// SPEC 7.1-7.3, 8.4, I-14: after each burst all sessions list exactly what the server lists,
/// though every other burst was cut by a loss, the rest of it falls into the reconnect, and the
/// server that comes changes its list between two pages; after each other loss what the server that
/// came instead lists; and who only listens to the events knows the same.
#[test]
fn no_change_of_a_list_is_lost_and_none_stays_stale() {
    let changes = rounds(500, 100_000);
    let rig = Rig::new(json!({ "limits": { "event_backlog": 1 << 16 }, "reconnect": {
        "delays_ms": { "local": [1] }, "breaker": { "window_ms": 1 }, "healthy_after_ms": 1,
    } }));
    let server = |era| {
        let lists = ["--list-changes", "--page-size", "20", "--page-changes", "1"];
        (era, rig.server(&[&["--era", era][..], &lists].concat()))
    };
    host(rig.configure(ERAS.map(server).into_iter().collect()));
    let mut truth = Truth::new();
    ERAS.iter().for_each(|era| begin(&mut truth, era));
    // Who comes after the change within the connect sees it from the beginning.
    let early = Watcher::new(&rig, SESSIONS, &truth);
    until(|| early.seen() == truth);
    let mut watchers: Vec<Watcher> =
        (0..SESSIONS).map(|number| Watcher::new(&rig, number, &truth)).collect();
    drop(early);
    for number in 0..changes {
        let (burst, place) = (number / BURST, number % BURST);
        let (era, is_cut) = (burst % ERAS.len(), (burst / ERAS.len()).is_multiple_of(2));
        let lease = &watchers[number % SESSIONS].leases[era];
        if is_cut && place == BURST / 2 {
            host(Change::new(number, ERAS[era], &truth).make_in_vain(lease));
            begin(&mut truth, ERAS[era]);
        }
        host(Change::new(number, ERAS[era], &truth).make(lease, &mut truth));
        if place + 1 < BURST {
            continue;
        }
        are_seen_and_told(&mut watchers, &truth);
        if !is_cut {
            kill(&rig, &watchers[0].leases[era]);
            begin(&mut truth, ERAS[era]);
            are_seen_and_told(&mut watchers, &truth);
        }
    }
    assert_eq!(rig.starts().len(), changes / BURST + ERAS.len(), "each loss had one start");
    score::done("lists", changes as u64);
}

/// Waits until all sessions know of this, those too that only listen.
fn are_seen_and_told(watchers: &mut [Watcher], truth: &Truth) {
    until(|| watchers.iter().all(|watcher| watcher.seen() == *truth));
    until(|| watchers.iter_mut().all(|watcher| watcher.is_told(truth)));
}

/// Kills the server, and waits until another has come.
fn kill(rig: &Rig, lease: &Lease) {
    let pid = host(text(lease, "pid", json!({}))).parse().unwrap();
    let starts = rig.starts().len();
    traces::kill("KILL", pid);
    until(|| rig.starts().len() > starts && entry_state(rig, lease.server()) == "active");
}

fn entry_state(rig: &Rig, server: &str) -> Value {
    rig.pool.status()["servers"][server]["entries"][0]["state"].clone()
}
