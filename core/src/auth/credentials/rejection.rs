//! A message that a server refused.

use reqwest::header::HeaderValue;

/// How a server refused a message.
pub(crate) struct Rejection<'a> {
    /// What it was sent, if anything.
    pub sent: Option<&'a HeaderValue>,
    /// Its `WWW-Authenticate`, if it has one of `Bearer`.
    pub challenge: Option<&'a str>,
    /// Whether another token for the same may do: 401, not 403.
    pub is_unknown: bool,
    /// How often this was asked of the message.
    pub turn: CredentialAttempt,
}

/// What one message was sent with. Of each it is asked once what else there is; twice where it was
/// sent with nothing at first, so that a host which keeps tokens hears that the one it gave is
/// refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CredentialAttempt {
    #[default]
    First,
    AfterNothing,
    Last,
}

impl CredentialAttempt {
    /// The next one, for a message that was sent with this and refused.
    pub(crate) fn next(self, sent: Option<&HeaderValue>) -> CredentialAttempt {
        match (self, sent) {
            (CredentialAttempt::First, None) => CredentialAttempt::AfterNothing,
            (
                CredentialAttempt::First
                | CredentialAttempt::AfterNothing
                | CredentialAttempt::Last,
                _,
            ) => CredentialAttempt::Last,
        }
    }
}
