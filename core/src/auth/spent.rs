//! What renews a grant no more: an authorization server that refused it for good is not asked by it again (SPEC 15.3).

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::store::Kept;
use crate::Error;

/// Refusals that are remembered; of more the oldest go. A grant that is held and one that is kept may be over at one time.
const REMEMBERED_MAX: usize = 4;

/// What the authorization server refused for good, until somebody signs in anew or out.
#[derive(Default)]
pub(super) struct Spent(Mutex<Vec<(Renewal, Error)>>);

/// What one sign-in is renewed by.
#[derive(Clone, PartialEq)]
pub(super) struct Renewal {
    pub issuer: String,
    /// When somebody signed in for it, where that is known: an authorization server may issue the same once more.
    pub signed_in_ms: Option<u64>,
    pub refresh_token: String,
}

impl Renewal {
    /// That of what is kept.
    pub(super) fn of_kept(kept: &Kept) -> Option<Renewal> {
        Some(Renewal {
            issuer: kept.key.issuer.clone(),
            signed_in_ms: Some(kept.signed_in_ms),
            refresh_token: kept.token["refresh_token"].as_str()?.to_owned(),
        })
    }
}

impl Spent {
    /// Why it was refused, if it was.
    pub(super) fn refusal_of(&self, renewal: &Renewal) -> Option<Error> {
        let refused = self.refused();
        let found = refused.iter().find(|(known, _)| known == renewal);
        found.map(|(_, error)| error.clone())
    }

    /// It was refused for good.
    pub(super) fn refused_for(&self, renewal: Renewal, error: &Error) {
        let mut refused = self.refused();
        if refused.len() >= REMEMBERED_MAX {
            refused.remove(0);
        }
        refused.push((renewal, error.clone()));
    }

    /// Somebody signs in or out.
    pub(super) fn forget(&self) {
        self.refused().clear();
    }

    fn refused(&self) -> MutexGuard<'_, Vec<(Renewal, Error)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
