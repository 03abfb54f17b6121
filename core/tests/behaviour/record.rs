//! The events that one subscriber has been told and no step has taken yet.

use serde_json::Value;
use trunkline::Subscription;

use rig::expect::fits;

/// A subscription and what it has delivered.
pub struct Record {
    subscription: Subscription,
    /// What no step has taken.
    events: Vec<Value>,
    /// Everything.
    told: Vec<Value>,
}

impl Record {
    pub fn new(subscription: Subscription) -> Record {
        Record { subscription, events: Vec::new(), told: Vec::new() }
    }

    /// A session's record, which begins with what the pool's has of it from between its opening,
    /// which came after the event numbered `before`, and its subscription.
    pub fn of_session(
        subscription: Subscription,
        id: &str,
        before: u64,
        pool: &mut Record,
    ) -> Record {
        pool.gather();
        let last = number(&parsed(subscription.snapshot()));
        let is_early =
            |event: &&Value| event["session"] == id && (before + 1..=last).contains(&number(event));
        let events = pool.told.iter().filter(is_early).cloned().collect();
        Record { subscription, events, told: Vec::new() }
    }

    /// Takes the first event of that type that fits, and the earlier ones of the same type.
    pub async fn wait(&mut self, kind: &str, pattern: &Value) -> Result<Value, String> {
        loop {
            self.gather();
            if let Some(at) = self.find(kind, pattern) {
                let found = self.events[at].clone();
                let mut place = 0;
                self.events.retain(|event| {
                    place += 1;
                    place > at + 1 || event["type"] != kind
                });
                return Ok(found);
            }
            match self.subscription.next().await {
                Some(event) => self.add(parsed(event.json())),
                None => return Err(format!("the stream ended without {kind}: {:?}", self.events)),
            }
        }
    }

    /// Whether an event of that type that fits is there now.
    pub fn has(&mut self, kind: &str, pattern: &Value) -> bool {
        self.gather();
        self.find(kind, pattern).is_some()
    }

    /// What is left, for the message of a step that waited in vain.
    pub fn left(&self) -> String {
        Value::from(self.events.clone()).to_string()
    }

    fn gather(&mut self) {
        while let Some(event) = self.subscription.try_next() {
            self.add(parsed(event.json()));
        }
    }

    fn add(&mut self, event: Value) {
        self.told.push(event.clone());
        self.events.push(event);
    }

    fn find(&self, kind: &str, pattern: &Value) -> Option<usize> {
        let is_wanted = |event: &Value| event["type"] == kind && fits(pattern, event).is_ok();
        self.events.iter().position(is_wanted)
    }
}

/// Of an event, or the one that a snapshot was taken after.
pub fn number(told: &Value) -> u64 {
    told["seq"].as_u64().unwrap_or_default()
}

pub fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}
