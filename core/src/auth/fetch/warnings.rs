//! What sign-ins tell the host of that stops nothing.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::auth::errors;
use crate::storage::WarningHandler;

/// Servers that a warning named. No warning names more.
const TOLD_MAX: usize = 1024;

/// Where warnings go, and which were given: a token is renewed again and again, and its kind is
/// told once.
#[derive(Default)]
pub(crate) struct Warnings {
    warn: OnceLock<WarningHandler>,
    told: Mutex<HashSet<(String, String)>>,
}

impl Warnings {
    /// `warn` is told, in words. Of several the first stays.
    pub(crate) fn on_warning(&self, warn: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.warn.set(Box::new(warn));
    }

    /// A token of this kind, or of none, is sent as a bearer token is.
    pub(in crate::auth) fn of_kind(&self, server: &str, kind: &str) {
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let is_new = told.len() < TOLD_MAX && told.insert((server.to_owned(), kind.to_owned()));
            if !is_new {
                return;
            }
        }
        tracing::warn!(server, "a token is of no known kind");
        let kind = match kind {
            "" => "has no `token_type`".to_owned(),
            kind => format!("is of the kind `{}`", errors::shown(kind)),
        };
        let server = errors::shown(server);
        if let Some(warn) = self.warn.get() {
            warn(&format!("the token of `{server}` {kind}: it is sent as a bearer token"));
        }
    }
}

impl std::fmt::Debug for Warnings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Warnings")
    }
}
