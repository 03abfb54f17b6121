//! The names under which tools are exposed to a model (SPEC 14.3), in one of three styles.
//!
//! ```text
//! style               plain                    hashed
//! mcp__server__tool   mcp__<server>__<tool>    mcp__<clean server>__<clean tool>__<hash>
//! server__tool        <server>__<tool>         <clean server>__<clean tool>__<hash>
//! none                <tool>                   <clean server>__<clean tool>__<hash>
//! ```
//!
//! 1. A name holds letters, digits, `_` and `-` only, at most 63 of them, and begins with a letter
//!    or `_`: what the strictest model provider takes.
//! 2. With the server's name in it, a plain name is reversible: its server has no `__` and no
//!    underscore at its ends, its tool has no `__` and does not begin with an underscore. So no two
//!    pairs have one plain name.
//! 3. After the first `__` (that follows `mcp__`), such a plain name has no other. A hashed one
//!    has, however its parts were cut, and also with the `_` before a clean server that begins with
//!    a digit or a dash: more underscores in front only move the first `__` forward. A plain name
//!    of the style `none` has no `__` at all. So the two kinds never meet.
//! 4. Two hashed names meet only when 60 bits of SHA-256 over the pair do.
//! 5. In the first two styles a name depends on the pair and on the reserved names alone. In the
//!    style `none` nothing that depends on the pair alone could be the bare name of the tool for
//!    two servers and differ: who has a bare name is written down for each session ([`BareNames`]),
//!    and never changes hands.
//!
//! A hash has twelve letters. With eight, a hostile server could find a tool whose name meets
//! another's.

mod bare;
mod made;
mod name_map;
mod style;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use bare::BareNames;
pub use made::EXPOSED_NAME_MAX;
pub use made::SERVED_NAME_MAX;
use made::{JOINT, NameShape, PREFIX};
pub use name_map::NameMap;
pub use style::NameStyle;

/// How the tools of a pool are named: its style, and the names that the host keeps for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    style: NameStyle,
    longest: usize,
    reserved: BTreeSet<String>,
}

impl Default for Naming {
    fn default() -> Naming {
        Naming::new(NameStyle::default(), [])
    }
}

impl Naming {
    /// In this style, beside these names.
    pub fn new(style: NameStyle, reserved: impl IntoIterator<Item = String>) -> Naming {
        Naming { style, longest: EXPOSED_NAME_MAX, reserved: reserved.into_iter().collect() }
    }

    /// As served clients are shown them: they put a prefix of their own before each name, so that
    /// fewer characters are left.
    pub fn served() -> Naming {
        let reserved = BTreeSet::new();
        Naming { style: NameStyle::ServerTool, longest: SERVED_NAME_MAX, reserved }
    }

    fn shape(&self) -> NameShape {
        NameShape { prefix: self.style.prefix(), longest: self.longest }
    }

    /// The exposed name of a server's tool. Of the style `none`: the one that it has where its bare
    /// name is another's.
    ///
    /// It depends on the two names and on the reserved ones, never on what else is there: a tool
    /// whose name is reserved gets the next hashed one that is not.
    pub fn of_pair(&self, server: &str, tool: &str) -> String {
        let plain = match self.style {
            NameStyle::Bare => None,
            NameStyle::McpServerTool | NameStyle::ServerTool => {
                made::plain(self.shape(), server, tool)
            }
        };
        plain.filter(|name| !self.reserved.contains(name)).unwrap_or_else(|| {
            let mut rounds = (0..).map(|round| made::hashed(self.shape(), server, tool, round));
            rounds
                .find(|name| !self.reserved.contains(name))
                .expect("a finite set does not hold the names of every round")
        })
    }

    /// The bare name that a tool would have: in the style `none`, if it is one and not reserved.
    fn bare<'a>(&self, tool: &'a str) -> Option<&'a str> {
        let is_bare = self.style == NameStyle::Bare && made::is_bare(tool);
        Some(tool).filter(|tool| is_bare && !self.reserved.contains(*tool))
    }

    /// Whether a server's tool has that name in some session.
    pub fn can_be(&self, exposed: &str, server: &str, tool: &str) -> bool {
        self.bare(tool) == Some(exposed) || self.of_pair(server, tool) == exposed
    }

    /// Whether a text has what tells an exposed name from a tool's own one: the prefix, or else the
    /// joint behind the server's name.
    pub(crate) fn has_marks_of_exposed(&self, text: &str) -> bool {
        match self.style {
            NameStyle::McpServerTool => text.starts_with(PREFIX),
            NameStyle::ServerTool | NameStyle::Bare => text.contains(JOINT),
        }
    }

    /// Whether a name that is no server's is looked at as that of a tool: it has the form that
    /// exposed names have.
    pub fn is_exposed(&self, name: &str) -> bool {
        match self.style {
            NameStyle::McpServerTool => name.starts_with(PREFIX),
            NameStyle::ServerTool => name.contains(JOINT),
            NameStyle::Bare => true,
        }
    }

    /// The server that an unknown exposed name would belong to: of all whose part the name begins
    /// with, the longest (SPEC 11.6). It is a guess for an explanation, never a way to find a tool.
    /// A bare name says nothing of its server.
    pub fn explain_unknown<'a>(
        &self,
        exposed: &str,
        servers: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let prefix = self.style.prefix();
        let rest = exposed.strip_prefix(prefix)?;
        let likeness = |server: &str| {
            let clean = made::clean_server(prefix, server);
            let after = rest.strip_prefix(server).or_else(|| rest.strip_prefix(&*clean));
            let is_whole = after.is_some_and(|after| after.starts_with(JOINT));
            let is_alike = is_whole || made::begins_with_cut(self.shape(), rest, &clean);
            // One that stands there whole is likelier than one that was cut.
            is_alike.then(|| (is_whole, server.chars().count()))
        };
        servers
            .into_iter()
            .filter(|server| !server.is_empty())
            .filter_map(|server| Some((likeness(server)?, server)))
            // Of servers whose parts are equally long, the one that is first by name.
            .max_by(|(a, one), (b, other)| a.cmp(b).then_with(|| other.cmp(one)))
            .map(|(_, server)| server)
    }
}

/// A tool, by the server's name and its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName {
    /// The server.
    pub server: Arc<str>,
    /// The server's own name for the tool.
    pub tool: Arc<str>,
}
