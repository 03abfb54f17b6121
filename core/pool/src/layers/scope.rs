//! Where sources of configuration stand among each other.

use std::fmt;

/// Where a source stands among the others (SPEC 10.1), from the least to the one that beats all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Servers of an extension: they only fill names that nobody else defines.
    Extension,
    /// The settings of the user.
    User,
    /// The project's `.mcp.json`. Its servers need approval.
    Project,
    /// Settings that the workspace holds. Their servers need approval.
    Workspace,
    /// Settings of the system, which somebody else manages.
    Managed,
    /// Given for one session.
    Session,
    /// Given at launch.
    Launch,
    /// Given at run time.
    Runtime,
}

impl Scope {
    /// Every scope, from the least.
    pub const ALL: [Scope; 8] = [
        Scope::Extension,
        Scope::User,
        Scope::Project,
        Scope::Workspace,
        Scope::Managed,
        Scope::Session,
        Scope::Launch,
        Scope::Runtime,
    ];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scope::Extension => "extension",
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Workspace => "workspace",
            Scope::Managed => "managed",
            Scope::Session => "session",
            Scope::Launch => "launch",
            Scope::Runtime => "runtime",
        }
    }

    /// The scope of that word.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    /// Whether people who share the project write it: its servers need approval (SPEC 11.3), and
    /// its words on trust, on sharing and on running unasked count for nothing (SPEC 2.1, 11.7).
    pub fn is_gated(self) -> bool {
        matches!(self, Scope::Project | Scope::Workspace)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
