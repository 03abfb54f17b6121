//! The names of sources, and the scopes that they are of.

use std::fmt;
use std::str::FromStr;

use crate::base::text::escaped;
use crate::error::{Error, ErrorCode};
use crate::layers::scope::Scope;
use crate::settings::FileScope;

impl From<FileScope> for Scope {
    fn from(scope: FileScope) -> Scope {
        match scope {
            FileScope::User => Scope::User,
            FileScope::Project => Scope::Project,
            FileScope::Workspace => Scope::Workspace,
            FileScope::Managed => Scope::Managed,
        }
    }
}

/// The name of a source: its scope, and where there can be several of one scope, what tells it from
/// those.
///
/// As text `user`, `extension:foo`, or for a file `project:/srv/app/.mcp.json`. Without a part of
/// its own it also stands for every source of the scope, where sources are switched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceName {
    scope: Scope,
    part: Box<str>,
}

/// The longest part, in bytes: a path of the file system fits.
const PART_BYTES_MAX: usize = 4096;

impl SourceName {
    /// The source that is the scope's own.
    pub fn of_scope(scope: Scope) -> SourceName {
        SourceName { scope, part: "".into() }
    }

    /// A source of that scope with a part of its own.
    ///
    /// # Errors
    /// `invalid_argument` when the part is empty or longer than 4,096 bytes.
    pub fn new(scope: Scope, part: &str) -> Result<SourceName, Error> {
        if part.is_empty() || part.len() > PART_BYTES_MAX {
            let message = format!(
                "what follows `{scope}:` has 1 to {PART_BYTES_MAX} bytes, not {}",
                part.len()
            );
            return Err(wrong(&message));
        }
        Ok(SourceName { scope, part: part.into() })
    }

    /// Its scope.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// What tells it from others of its scope; empty when it is the scope's own.
    pub fn part(&self) -> &str {
        &self.part
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scope.as_str())?;
        if self.part.is_empty() { Ok(()) } else { write!(f, ":{}", self.part) }
    }
}

impl FromStr for SourceName {
    type Err = Error;

    /// # Errors
    /// `invalid_argument` with `detail.path` `source` for a text that names none.
    fn from_str(text: &str) -> Result<SourceName, Error> {
        let (scope, part) = match text.split_once(':') {
            Some((scope, part)) => (scope, Some(part)),
            None => (text, None),
        };
        let Some(scope) = Scope::from_name(scope) else {
            let words = Scope::ALL.map(Scope::as_str).join(", ");
            let shown: String = escaped(scope).chars().take(64).collect();
            return Err(wrong(&format!("`{shown}` is not a scope of a source: one of {words}")));
        };
        match part {
            Some(part) => SourceName::new(scope, part),
            None => Ok(SourceName::of_scope(scope)),
        }
    }
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "source")
}
