//! What views are made of, and when two of them are the same.

use crate::catalog::Filter;
use crate::config::ServerSpec;
use crate::options::SessionOptions;

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
    pub(super) fn parts(&self) -> (&'a Filter, &'a Filter, bool, &'a [String]) {
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
