//! The tools of a session by exposed name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{BareNames, Naming, ToolName};

/// The tools of a session by exposed name, in the order of the exposed names. Names are looked up
/// here, never parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap {
    pub(super) by_name: BTreeMap<Arc<str>, ToolName>,
    pub(super) left_out: Vec<ToolName>,
}

impl NameMap {
    /// Names every tool of a session's views. The order of `tools` does not count, and a pair may
    /// come twice. Bare names are those that [`BareNames::settle`] gave before.
    pub fn new(
        tools: impl IntoIterator<Item = ToolName>,
        naming: &Naming,
        bare: &BareNames,
    ) -> NameMap {
        let tools: BTreeSet<ToolName> = tools.into_iter().collect();
        let mut map = NameMap::default();
        for tool in tools {
            let own = naming.bare(&tool.tool).filter(|name| bare.is_of(name, &tool));
            let name = match own {
                Some(_) => tool.tool.clone(),
                None => naming.of_pair(&tool.server, &tool.tool).into(),
            };
            match map.by_name.entry(name) {
                std::collections::btree_map::Entry::Vacant(free) => {
                    free.insert(tool);
                }
                std::collections::btree_map::Entry::Occupied(_) => map.left_out.push(tool),
            }
        }
        map
    }

    /// The tool of an exposed name.
    pub fn resolve(&self, exposed: &str) -> Option<&ToolName> {
        self.by_name.get(exposed)
    }

    /// Every exposed name and its tool, sorted by exposed name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &ToolName)> {
        self.by_name.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Tools whose name another tool has; it takes a collision of hashes.
    pub fn left_out(&self) -> &[ToolName] {
        &self.left_out
    }
}
