//! What sign-ins ask for: what the server wanted last, the scopes, and how often in a row.

use super::challenge::Challenge;
use super::source::Reason;

/// Sign-ins in a row for scopes that were asked for before. A server that wants them again and again gets no more of them.
const SAME_SCOPES_MAX: u32 = 2;

#[derive(Default)]
pub(super) struct Asked {
    /// What the server answered last without letting in, as long as nothing has answered that.
    refusal: Option<String>,
    /// The scopes that the last sign-in asked for.
    scopes: Vec<String>,
    /// How often in a row it was these.
    times: u32,
}

impl Asked {
    /// The server refused a message with this challenge.
    pub(super) fn refused_with(&mut self, challenge: &str) {
        self.refusal = Some(challenge.to_owned());
    }

    /// The `WWW-Authenticate` of the last refusal that counts.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// A person signed in.
    pub(super) fn answered(&mut self) {
        self.refusal = None;
    }

    /// There is another token for the same. It is an answer to every refusal but one that wants a token for more, unless the host
    /// was asked for that.
    pub(super) fn answered_by_renewal(&mut self, reason: Reason) {
        if reason == Reason::Scope || !self.challenge().wants_more() {
            self.refusal = None;
        }
    }

    /// A person signed out: the next sign-in begins anew.
    pub(super) fn forget(&mut self) {
        (self.scopes, self.times) = (Vec::new(), 0);
    }

    /// A sign-in for these scopes was taken up from a file; the next asks for no fewer.
    pub(super) fn took_up(&mut self, scopes: &[String]) {
        if self.scopes.is_empty() {
            self.scopes = scopes.to_vec();
        }
    }

    /// A sign-in begins that asks for these.
    pub(super) fn begin(&mut self, scopes: &[String]) {
        self.scopes = scopes.to_vec();
        self.scopes.sort();
        self.scopes.dedup();
    }

    /// The scopes to ask for next: those of the configuration; with those that there are, when the server wants more than these.
    /// Nothing when the same were asked for again and again.
    pub(super) fn next(
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
        self.times = match challenge.wants_more() && self.scopes == scopes {
            true => self.times + 1,
            false => 0,
        };
        self.scopes.clone_from(&scopes);
        (self.times <= SAME_SCOPES_MAX).then_some(scopes)
    }

    fn challenge(&self) -> Challenge {
        Challenge::of(self.refusal.as_deref().into_iter())
    }
}
