//! The differences that a new desired state asks for (SPEC 13.1, 13.3).
//!
//! Pure and level-triggered: it compares what a session has with what it should have, and says nothing of how it came
//! about. Planning again from what a plan leads to gives an empty plan.

use std::collections::BTreeMap;

use crate::config::{Fingerprint, Share};
use crate::view::View;

/// One server as a session holds it, or should hold it.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    /// The identity of its connection.
    pub fingerprint: Fingerprint,
    /// Whether the connection is the pool's or the session's own; another answer is another connection.
    pub share: Share,
    /// What the session makes of its catalog.
    pub view: View,
}

/// What is to be done, each list sorted by name, each name in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// To acquire.
    pub added: Vec<String>,
    /// To release; its tools, prompts and resources go.
    pub removed: Vec<String>,
    /// To release and acquire: another connection from here on.
    pub replaced: Vec<String>,
    /// To filter and mark anew; the connection is not touched.
    pub reviewed: Vec<String>,
    /// To leave alone: no call is disturbed, no event is sent.
    pub unchanged: Vec<String>,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let Plan { added, removed, replaced, reviewed, unchanged: _ } = self;
        [added, removed, replaced, reviewed].iter().all(|names| names.is_empty())
    }
}

/// The plan that leads one session from `current` to `desired`.
pub fn plan(current: &BTreeMap<String, Holding>, desired: &BTreeMap<String, Holding>) -> Plan {
    let mut plan = Plan::default();
    let removed = current.keys().filter(|name| !desired.contains_key(*name));
    plan.removed = removed.cloned().collect();
    for (name, new) in desired {
        let list = match current.get(name) {
            None => &mut plan.added,
            Some(old) if old.fingerprint != new.fingerprint || old.share != new.share => {
                &mut plan.replaced
            }
            Some(old) if old.view != new.view => &mut plan.reviewed,
            Some(_) => &mut plan.unchanged,
        };
        list.push(name.clone());
    }
    plan
}

#[cfg(test)]
mod tests;
