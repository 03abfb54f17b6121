//! A list that changes all the time, over a connection that is lost all the time (SECURITY row 9).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use trunkline::{CallOptions, EventMask, Lease, Session, Subscription};

use crate::rig::{Rig, acquire, score, text, until};
use crate::{host, rounds, traces};

const SESSIONS: usize = 64;

/// Changes between two losses.
const BURST: usize = 20;

/// Tools that are defined, defined anew and removed.
const TOOLS: usize = 8;

/// What the server lists beside its fixed tools: the version of each.
type Truth = BTreeMap<String, String>;

/// One session, and what it was told.
struct Watcher {
    session: Session,
    events: Subscription,
    /// The tools that it knows of by its events alone.
    told: BTreeSet<String>,
}

impl Watcher {
    fn new(rig: &Rig, number: usize) -> (Watcher, Lease) {
        let session = rig.session(&format!("session-{number}"));
        let events = session.subscribe(EventMask::ALL).unwrap();
        let lease = host(acquire(&session, "s"));
        (Watcher { session, events, told: BTreeSet::new() }, lease)
    }

    /// The tools of the truth as its list has them.
    fn seen(&self) -> Truth {
        let version = |definition: &str| {
            let definition: Value = serde_json::from_str(definition).unwrap();
            definition["description"].as_str().unwrap_or_default().to_owned()
        };
        let tools = self.session.tools().unwrap();
        let changing = tools.iter().filter(|tool| tool.own_name.starts_with("changing_"));
        changing.map(|tool| (tool.own_name.to_string(), version(&tool.definition))).collect()
    }

    /// Takes in what it was told.
    fn listen(&mut self) {
        while let Some(event) = self.events.try_next() {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            assert_ne!(event["type"], "lagged", "some events were not seen");
            if event["type"] != "tools_changed" {
                continue;
            }
            for name in event["removed"].as_array().unwrap() {
                let name = name.as_str().unwrap();
                assert!(self.told.remove(name), "{name} went before it came");
            }
            for name in event["added"].as_array().unwrap() {
                let name = name.as_str().unwrap().to_owned();
                assert!(self.told.insert(name.clone()), "{name} came twice");
            }
            for name in event["changed"].as_array().unwrap() {
                let name = name.as_str().unwrap();
                assert!(self.told.contains(name), "{name} changed before it came");
            }
        }
    }

    /// By its events alone, it knows the same.
    fn is_told(&mut self, truth: &Truth) -> bool {
        self.listen();
        self.told.iter().eq(truth.keys())
    }
}

/// Defines a tool anew, or removes one, and announces it.
async fn change(lease: &Lease, number: usize, truth: &mut Truth) {
    let name = format!("changing_{}", number * 5 % TOOLS);
    let arguments = if number.is_multiple_of(3) && truth.remove(&name).is_some() {
        json!({ "remove": [name] })
    } else {
        let version = format!("version {number}");
        truth.insert(name.clone(), version.clone());
        let schema = json!({ "type": "object" });
        json!({ "define": [{ "name": name, "description": version, "inputSchema": schema }] })
    };
    let options = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
    lease.call_tool("change_list", &arguments.to_string(), &options).await.unwrap();
}

/// SPEC 7.1-7.3, 8.4, I-14: after each burst all sessions list exactly what the server lists, after each loss what the server that came
/// instead lists; and who only listens to the events knows the same.
#[test]
fn no_change_of_a_list_is_lost_and_none_stays_stale() {
    let changes = rounds(500, 100_000);
    let rig = Rig::new(json!({ "limits": { "event_backlog": 1 << 16 }, "reconnect": {
        "delays_ms": { "local": [1] }, "breaker": { "window_ms": 1 }, "healthy_after_ms": 1,
    } }));
    host(rig.configure(json!({ "s": rig.server(&["--list-changes"]) })));
    let (mut watchers, leases): (Vec<Watcher>, Vec<Lease>) =
        (0..SESSIONS).map(|number| Watcher::new(&rig, number)).unzip();
    let mut truth = Truth::new();
    for number in 0..changes {
        host(change(&leases[number % SESSIONS], number, &mut truth));
        if (number + 1) % BURST > 0 {
            continue;
        }
        until(|| watchers.iter().all(|watcher| watcher.seen() == truth));
        until(|| watchers.iter_mut().all(|watcher| watcher.is_told(&truth)));
        kill(&rig, &leases[0]);
        truth.clear();
        until(|| watchers.iter().all(|watcher| watcher.seen() == truth));
        until(|| watchers.iter_mut().all(|watcher| watcher.is_told(&truth)));
    }
    assert_eq!(rig.starts().len(), changes / BURST + 1, "each loss had one start");
    score::done("lists", changes as u64);
}

/// Kills the server, and waits until another has come.
fn kill(rig: &Rig, lease: &Lease) {
    let pid = host(text(lease, "pid", json!({}))).parse().unwrap();
    let starts = rig.starts().len();
    traces::kill("KILL", pid);
    until(|| rig.starts().len() > starts && entry_state(rig) == "active");
}

fn entry_state(rig: &Rig) -> Value {
    rig.pool.status()["servers"]["s"]["entries"][0]["state"].clone()
}
