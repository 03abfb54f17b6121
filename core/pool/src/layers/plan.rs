//! The differences that a new desired state asks for (SPEC 13.1, 13.3).
//!
//! Pure and level-triggered: it compares what a session has with what it should have, and says
//! nothing of how it came about. Planning again from what a plan leads to gives an empty plan.

use std::collections::BTreeMap;

use crate::config::{Fingerprint, Share};
use crate::gates::{Shuts, WarrantId};
use crate::view::Viewed;

/// What makes a server's connection the one that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Of what it is made with.
    pub fingerprint: Fingerprint,
    /// Whether it is the pool's or the session's own.
    pub share: Share,
    /// By what decision it runs; none by the host's own word.
    pub warrant: Option<WarrantId>,
}

/// One server as a session holds it, or should hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding<'a> {
    /// Another one is asked for anew.
    pub connection: Connection,
    /// How often its gates were shut when it was asked for: what a gate has ended since is asked
    /// for anew.
    pub shuts: Shuts,
    /// Whether it runs for calls only: what is to run otherwise is wanted anew.
    pub lazy: bool,
    /// What the session makes of its catalog.
    pub viewed: Viewed<'a>,
}

/// What is to be done about a server that is held and stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldChange {
    /// To release and acquire anew: another connection, or one that is asked for in another way.
    Replaced,
    /// To filter and mark anew; the connection is not touched.
    Reviewed,
    /// To leave alone: no call is disturbed, no event is sent.
    Unchanged,
}

impl HoldChange {
    /// What leads from one holding of a server to another.
    pub fn between(old: &Holding<'_>, new: &Holding<'_>) -> HoldChange {
        let asked = |holding: &Holding<'_>| (holding.connection, holding.shuts, holding.lazy);
        if asked(old) != asked(new) {
            HoldChange::Replaced
        } else if old.viewed != new.viewed {
            HoldChange::Reviewed
        } else {
            HoldChange::Unchanged
        }
    }
}

/// What is to be done, each list sorted by name, each name in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan<'a> {
    /// To acquire.
    pub added: Vec<&'a str>,
    /// To release; its tools, prompts and resources go.
    pub removed: Vec<&'a str>,
    /// See [`HoldChange::Replaced`].
    pub replaced: Vec<&'a str>,
    /// See [`HoldChange::Reviewed`].
    pub reviewed: Vec<&'a str>,
    /// See [`HoldChange::Unchanged`].
    pub unchanged: Vec<&'a str>,
}

impl<'a> Plan<'a> {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let Plan { added, removed, replaced, reviewed, unchanged: _ } = self;
        [added, removed, replaced, reviewed].iter().all(|names| names.is_empty())
    }

    /// What is let go, before anything is asked for: what is gone makes room for what comes (SPEC
    /// 9.5).
    pub fn ends(&self) -> Vec<&'a str> {
        sorted([&self.removed, &self.replaced])
    }

    /// What is asked for.
    pub fn begins(&self) -> Vec<&'a str> {
        sorted([&self.added, &self.replaced])
    }
}

fn sorted<'a>(lists: [&Vec<&'a str>; 2]) -> Vec<&'a str> {
    let mut names: Vec<&str> = lists.into_iter().flatten().copied().collect();
    names.sort_unstable();
    names
}

/// The plan that leads one session from `current` to `desired`.
pub fn plan<'a>(
    current: &BTreeMap<&'a str, Holding<'_>>,
    desired: &BTreeMap<&'a str, Holding<'_>>,
) -> Plan<'a> {
    let removed = current.keys().filter(|name| !desired.contains_key(*name));
    let mut plan = Plan { removed: removed.copied().collect(), ..Plan::default() };
    for (name, new) in desired {
        let Some(old) = current.get(name) else {
            plan.added.push(name);
            continue;
        };
        let list = match HoldChange::between(old, new) {
            HoldChange::Replaced => &mut plan.replaced,
            HoldChange::Reviewed => &mut plan.reviewed,
            HoldChange::Unchanged => &mut plan.unchanged,
        };
        list.push(name);
    }
    plan
}

#[cfg(test)]
mod tests;
