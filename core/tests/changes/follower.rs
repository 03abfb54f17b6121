//! A session that looks at one server all the time, and notices whatever goes backwards.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trunkline::interface::EventKind;
use trunkline::{CallOptions, EventMask, Lease, Session, Subscription};

use crate::rig::{Rig, acquire};

/// What a server lists, or a session sees of it: definitions by name.
pub type Definitions = BTreeMap<String, String>;

/// A session, its hold on the server `s`, and what it was shown so far.
pub struct Follower {
    pub session: Session,
    pub lease: Lease,
    events: Subscription,
    /// The names, by the events alone.
    told: BTreeSet<String>,
    /// The newest start and version that were seen.
    newest: (u64, u64),
}

impl Follower {
    /// A new session of that id, which attaches to whatever is there.
    pub async fn attach(rig: &Rig, id: &str) -> Follower {
        let session = rig.session(id);
        let lease = acquire(&session, "s").await;
        let mut told: BTreeSet<String> = definitions(&session).into_keys().collect();
        let events = session.subscribe(EventMask::ALL).unwrap();
        // What came between the two is in the lists by now, and may be in the stream as well.
        told.extend(definitions(&session).into_keys());
        let mut follower = Follower { session, lease, events, told, newest: (0, 0) };
        follower.look();
        follower
    }

    /// What it sees now, which is never older than what it saw before (I-15).
    pub fn look(&mut self) -> Definitions {
        let lists = definitions(&self.session);
        let seen = newest(&lists);
        assert!(seen >= self.newest, "{seen:?} comes after {:?}", self.newest);
        self.newest = seen;
        self.take_events();
        lists
    }

    /// Whether it sees exactly that, and was told of every name in it.
    pub fn sees(&mut self, truth: &Definitions) -> bool {
        let lists = self.look();
        lists == *truth && self.told.iter().eq(lists.keys())
    }

    fn take_events(&mut self) {
        while let Some(event) = self.events.try_next() {
            assert_ne!(event.kind(), EventKind::Lagged, "this test takes its events in time");
            if event.kind() != EventKind::ToolsChanged {
                continue;
            }
            let event: Value = serde_json::from_str(event.json()).unwrap();
            let names = |member: &str| -> Vec<String> {
                serde_json::from_value(event[member].clone()).unwrap()
            };
            self.told.extend(names("added"));
            for name in names("removed") {
                self.told.remove(&name);
            }
        }
    }
}

/// The tools that a session sees.
pub fn definitions(session: &Session) -> Definitions {
    let tools = session.tools().unwrap();
    tools.iter().map(|tool| (tool.own_name.to_string(), tool.definition.to_string())).collect()
}

/// What the server lists at this moment, asked by this test itself.
pub async fn truth(lease: &Lease) -> Definitions {
    let (mut all, mut params) = (Definitions::new(), json!({}));
    loop {
        let options = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
        let page = lease.request("tools/list", &params.to_string(), &options).await.unwrap();
        let tools: Vec<Box<RawValue>> =
            serde_json::from_str(page.member("tools").unwrap().get()).unwrap();
        all.extend(tools.iter().map(|tool| (name_of(tool.get()), tool.get().to_owned())));
        let Some(cursor) = page.member("nextCursor") else { return all };
        params = json!({ "cursor": serde_json::from_str::<String>(cursor.get()).unwrap() });
    }
}

/// At quiet: every session sees what the server lists (I-14).
pub async fn settle(followers: &mut [Follower]) -> Definitions {
    let truth = truth(&followers[0].lease).await;
    crate::until(async || followers.iter_mut().all(|follower| follower.sees(&truth))).await;
    truth
}

/// The start of the server and the version that its lists were changed to last, as its tools tell them.
pub fn newest(lists: &Definitions) -> (u64, u64) {
    let number = |tool: &str| -> Option<u64> {
        let tool: Value = serde_json::from_str(lists.get(tool)?).unwrap();
        let (_, digits) = tool["description"].as_str().unwrap().rsplit_once(' ')?;
        digits.trim_end_matches(')').parse().ok()
    };
    (number("tool_1").unwrap_or(0), number("version").unwrap_or(0))
}

fn name_of(tool: &str) -> String {
    serde_json::from_str::<Value>(tool).unwrap()["name"].as_str().unwrap().to_owned()
}
