//! Who has which bare name in a session, in the style `none`.
//!
//! 1. A bare name that one tool alone would have, of all that a session ever listed with it or
//!    before it, is that tool's.
//! 2. One that several come with at one time is nobody's, whichever of them stays.
//! 3. What was decided stands as long as the session: a bare name never changes hands, not even
//!    when its tool is gone. So a name in a conversation means one tool, and no server can take it
//!    over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Naming, ToolName};

/// How many bare names a session decides about. Beyond that new tools have hashed names: a server
/// that lists ever other names can neither fill the memory nor have a decision forgotten.
const BARE_NAMES_MAX: usize = 100_000;

/// The bare names of a session, each with the tool that has it, or with nobody.
#[derive(Clone, Debug, Default)]
pub struct BareNames {
    by_name: BTreeMap<Arc<str>, Option<ToolName>>,
}

impl BareNames {
    /// Decides about the bare names of all tools that there are now, listed or held back, as far as
    /// nothing is decided. In a style that has none it does nothing.
    pub fn settle(&mut self, naming: &Naming, tools: impl IntoIterator<Item = ToolName>) {
        let mut came: BTreeMap<Arc<str>, BTreeSet<ToolName>> = BTreeMap::new();
        for tool in tools {
            if naming.bare(&tool.tool).is_some() && !self.by_name.contains_key(&tool.tool) {
                came.entry(tool.tool.clone()).or_default().insert(tool);
            }
        }
        for (name, tools) in came {
            if self.by_name.len() >= BARE_NAMES_MAX {
                return;
            }
            let mut tools = tools.into_iter();
            let only = tools.next().filter(|_| tools.next().is_none());
            self.by_name.insert(name, only);
        }
    }

    /// Whether a bare name is that tool's.
    pub(super) fn is_of(&self, name: &str, tool: &ToolName) -> bool {
        self.by_name.get(name).is_some_and(|owner| owner.as_ref() == Some(tool))
    }
}
