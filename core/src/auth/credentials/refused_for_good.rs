//! Credentials that an authorization server refused for good. They are not sent to it again, or not
//! for a while (SPEC 15.3).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;
use crate::storage::tokens::TokenRecord;

/// Refusals that are remembered; of more the oldest go. A grant that is held and one that is kept
/// may be over at one time.
const REMEMBERED_MAX: usize = 4;

/// A client that an authorization server does not know is not shown to it again for so long. An
/// administrator may register the client meanwhile, and the library is not notified.
const CLIENT_REST: Duration = Duration::from_secs(30);

/// What the authorization server refused for good, until somebody signs in anew or out.
#[derive(Default)]
pub(in crate::auth) struct FinalRefusals {
    renewals: Mutex<Vec<(Renewal, Error)>>,
    client: Mutex<Option<UnknownClient>>,
}

/// A client of the configuration that the authorization server does not know.
struct UnknownClient {
    /// What it was shown with: a file may say another by now.
    secret: String,
    error: Error,
    until: Instant,
}

/// What one sign-in is renewed by.
#[derive(Clone, PartialEq)]
pub(in crate::auth) struct Renewal {
    pub issuer: String,
    /// When somebody signed in for it, where that is known: an authorization server may issue the
    /// same once more.
    pub signed_in_ms: Option<u64>,
    pub refresh_token: String,
}

impl Renewal {
    /// That of what is kept.
    pub(in crate::auth) fn of_kept(kept: &TokenRecord) -> Option<Renewal> {
        Some(Renewal {
            issuer: kept.key.issuer.clone(),
            signed_in_ms: Some(kept.signed_in_ms),
            refresh_token: kept.token["refresh_token"].as_str()?.to_owned(),
        })
    }
}

impl FinalRefusals {
    /// Why it was refused, if it was.
    pub(in crate::auth) fn refusal_of(&self, renewal: &Renewal) -> Option<Error> {
        let refused = self.refused();
        let found = refused.iter().find(|(known, _)| known == renewal);
        found.map(|(_, error)| error.clone())
    }

    /// It was refused for good.
    pub(in crate::auth) fn refused_for(&self, renewal: Renewal, error: &Error) {
        let mut refused = self.refused();
        if refused.len() >= REMEMBERED_MAX {
            refused.remove(0);
        }
        refused.push((renewal, error.clone()));
    }

    /// Why the client was refused with this secret, if that was just now.
    pub(in crate::auth) fn refusal_of_client(&self, secret: &str) -> Option<Error> {
        let client = self.client();
        let refused = client.as_ref()?;
        let stands = refused.secret == secret && Instant::now() < refused.until;
        stands.then(|| refused.error.clone())
    }

    /// The authorization server does not know the client by this secret.
    pub(in crate::auth) fn refused_client(&self, secret: String, error: &Error) {
        let until = Instant::now() + CLIENT_REST;
        *self.client() = Some(UnknownClient { secret, error: error.clone(), until });
    }

    /// Somebody signs in or out.
    pub(in crate::auth) fn forget(&self) {
        self.refused().clear();
        *self.client() = None;
    }

    /// The client's rest is over.
    #[cfg(test)]
    pub(in crate::auth) fn rested(&self) {
        self.client().iter_mut().for_each(|refused| refused.until = Instant::now());
    }

    fn client(&self) -> MutexGuard<'_, Option<UnknownClient>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refused(&self) -> MutexGuard<'_, Vec<(Renewal, Error)>> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
