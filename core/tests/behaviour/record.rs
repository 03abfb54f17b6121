//! The events that one subscriber has been told and no step has taken yet.

use serde_json::Value;
use trunkline::Subscription;

use crate::expect::fits;

/// A subscription and what it has delivered.
pub struct Record {
    subscription: Subscription,
    events: Vec<Value>,
}

impl Record {
    pub fn new(subscription: Subscription) -> Record {
        Record { subscription, events: Vec::new() }
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
                Some(event) => self.events.push(parsed(event.json())),
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
            self.events.push(parsed(event.json()));
        }
    }

    fn find(&self, kind: &str, pattern: &Value) -> Option<usize> {
        let is_wanted = |event: &Value| event["type"] == kind && fits(pattern, event).is_ok();
        self.events.iter().position(is_wanted)
    }
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}
