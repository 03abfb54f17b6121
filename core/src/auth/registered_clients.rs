//! The clients that a pool has registered, one for each authorization server and redirect.
//!
//! A client is forgotten where the authorization server may have forgotten it, and after a sign-in
//! that nobody finished. The person sees an error page there, and nobody is sent back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use trunkline_pool::oauth::Authentication;

use super::credentials::grant::Client;

/// Registered clients that are remembered.
const REGISTERED_MAX: usize = 256;

/// The authorization server that a client is known to, and the redirect that it is known by.
pub(super) type ClientKey = (String, String);

/// A client that an authorization server knows; never told to another (S-33).
#[derive(Clone)]
pub(super) struct Registered {
    pub id: String,
    pub secret: Option<String>,
    /// How it proves who it is, where the registration says so.
    pub authentication: Option<Authentication>,
    /// Until when its secret is good, in seconds since 1970, unless for ever.
    pub expires_at: Option<u64>,
    /// What it may ask for (RFC 7591).
    pub scopes: Vec<String>,
}

impl Registered {
    /// What a grant is renewed with.
    pub(super) fn client(&self, redirect_uri: String) -> Client {
        Client {
            secret: self.secret.clone(),
            authentication: self.authentication,
            expires_at: self.expires_at,
            redirect_uri,
        }
    }
}

/// Those of a pool.
#[derive(Default)]
pub(super) struct RegisteredClients(Mutex<HashMap<ClientKey, Registered>>);

impl RegisteredClients {
    /// The one that is known there, may ask for these scopes, and is still registered.
    pub(super) fn known(&self, place: &ClientKey, scopes: &[String]) -> Option<Registered> {
        let known = self.lock().get(place).cloned()?;
        let is_over = known.client(String::new()).is_over();
        let suffices = scopes.iter().all(|one| known.scopes.contains(one));
        Some(known).filter(|_| !is_over && suffices)
    }

    /// Remembers one; of more than there is room for the first stay.
    pub(super) fn keep(&self, place: ClientKey, client: Registered) {
        let mut registered = self.lock();
        if registered.len() < REGISTERED_MAX || registered.contains_key(&place) {
            registered.insert(place, client);
        }
    }

    /// Forgets one: the authorization server may have forgotten it too.
    pub(super) fn forget(&self, registered: Option<&(ClientKey, String)>) {
        let mut known = self.lock();
        if let Some((place, id)) = registered
            && known.get(place).is_some_and(|known| known.id == *id)
        {
            known.remove(place);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientKey, Registered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
