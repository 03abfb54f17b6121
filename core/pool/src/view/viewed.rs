//! What views are made of, and when two of them are the same.

use std::sync::Arc;

use crate::catalog::Filter;
use crate::config::ServerSpec;
use crate::naming::Naming;
use crate::options::SessionOptions;

use super::{ByWhom, View};

/// What a view of a server is made of. Two are equal when their views are.
#[derive(Clone, Copy, Debug)]
pub struct Viewed<'a> {
    /// The server's name.
    pub server: &'a str,
    /// What its configuration states.
    pub spec: &'a ServerSpec,
    /// What the session states about it.
    pub options: &'a SessionOptions,
}

/// A session's options that state nothing of a server.
static NO_FILTER: Filter = Filter { include: None, exclude: Vec::new() };

impl<'a> Viewed<'a> {
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

    fn parts(&self) -> (&'a Filter, &'a Filter, bool, &'a [String]) {
        let Viewed { server, spec, options } = *self;
        let by_session = options.filters.get(server).unwrap_or(&NO_FILTER);
        let trust = options.trust.get(server).copied().unwrap_or(spec.trust);
        let always_load = options.always_load.get(server).unwrap_or(&spec.always_load);
        (&spec.filter, by_session, trust, always_load)
    }
}

impl PartialEq for Viewed<'_> {
    fn eq(&self, other: &Viewed<'_>) -> bool {
        self.parts() == other.parts()
    }
}
