//! The layers of configuration: several sources, each a map of servers, and for each name the one
//! that counts (SPEC 10.1, 10.2).
//!
//! ```text
//! extension < user < project < workspace < managed < session < launch < runtime
//! ```
//!
//! 1. The entry of the highest scope counts, whole: nothing is mixed. Within a scope the source
//!    that was declared last counts, and of extensions the first.
//! 2. An entry that is wrong counts as well: what it is above does not show through, unless it is
//!    one that somebody has to approve. Which of those count is decided by who knows the decisions,
//!    of [`Layers::stacks`].
//! 3. A source that is replaced keeps its place; one that is removed and comes again is the newest.
//! 4. What is equal by meaning stays the same [`Defined`], by address, so that a comparison has
//!    little to do (SPEC 13.3).
//! 5. Nothing is expanded, admitted or granted here, and there is no IO.

mod contents;
mod name;
pub mod plan;
pub(crate) mod scope;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use contents::{Contents, Defined, SelfGrant, SourceEntry};
pub use name::SourceName;
pub use scope::Scope;

use crate::gates::GateLists;
use crate::settings::Lists;

/// The sources of a pool.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    sources: BTreeMap<SourceName, Layer>,
    declared: u64,
    off: BTreeSet<SourceName>,
}

#[derive(Clone, Debug)]
struct Layer {
    /// When it was declared, among the others.
    number: u64,
    contents: Arc<Contents>,
}

/// Whether a source counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Switch {
    /// It does.
    On,
    /// It is as if it were empty, until it is switched on.
    Off,
}

/// Whether a workspace is trusted (SPEC 11.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkspaceTrust {
    /// It is: what it holds may start once it is approved.
    Trusted,
    /// It is not: nothing starts but what the host's own code gave, or what it let.
    Untrusted,
}

/// The entry that counts for a name, and where it comes from.
#[derive(Clone, Debug)]
pub struct Winner {
    /// The source.
    pub source: Arc<SourceName>,
    /// What it says.
    pub defined: Arc<Defined>,
}

impl Layers {
    /// Replaces a source whole, or declares it; what it had, if it was there. Entries of equal
    /// meaning at the same place stay the same [`Defined`].
    pub fn put(&mut self, name: SourceName, mut contents: Contents) -> Option<Arc<Contents>> {
        match self.sources.get_mut(&name) {
            Some(layer) => {
                contents.keep_equals_of(&layer.contents);
                Some(std::mem::replace(&mut layer.contents, Arc::new(contents)))
            }
            None => {
                self.declared += 1;
                let layer = Layer { number: self.declared, contents: Arc::new(contents) };
                self.sources.insert(name, layer);
                None
            }
        }
    }

    /// Removes a source; what it had, if it was there.
    pub fn remove(&mut self, name: &SourceName) -> Option<Arc<Contents>> {
        self.sources.remove(name).map(|layer| layer.contents)
    }

    /// Replaces one server of a source, or with nothing takes it out; whether it was there. All
    /// else of the source stays as it is.
    pub fn set(&mut self, name: &SourceName, server: &str, entry: Option<SourceEntry>) -> bool {
        if !self.sources.contains_key(name) && entry.is_some() {
            self.put(name.clone(), Contents::default());
        }
        let Some(layer) = self.sources.get_mut(name) else { return false };
        let before = layer.contents.servers.get(server);
        let was_there = before.is_some();
        match entry {
            // What is equal stays the same by address.
            Some(entry) if before.is_some_and(|before| before.entry == entry) => {}
            Some(entry) => {
                let defined = Arc::new(Defined { entry, place: None });
                Arc::make_mut(&mut layer.contents).servers.insert(server.into(), defined);
            }
            None if was_there => drop(Arc::make_mut(&mut layer.contents).servers.remove(server)),
            None => {}
        }
        was_there
    }

    /// Switches a source, or with a name without a part of its own every source of the scope, those
    /// that come later included; whether that is a change.
    pub fn switch(&mut self, name: &SourceName, to: Switch) -> bool {
        match to {
            Switch::Off => self.off.insert(name.clone()),
            Switch::On => self.off.remove(name),
        }
    }

    /// Whether a source counts.
    pub fn is_on(&self, name: &SourceName) -> bool {
        !self.off.contains(name) && !self.off.contains(&SourceName::of_scope(name.scope()))
    }

    /// What a source says.
    pub fn contents(&self, name: &SourceName) -> Option<&Arc<Contents>> {
        self.sources.get(name).map(|layer| &layer.contents)
    }

    /// The names of all sources, those that are switched off included.
    pub fn names(&self) -> impl Iterator<Item = &SourceName> {
        self.sources.keys()
    }

    /// For each name the entry that counts where all of them may. It costs as much as there are
    /// entries.
    pub fn resolve(&self) -> BTreeMap<Box<str>, Winner> {
        let highest = self
            .stacks()
            .into_iter()
            .filter_map(|(name, entries)| Some((name, entries.into_iter().next()?)));
        highest.collect()
    }

    /// For each name all of its entries, from the highest.
    pub fn stacks(&self) -> BTreeMap<Box<str>, Vec<Winner>> {
        let mut stacks: BTreeMap<Box<str>, Vec<Winner>> = BTreeMap::new();
        for (name, layer) in self.in_force().into_iter().rev() {
            let source = Arc::new(name.clone());
            for (server, defined) in &layer.contents.servers {
                let entry = Winner { source: source.clone(), defined: defined.clone() };
                stacks.entry(server.clone()).or_default().push(entry);
            }
        }
        stacks
    }

    /// The lists of each source that counts and has any, from the least (SPEC 11.1).
    pub fn lists(&self) -> Vec<(SourceName, GateLists)> {
        let rows = self.in_force().into_iter().map(|(name, layer)| {
            let Lists { allowed, excluded } = layer.contents.lists.clone();
            (name.clone(), GateLists::new(allowed, excluded, Vec::new()))
        });
        rows.filter(|(_, lists)| *lists != GateLists::default()).collect()
    }

    /// The sources that count, from the least.
    fn in_force(&self) -> Vec<(&SourceName, &Layer)> {
        let mut layers: Vec<_> = self.sources.iter().filter(|(name, _)| self.is_on(name)).collect();
        // Of extensions the first counts, so that later ones are below it.
        let place = |(name, layer): &(&SourceName, &Layer)| match name.scope() {
            Scope::Extension => (Scope::Extension, u64::MAX - layer.number),
            scope => (scope, layer.number),
        };
        layers.sort_by_key(place);
        layers
    }
}
