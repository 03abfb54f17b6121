//! Which definitions of tools are accepted: the one place that knows (SPEC 7.6, S-41).
//!
//! The first definition of a tool that a configuration lists is accepted unseen. From then on a name belongs to
//! its definition, whether the server lists it all the time, takes it back and brings it again, or is connected anew. What becomes of
//! another definition is the policy's choice: under [`OnToolChange::Notify`] it takes the place of the old one,
//! under [`OnToolChange::Quarantine`] it is held back until the host accepts it, or the server returns to the
//! accepted one.

mod excerpt;
mod held;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

pub use held::{Held, HeldTool};

use crate::catalog::{Catalog, Item};
use crate::options::OnToolChange;
use crate::state::Configuration;

/// Names that are remembered of one configuration: twice the longest list. A name beyond them cannot be told from
/// a changed one, so that nothing is gained by pushing others out of memory.
const NAMES_MAX: usize = 20_000;

/// Bytes of definitions that are kept of one configuration, to show what changed. Beyond them only digests are.
const DEFINITION_BYTES_MAX: usize = 4 << 20;

/// Configurations that are remembered: as many as there may be processes by default. Of more, the one whose lists were read longest ago
/// is forgotten, among those that no entry has. Where every one has an entry, nothing is remembered of a newcomer.
const CONFIGURATIONS_MAX: usize = 1_024;

/// The accepted definitions of every configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accepted {
    configurations: BTreeMap<Configuration, Known>,
    /// How many entries each configuration has: what is held back of them must not be forgotten to be.
    entries: BTreeMap<Configuration, u32>,
    /// Counts the lists that were judged, to tell which configuration is the oldest.
    judged: u64,
}

/// What is known of one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    tools: BTreeMap<Arc<str>, Definition>,
    kept_bytes: usize,
    judged: u64,
}

/// An accepted definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its digest.
    pub digest: [u8; 32],
    /// Its text, if there was room to keep it.
    pub text: Option<Arc<str>>,
}

/// New lists, as the policy has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What may be used.
    pub usable: Arc<Catalog>,
    /// What is held back.
    pub held: Held,
    /// The usable tools whose definition is another than the one that was accepted before, by name.
    pub renewed: Vec<Arc<str>>,
}

/// No room is left to remember a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

impl Accepted {
    /// Divides new lists into what may be used and what is held back, and accepts what is seen for the first time.
    pub fn judge(
        &mut self,
        configuration: Configuration,
        listed: Arc<Catalog>,
        policy: OnToolChange,
    ) -> Judged {
        let Ok(known) = self.known(configuration) else {
            return Judged::unremembered(listed, policy);
        };
        let mut held = Vec::new();
        let mut renewed = Vec::new();
        for item in &listed.tools {
            match (known.tools.get(&item.name), policy) {
                (Some(accepted), _) if accepted.digest == item.digest => {}
                (Some(_), OnToolChange::Notify) => {
                    known.remember(item, policy);
                    renewed.push(item.name.clone());
                }
                (None, _) if known.tools.len() < NAMES_MAX => known.remember(item, policy),
                (None, OnToolChange::Notify) => {}
                (accepted, OnToolChange::Quarantine) => {
                    held.push(HeldTool::new(item.clone(), accepted.cloned()));
                }
            }
        }
        let held = Held::new(held);
        Judged { usable: held.taken_out_of(listed), held, renewed }
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
        Ok(())
    }

    /// An entry has the configuration from now on.
    pub fn enter(&mut self, configuration: Configuration) {
        *self.entries.entry(configuration).or_default() += 1;
    }

    /// One entry of the configuration is gone. What is known of it stays until the room is needed.
    pub fn leave(&mut self, configuration: Configuration) {
        if let Entry::Occupied(mut entries) = self.entries.entry(configuration) {
            *entries.get_mut() -= 1;
            if *entries.get() == 0 {
                entries.remove();
            }
        }
    }

    /// How many entries each configuration has.
    pub(crate) fn entries(&self) -> &BTreeMap<Configuration, u32> {
        &self.entries
    }

    /// What is known of a configuration, from now on if it was not before.
    fn known(&mut self, configuration: Configuration) -> Result<&mut Known, NoRoom> {
        self.judged += 1;
        if self.configurations.len() >= CONFIGURATIONS_MAX
            && !self.configurations.contains_key(&configuration)
        {
            let unused = |other: &Configuration| !self.entries.contains_key(other);
            let unused = self.configurations.iter().filter(|(other, _)| unused(other));
            let oldest = unused.min_by_key(|(_, known)| known.judged).map(|(other, _)| *other);
            self.configurations.remove(&oldest.ok_or(NoRoom)?);
        }
        let known = self.configurations.entry(configuration).or_default();
        known.judged = self.judged;
        Ok(known)
    }
}

impl Judged {
    /// Lists of a configuration of which nothing can be remembered: none of its tools can be told from a changed one.
    fn unremembered(listed: Arc<Catalog>, policy: OnToolChange) -> Judged {
        let held = match policy {
            OnToolChange::Notify => Held::default(),
            OnToolChange::Quarantine => {
                let tools = listed.tools.iter();
                Held::new(tools.map(|item| HeldTool::new(item.clone(), None)).collect())
            }
        };
        Judged { usable: held.taken_out_of(listed), held, renewed: Vec::new() }
    }
}

impl Known {
    /// The definition is the accepted one of its name. Its text is of use only where something can be held back.
    fn remember(&mut self, item: &Item, policy: OnToolChange) {
        let before = self.tools.get(&item.name).and_then(|before| before.text.as_ref());
        self.kept_bytes -= before.map_or(0, |text| text.len());
        let bytes = item.definition.len();
        let is_kept =
            policy == OnToolChange::Quarantine && self.kept_bytes + bytes <= DEFINITION_BYTES_MAX;
        if is_kept {
            self.kept_bytes += bytes;
        }
        let text = is_kept.then(|| item.definition.clone());
        self.tools.insert(item.name.clone(), Definition { digest: item.digest, text });
    }
}
