//! Cookies of one sign-in: a jar for each origin that sets some, by the rules of a connection's own
//! (SPEC 18.6).
//!
//! One jar for all would show an authorization server what another one set.

use std::sync::{Mutex, PoisonError};

use http::Response;
use reqwest::Url;
use reqwest::header::{LOCATION, SET_COOKIE};
use url::Origin;

use crate::net::cookies::Jar;
use crate::net::redact::Redactor;

/// Origins that have a jar: a server and its authorization server need two. Of more nothing is
/// kept.
pub(super) const ORIGINS_MAX: usize = 4;

#[derive(Default)]
pub(super) struct Jars {
    jars: [Jar; ORIGINS_MAX],
    held: Mutex<JarOwners>,
}

/// Whose the jars are.
#[derive(Default)]
struct JarOwners {
    /// Those that have one, in the order of the jars.
    origins: Vec<Origin>,
    /// How often all was let go of.
    times: u64,
}

impl Jars {
    /// One that knows what is in them.
    pub(super) fn known_to(&self, redactor: Redactor) -> Redactor {
        self.jars.iter().fold(redactor, |redactor, jar| redactor.with(jar.learned.clone()))
    }

    /// What goes with a request to this address.
    pub(super) fn header(&self, to: &Url) -> Option<reqwest::header::HeaderValue> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.origins.iter().position(|origin| *origin == to.origin())?;
        self.jars[place].header(to, held.times)
    }

    /// Takes what the answer from `url` sets, which was `asked` for at first. It takes nothing of
    /// one that leads away or was led to from elsewhere; nobody else sees it.
    pub(super) fn take(&self, asked: Option<&Url>, url: &Url, response: &mut Response<Vec<u8>>) {
        let stays = !response.status().is_redirection() || leads_to_origin_of(url, response);
        if stays && asked.is_none_or(|asked| asked.origin() == url.origin()) {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let place = held.origins.iter().position(|origin| *origin == url.origin());
            let is_set = response.headers().contains_key(SET_COOKIE);
            let place = place.or_else(|| {
                let has_room = is_set && held.origins.len() < ORIGINS_MAX;
                has_room.then(|| {
                    held.origins.push(url.origin());
                    held.origins.len() - 1
                })
            });
            if let Some(place) = place {
                self.jars[place].take(url, response.headers(), held.times);
            }
        }
        response.headers_mut().remove(SET_COOKIE);
    }

    /// Lets go of all.
    pub(super) fn empty(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.times += 1;
        held.origins.clear();
        self.jars.iter().for_each(|jar| jar.forget(held.times));
    }
}

fn leads_to_origin_of(url: &Url, response: &Response<Vec<u8>>) -> bool {
    let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
    let led_to = location.and_then(|to| url.join(to).ok());
    led_to.is_some_and(|to| to.origin() == url.origin())
}
