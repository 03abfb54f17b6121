//! Which definitions of tools are accepted: the one place that knows (SPEC 7.6, S-41).
//!
//! The first definition of a tool that a configuration lists is accepted unseen. From then on a
//! name belongs to its definition: also when the server takes it back and brings it again, or is
//! connected anew. What becomes of another definition is the policy's choice: under
//! [`OnToolChange::Notify`] it takes the place of the old one, and under
//! [`OnToolChange::Quarantine`] it is held back. That ends when the host accepts it, or the server
//! returns to the accepted one.
//!
//! What was accepted before this pool saw it is [`Recalled`]: by its digests, which stay with an
//! approval, and by what sessions are shown of a server that does not run. What is held back is
//! remembered as long as its configuration. So it can be shown and accepted while the server is not
//! connected.
//!
//! A tool that is held back is in no view: its new text is what a poisoned tool would put before a
//! model. A mark in the list would have to be known by each host. A name beyond the bounds is held
//! back too, since forgetting another would let a server launder a change.

mod configuration;
mod definition;
mod excerpt;
mod known;
mod quarantine;
#[cfg(test)]
mod tests;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use configuration::Configuration;
pub use definition::Definition;
pub use known::Recalled;
pub use quarantine::{HeldTool, QuarantinedTools};

use self::known::{KnownDefinitions, NAMES_MAX};
use crate::approvals::ToolDigests;
use crate::base::id_map::IdMap;
use crate::base::ids::ServerId;
use crate::catalog::{Catalog, Item};
use crate::config::Fingerprint;
use crate::options::OnToolChange;

/// Configurations that are remembered: as many as there may be processes by default. Of more, the
/// one whose lists were read longest ago is forgotten, among those that no entry has. Where every
/// one has an entry, nothing is remembered of a newcomer.
const CONFIGURATIONS_MAX: usize = 1_024;

/// The accepted definitions of every configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    configurations: IdMap<Configuration, KnownDefinitions>,
    /// The same by server.
    by_server: BTreeSet<Configuration>,
    /// How many entries each configuration has: what is held back of them must not be forgotten to
    /// be.
    entries: BTreeMap<Configuration, u32>,
    /// The known ones that no entry has, by when their lists were judged last.
    unused: BTreeSet<(u64, Configuration)>,
    /// Counts the lists that were judged, to tell which configuration is the oldest.
    judged: u64,
}

/// New lists, as the policy has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What may be used.
    pub usable: Arc<Catalog>,
    /// What is held back.
    pub held: QuarantinedTools,
    /// The usable tools whose definition is another than the one that was accepted before, by name.
    pub renewed: Vec<Arc<str>>,
    /// Whether definitions were accepted that were not before.
    pub learned: bool,
}

/// What is held back somewhere, by what became of an acceptance of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Remembered {
    /// A tool of that name is held back, with this definition.
    Held(Item),
    /// The accepted definition has this digest, and none is held back.
    Accepted([u8; 32]),
    /// No tool of that name is known.
    Nothing,
}

/// No room is left to remember a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

impl Accepted {
    /// Divides new lists into what may be used and what is held back, and accepts what is seen for
    /// the first time.
    pub fn judge(&mut self, configuration: Configuration, listed: Arc<Catalog>) -> Judged {
        let policy = configuration.on_tool_change;
        let Ok(known) = self.known(configuration) else {
            return Judged::unremembered(listed, policy);
        };
        let mut held = Vec::new();
        let mut renewed = Vec::new();
        let mut learned = false;
        for item in &listed.tools {
            match (known.tools.get(&item.name), policy) {
                (Some(accepted), _) if accepted.digest == item.digest => known.see(item, policy),
                (Some(_), OnToolChange::Notify) => {
                    known.remember(item, policy);
                    renewed.push(item.name.clone());
                }
                (None, _) if known.tools.len() < NAMES_MAX => {
                    known.remember(item, policy);
                    learned = true;
                }
                (None, OnToolChange::Notify) => {}
                (accepted, OnToolChange::Quarantine) => {
                    held.push(HeldTool::new(item.clone(), accepted.cloned()));
                }
            }
        }
        let held = QuarantinedTools::new(held);
        known.held = held.clone();
        Judged { usable: held.taken_out_of(listed), held, renewed, learned }
    }

    /// What of lists may be used that nobody lists now: without what would be held back, and with
    /// nothing accepted that is seen for the first time.
    pub fn usable(&self, configuration: Configuration, listed: Arc<Catalog>) -> Arc<Catalog> {
        if configuration.on_tool_change == OnToolChange::Notify {
            return listed;
        }
        let nothing = KnownDefinitions::default();
        let known = match self.configurations.get(&configuration) {
            Some(known) => known,
            None if self.is_full() && self.unused.is_empty() => {
                return Judged::unremembered(listed, OnToolChange::Quarantine).usable;
            }
            None => &nothing,
        };
        let mut room = NAMES_MAX.saturating_sub(known.tools.len());
        let is_another = |item: &&Item| match known.tools.get(&item.name) {
            Some(accepted) => accepted.digest != item.digest,
            None if room == 0 => true,
            None => {
                room -= 1;
                false
            }
        };
        let held = listed.tools.iter().filter(is_another);
        let held =
            QuarantinedTools::new(held.map(|item| HeldTool::new(item.clone(), None)).collect());
        held.taken_out_of(listed)
    }

    /// What was accepted before this pool saw it. What the pool itself knows of a name goes first,
    /// unless it knows that by another approval. Where nothing is held back, nothing is recalled.
    pub fn recall(&mut self, configuration: Configuration, recalled: &Recalled) {
        if configuration.on_tool_change == OnToolChange::Quarantine
            && let Ok(known) = self.known(configuration)
        {
            known.recall(recalled);
        }
    }

    /// Accepts a definition that was held back.
    ///
    /// # Errors
    /// When the name is one more than can be remembered, or the configuration is.
    pub fn accept(&mut self, configuration: Configuration, item: &Item) -> Result<(), NoRoom> {
        let known = self.known(configuration)?;
        if known.tools.len() >= NAMES_MAX && !known.tools.contains_key(&item.name) {
            return Err(NoRoom);
        }
        known.remember(item, OnToolChange::Quarantine);
        if known.held.tool(&item.name).is_some_and(|held| held.item.digest == item.digest) {
            known.held = known.held.without(&item.name);
        }
        Ok(())
    }

    /// The digests of all accepted definitions of a configuration.
    pub fn digests(&self, configuration: Configuration) -> ToolDigests {
        let tools = self.configurations.get(&configuration).into_iter();
        let tools = tools.flat_map(|known| &known.tools);
        tools.map(|(name, definition)| (name.clone(), definition.digest)).collect()
    }

    /// What is held back of a server, whether or not it is connected: of the configuration whose
    /// lists were judged last.
    pub fn held_of(&self, server: ServerId) -> QuarantinedTools {
        let known = self.of(server).map(|(_, known)| known);
        known.max_by_key(|known| known.judged).map(|known| known.held.clone()).unwrap_or_default()
    }

    /// What is held back of one configuration, whether or not it is connected.
    pub fn held(&self, configuration: Configuration) -> QuarantinedTools {
        self.configurations.get(&configuration).map(|known| known.held.clone()).unwrap_or_default()
    }

    /// What is remembered of a tool of a server, by configuration.
    pub(crate) fn remembered(
        &self,
        server: ServerId,
        tool: &str,
    ) -> Vec<(Configuration, Remembered)> {
        let remembered =
            |known: &KnownDefinitions| match (known.held.tool(tool), known.tools.get(tool)) {
                (Some(held), _) => Remembered::Held(held.item.clone()),
                (None, Some(accepted)) => Remembered::Accepted(accepted.digest),
                (None, None) => Remembered::Nothing,
            };
        self.of(server).map(|(configuration, known)| (configuration, remembered(known))).collect()
    }

    fn of(&self, server: ServerId) -> impl Iterator<Item = (Configuration, &KnownDefinitions)> {
        let least = Configuration {
            server,
            fingerprint: Fingerprint::LEAST,
            on_tool_change: OnToolChange::Notify,
        };
        let from = self.by_server.range(least..);
        let all = from.take_while(move |configuration| configuration.server == server);
        all.filter_map(|configuration| {
            Some((*configuration, self.configurations.get(configuration)?))
        })
    }

    /// An entry has the configuration from now on.
    pub fn enter(&mut self, configuration: Configuration) {
        *self.entries.entry(configuration).or_default() += 1;
        if let Some(known) = self.configurations.get(&configuration) {
            self.unused.remove(&(known.judged, configuration));
        }
    }

    /// One entry of the configuration is gone. What is known of it stays until the room is needed.
    pub fn leave(&mut self, configuration: Configuration) {
        if let Entry::Occupied(mut entries) = self.entries.entry(configuration) {
            *entries.get_mut() -= 1;
            if *entries.get() == 0 {
                entries.remove();
                let known = self.configurations.get(&configuration);
                self.unused.extend(known.map(|known| (known.judged, configuration)));
            }
        }
    }

    /// How many entries each configuration has.
    pub(crate) fn entries(&self) -> &BTreeMap<Configuration, u32> {
        &self.entries
    }

    /// Whether what is kept of the unused ones is what is known of them.
    pub(crate) fn agrees(&self) -> bool {
        let known = self.by_server.iter();
        let unused = known.filter(|configuration| !self.entries.contains_key(configuration));
        let unused = unused.map(|configuration| {
            self.configurations.get(configuration).map(|known| (known.judged, *configuration))
        });
        self.by_server.len() == self.configurations.len()
            && unused.collect::<Option<BTreeSet<_>>>().as_ref() == Some(&self.unused)
    }

    fn is_full(&self) -> bool {
        self.configurations.len() >= CONFIGURATIONS_MAX
    }

    /// What is known of a configuration, from now on if it was not before.
    fn known(&mut self, configuration: Configuration) -> Result<&mut KnownDefinitions, NoRoom> {
        if self.is_full() && !self.configurations.contains_key(&configuration) {
            let (_, oldest) = self.unused.pop_first().ok_or(NoRoom)?;
            self.configurations.remove(&oldest);
            self.by_server.remove(&oldest);
        }
        let by_server = &mut self.by_server;
        let known = self.configurations.entry(configuration).or_insert_with(|| {
            by_server.insert(configuration);
            KnownDefinitions::default()
        });
        let before = std::mem::replace(&mut known.judged, self.judged + 1);
        self.judged += 1;
        if !self.entries.contains_key(&configuration) {
            self.unused.remove(&(before, configuration));
            self.unused.insert((self.judged, configuration));
        }
        Ok(known)
    }
}

impl Judged {
    /// Lists of a configuration that nothing can be remembered of: a changed tool cannot be told
    /// from an unchanged one.
    fn unremembered(listed: Arc<Catalog>, policy: OnToolChange) -> Judged {
        let held = match policy {
            OnToolChange::Notify => QuarantinedTools::default(),
            OnToolChange::Quarantine => {
                let tools = listed.tools.iter();
                QuarantinedTools::new(tools.map(|item| HeldTool::new(item.clone(), None)).collect())
            }
        };
        Judged { usable: held.taken_out_of(listed), held, renewed: Vec::new(), learned: false }
    }
}
