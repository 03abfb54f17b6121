//! Credentials of remote servers: what a server asks for, where they come from, and how they are
//! renewed (SPEC 15.3).
//!
//! The flows of OAuth are those of rmcp. What it sends goes through [`fetch`](self::fetch), which
//! alone opens sockets here and holds every address against
//! [`address_policy`](crate::net::address_policy); what it concludes is checked in `sign_in` where
//! the rules of this library are stricter. Nothing here opens a browser, listens on a port, or
//! begins anything by itself: a sign-in begins when the host asks for one, and a token is renewed
//! when a message is to be sent.
//!
//! What is signed in belongs to one configuration: another address, other headers or another client
//! are another configuration, and begin without credentials. A grant stays with the authorization
//! server that issued it.
//!
//! A refusal causes no discovery. It would be traffic to addresses that a server chose, without
//! anybody's wish.

mod client_config;
pub(crate) mod context;
mod credentials;
mod discovery;
mod errors;
mod fetch;
mod host_credentials;
mod host_token;
mod redirect;
mod registered_clients;
mod sign_in;
#[cfg(test)]
mod tests;

pub(crate) use self::client_config::signs_in_straight;
pub(crate) use self::context::Context;
pub(crate) use self::credentials::Credentials;
pub(crate) use self::credentials::rejection::{CredentialAttempt, Rejection};
pub(crate) use self::host_credentials::Denial;
pub(crate) use self::sign_in::{NO_ADDRESS, SignIns};
pub(crate) use crate::net::address_policy::Author;
pub(crate) use crate::storage::tokens::Store;
