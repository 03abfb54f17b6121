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
//! 3. After the first `__` (that follows `mcp__`), such a plain name has no other and a hashed one
//!    has, however its parts were cut, and with the `_` that is put before a clean server which
//!    begins with a digit or a dash: more underscores in front only move the first `__` forward. A
//!    plain name of the style `none` has no `__` at all. So the two kinds never meet.
//! 4. Two hashed names meet only when 60 bits of SHA-256 over the pair do.
//! 5. In the first two styles a name depends on the pair and on the reserved names alone. In the
//!    style `none` nothing that depends on the pair alone could be the bare name of the tool for
//!    two servers and differ: who has a bare name is written down for each session ([`BareNames`]),
//!    and never changes hands.

mod bare;
mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use bare::BareNames;
use made::{JOINT, PREFIX};

/// The longest exposed name, in characters: what the strictest model provider takes.
pub const EXPOSED_NAME_MAX: usize = 63;

/// How exposed names are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// `mcp__<server>__<tool>`.
    #[default]
    McpServerTool,
    /// `<server>__<tool>`.
    ServerTool,
    /// `<tool>`, where it is one server's alone in its session; else as
    /// [`ServerTool`](Self::ServerTool), with a hash.
    Bare,
}

impl NameStyle {
    /// All of them.
    pub const ALL: [NameStyle; 3] =
        [NameStyle::McpServerTool, NameStyle::ServerTool, NameStyle::Bare];

    /// The word in the option `name_style`.
    pub fn as_str(self) -> &'static str {
        match self {
            NameStyle::McpServerTool => "mcp__server__tool",
            NameStyle::ServerTool => "server__tool",
            NameStyle::Bare => "none",
        }
    }

    /// The style of that word.
    pub fn from_word(word: &str) -> Option<NameStyle> {
        NameStyle::ALL.into_iter().find(|style| style.as_str() == word)
    }

    fn prefix(self) -> &'static str {
        match self {
            NameStyle::McpServerTool => PREFIX,
            NameStyle::ServerTool | NameStyle::Bare => "",
        }
    }
}

/// How the tools of a pool are named: its style, and the names that the host keeps for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    style: NameStyle,
    reserved: BTreeSet<String>,
}

impl Naming {
    /// In this style, beside these names.
    pub fn new(style: NameStyle, reserved: impl IntoIterator<Item = String>) -> Naming {
        Naming { style, reserved: reserved.into_iter().collect() }
    }

    /// The exposed name of a server's tool. Of the style `none`: the one that it has where its bare
    /// name is another's.
    ///
    /// It depends on the two names and on the reserved ones, never on what else is there: a tool
    /// whose name is reserved gets the next hashed one that is not.
    pub fn of_pair(&self, server: &str, tool: &str) -> String {
        let plain = match self.style {
            NameStyle::Bare => None,
            style => made::plain(style.prefix(), server, tool),
        };
        plain.filter(|name| !self.reserved.contains(name)).unwrap_or_else(|| {
            let prefix = self.style.prefix();
            let mut rounds = (0..).map(|round| made::hashed(prefix, server, tool, round));
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
            let is_alike = is_whole || made::begins_with_cut(prefix, rest, &clean);
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

/// The tools of a session by exposed name, in the order of the exposed names. Names are looked up
/// here, never parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMap {
    by_name: BTreeMap<Arc<str>, ToolName>,
    left_out: Vec<ToolName>,
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

#[cfg(test)]
mod tests;
