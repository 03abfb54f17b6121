//! What a session makes of a server's catalog, without touching the connection (SPEC 6).
//!
//! A view is made of two parts: what the server's configuration states, and what the session's
//! options state about the server. It is a value: two sessions have two, and another one takes its
//! place whole.

mod difference;
pub mod explain;
mod names;
mod order;
mod revision;
#[cfg(test)]
mod tests;
mod unmatched;
mod viewed;

use std::sync::Arc;

use self::names::ItemNames;
use crate::catalog::{Catalog, CatalogDifference, Filter, Item};
use crate::config::ServerSpec;
use crate::interface::words::hidden;
use crate::naming::Naming;
use crate::options::SessionOptions;

pub use names::Exposing;
pub use order::Order;
pub use revision::{Made, Revision};
pub use unmatched::{UnknownServer, Unmatched};
pub use viewed::Viewed;

/// What one session makes of one server's catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What it sees by the server's configuration.
    pub by_server: Filter,
    /// What it sees by its own options.
    pub by_session: Filter,
    /// The trust mark.
    pub trust: bool,
    /// Patterns of the tools that are marked always-load.
    pub always_load: Vec<String>,
    /// Who states those.
    pub always_load_by: ByWhom,
    /// How the tools are exposed, where a pattern may be one of exposed names: nobody else pays for
    /// it.
    pub exposing: Option<Exposing>,
}

/// Who states a filter or mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ByWhom {
    /// The server's configuration.
    #[default]
    Server,
    /// The session's options.
    Session,
}

/// The marks of one tool, on the session's own copy (SPEC 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether the session trusts the server.
    pub trust: bool,
    /// Whether the session wants the tool loaded whatever else is deferred.
    pub always_load: bool,
}

/// Why a session does not see a tool (SPEC 11.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenReason {
    /// The server does not list it.
    Unknown,
    /// A filter hides it.
    Filtered,
}

/// What is shown of one server: a catalog through a view.
#[derive(Clone, Copy, Debug)]
pub struct CatalogView<'a> {
    /// What the server listed.
    pub catalog: &'a Catalog,
    /// What the session makes of it.
    pub view: &'a View,
}

impl View {
    /// The part of a view that the server's own configuration states.
    pub fn of(spec: &ServerSpec) -> View {
        View {
            by_server: spec.filter.clone(),
            by_session: Filter::default(),
            trust: spec.trust,
            always_load: spec.always_load.clone(),
            always_load_by: ByWhom::Server,
            exposing: None,
        }
    }

    /// The view of a session with these options.
    pub fn new(
        server: &str,
        spec: &ServerSpec,
        options: &SessionOptions,
        naming: &Arc<Naming>,
    ) -> View {
        Viewed { server, spec, options }.view(naming)
    }

    /// The same, of a server whose tools are named so: its patterns are of exposed names too.
    pub fn exposed_as(mut self, server: &str, naming: &Arc<Naming>) -> View {
        let has_any = self.patterns().any(|(_, _, pattern)| naming.is_exposed_pattern(pattern));
        self.exposing = has_any.then(|| Exposing { server: server.into(), naming: naming.clone() });
        self
    }

    /// Whether a tool or prompt of that name is visible: both filters must admit it.
    #[inline]
    pub fn admits(&self, name: &str) -> bool {
        if self.hides_nothing() {
            return true;
        }
        if self.exposing.is_none() {
            return self.by_server.admits(name) && self.by_session.admits(name);
        }
        let names = ItemNames::new(name, self.exposing.as_ref());
        let admits = |filter: &Filter| filter.admits_by(|pattern| names.fit(pattern));
        admits(&self.by_server) && admits(&self.by_session)
    }

    /// The tool of that name, if the session sees it: then it may call it too (SPEC 5.2).
    ///
    /// # Errors
    /// Why it does not.
    pub fn tool<'a>(&self, catalog: &'a Catalog, name: &str) -> Result<&'a Item, HiddenReason> {
        let item = catalog.tool(name).ok_or(HiddenReason::Unknown)?;
        if self.admits(name) { Ok(item) } else { Err(HiddenReason::Filtered) }
    }

    /// The marks of a tool.
    pub fn marks(&self, tool: &str) -> Marks {
        // Of most servers no tool is marked: then the names are not made.
        let is_marked = |patterns: &[String]| {
            let names = ItemNames::new(tool, self.exposing.as_ref());
            patterns.iter().any(|pattern| names.fit(pattern))
        };
        let always_load = !self.always_load.is_empty() && is_marked(&self.always_load);
        Marks { trust: self.trust, always_load }
    }

    /// The part of a difference between two catalogs that the session hears. Resources are not
    /// filtered.
    pub fn apply(&self, difference: &CatalogDifference) -> CatalogDifference {
        difference.seen_by(|name| self.admits(name))
    }

    /// Whether it admits everything.
    #[inline]
    pub fn hides_nothing(&self) -> bool {
        self.by_server.hides_nothing() && self.by_session.hides_nothing()
    }
}

impl Viewed<'_> {
    /// The view. Both filters hold; of the marks, the session's own word goes first.
    pub fn view(&self, naming: &Arc<Naming>) -> View {
        let (by_server, by_session, trust, always_load) = self.parts();
        let (by_server, by_session) = (by_server.clone(), by_session.clone());
        let is_own = self.options.always_load.contains_key(self.server);
        let always_load_by = if is_own { ByWhom::Session } else { ByWhom::Server };
        let always_load = always_load.to_vec();
        View { by_server, by_session, trust, always_load, always_load_by, exposing: None }
            .exposed_as(self.server, naming)
    }
}

impl ByWhom {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            ByWhom::Server => "server",
            ByWhom::Session => "session",
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            ByWhom::Server => "the server's own",
            ByWhom::Session => "the session's",
        }
    }
}

impl HiddenReason {
    /// The word in `detail.reason`.
    pub fn as_str(self) -> &'static str {
        match self {
            HiddenReason::Unknown => hidden::UNKNOWN,
            HiddenReason::Filtered => hidden::FILTERED,
        }
    }
}
