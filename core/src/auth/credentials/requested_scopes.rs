//! What sign-ins ask for: what the server wanted last, the scopes, and how often in a row.
//!
//! The next sign-in asks for all scopes that there were and for what the server wants. A
//! registration without scopes would leave the choice to the authorization server.

use super::grant_types::Reason;
use crate::net::www_authenticate::Challenge;

/// Sign-ins in a row for the same scopes. A server that they do not content gets no more of them.
const SAME_SCOPES_MAX: u32 = 3;

#[derive(Default)]
pub(in crate::auth) struct RequestedScopes {
    /// What the server answered last without letting in, as long as nothing has answered that.
    refusal: Option<String>,
    /// The scopes that the last sign-in asked for.
    scopes: Vec<String>,
    /// The scopes of the last one that a person finished.
    finished: Vec<String>,
    /// How often in a row it was these, since the server wanted them again.
    times: u32,
}

impl RequestedScopes {
    /// The server refused a message with this challenge.
    pub(in crate::auth) fn refused_with(&mut self, challenge: &str) {
        self.refusal = Some(challenge.to_owned());
    }

    /// The `WWW-Authenticate` of the last refusal that counts.
    pub(in crate::auth) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// A person signed in.
    pub(in crate::auth) fn answered(&mut self) {
        let is_again = self.challenge().wants_more() && self.finished == self.scopes;
        self.times = if is_again { self.times + 1 } else { 1 };
        self.finished.clone_from(&self.scopes);
        self.refusal = None;
    }

    /// There is another token for the same. It is an answer to every refusal but one that wants a
    /// token for more, unless the host was asked for that.
    pub(in crate::auth) fn answered_by_renewal(&mut self, reason: Reason) {
        if reason == Reason::Scope || !self.challenge().wants_more() {
            self.refusal = None;
        }
    }

    /// A person signed out: the next sign-in begins anew.
    pub(in crate::auth) fn forget(&mut self) {
        (self.scopes, self.finished, self.times) = (Vec::new(), Vec::new(), 0);
    }

    /// A sign-in for these scopes was taken up from a file; the next asks for no fewer.
    pub(in crate::auth) fn took_up(&mut self, scopes: &[String]) {
        self.begin(&[&self.scopes, scopes].concat());
    }

    /// A sign-in begins that asks for these.
    pub(in crate::auth) fn begin(&mut self, scopes: &[String]) {
        self.scopes = scopes.to_vec();
        self.scopes.sort();
        self.scopes.dedup();
    }

    /// The scopes to ask for next: those of the configuration; with those that there are, when the
    /// server wants more than these. Nothing when a person signed in for the same again and again.
    pub(in crate::auth) fn next(
        &mut self,
        configured: &[String],
        granted: impl Iterator<Item = String>,
    ) -> Option<Vec<String>> {
        let challenge = self.challenge();
        let mut scopes = configured.to_vec();
        if challenge.wants_more() {
            scopes.extend(granted);
            scopes.extend(self.scopes.clone());
        }
        if challenge.wants_more() || !scopes.is_empty() {
            scopes.extend(challenge.scopes().map(str::to_owned));
        }
        scopes.sort();
        scopes.dedup();
        self.scopes.clone_from(&scopes);
        let is_again = challenge.wants_more() && self.finished == scopes;
        (!is_again || self.times < SAME_SCOPES_MAX).then_some(scopes)
    }

    fn challenge(&self) -> Challenge {
        Challenge::of(self.refusal.as_deref().into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(asked: &mut RequestedScopes) -> bool {
        asked.refused_with("Bearer error=\"insufficient_scope\", scope=\"b\"");
        let scopes = asked.next(&["a".to_owned()], std::iter::empty());
        scopes.inspect(|scopes| asked.begin(scopes)).is_some()
    }

    /// SPEC 15.3: what nobody finished has contented nobody, and is asked for as often as it is
    /// wanted.
    #[test]
    fn sign_ins_that_nobody_finishes_do_not_count() {
        let mut asked = RequestedScopes::default();
        for _ in 0..10 {
            assert!(asks(&mut asked));
        }
        for _ in 0..3 {
            assert!(asks(&mut asked));
            asked.answered();
        }
        assert!(!asks(&mut asked));
        asked.forget();
        assert!(asks(&mut asked));
    }

    /// SPEC 15.3: signing in again because a token was lost is no sign-in for more.
    #[test]
    fn sign_ins_that_the_server_was_content_with_do_not_count() {
        let mut asked = RequestedScopes::default();
        for _ in 0..10 {
            asked.refused_with("Bearer");
            let scopes = asked.next(&["a".to_owned(), "b".to_owned()], std::iter::empty());
            asked.begin(&scopes.unwrap());
            asked.answered();
        }
        assert!(asks(&mut asked));
    }
}
