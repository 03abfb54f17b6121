//! What is known of one configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::definition::Definition;
use super::quarantine::QuarantinedTools;
use crate::approvals::{Standing, ToolDigests};
use crate::catalog::{Catalog, Item};
use crate::options::OnToolChange;

/// Names that are remembered of one configuration: twice the longest list. A name beyond them
/// cannot be told from a changed one, so that nothing is gained by pushing others out of memory.
pub(super) const NAMES_MAX: usize = 20_000;

/// Bytes of definitions that are kept of one configuration, to show what changed. Beyond them only
/// digests are.
pub(super) const DEFINITION_BYTES_MAX: usize = 4 << 20;

/// What is known of one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KnownDefinitions {
    pub(super) tools: BTreeMap<Arc<str>, Definition>,
    /// What is held back of the lists that were judged last.
    pub(super) held: QuarantinedTools,
    pub(super) judged: u64,
    kept_bytes: usize,
    /// The approval by which they are accepted, where there has to be one.
    by: Option<Standing>,
}

/// What was accepted before the pool saw it.
#[derive(Clone, Debug, PartialEq)]
pub enum Recalled {
    /// These were accepted by an approval, which is in force.
    Approved {
        /// The approval. What was accepted by another counts no longer.
        by: Standing,
        /// The digests of the definitions.
        tools: Arc<ToolDigests>,
    },
    /// Sessions are shown these lists of a server that does not run.
    Shown(Arc<Catalog>),
}

impl KnownDefinitions {
    pub(super) fn recall(&mut self, recalled: &Recalled) {
        match recalled {
            Recalled::Approved { by, tools } => {
                if self.by != Some(*by) {
                    *self = KnownDefinitions {
                        by: Some(*by),
                        judged: self.judged,
                        ..KnownDefinitions::default()
                    };
                }
                for (name, digest) in tools.iter().take(NAMES_MAX) {
                    let definition = || Definition { digest: *digest, text: None };
                    self.tools.entry(name.clone()).or_insert_with(definition);
                }
            }
            Recalled::Shown(catalog) => {
                for item in &catalog.tools {
                    match self.tools.get(&item.name) {
                        Some(accepted) if accepted.digest == item.digest => {
                            self.see(item, OnToolChange::Quarantine);
                        }
                        Some(_) => {}
                        None if self.tools.len() < NAMES_MAX => {
                            self.remember(item, OnToolChange::Quarantine);
                        }
                        None => {}
                    }
                }
            }
        }
    }

    /// Takes the accepted definition, perhaps known before by its digest alone.
    pub(super) fn see(&mut self, item: &Item, policy: OnToolChange) {
        let is_kept = |accepted: &Definition| accepted.text.is_some();
        if policy == OnToolChange::Quarantine && !self.tools.get(&item.name).is_some_and(is_kept) {
            self.remember(item, policy);
        }
    }

    /// The definition is the accepted one of its name. Its text is of use only where something can
    /// be held back.
    pub(super) fn remember(&mut self, item: &Item, policy: OnToolChange) {
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
