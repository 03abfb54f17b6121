//! Credentials of remote servers: what a server asks for, where they come from, and how they are renewed (SPEC 15.3).
//!
//! The flows of OAuth are those of rmcp. What it sends goes through [`fetch`](self::fetch), which alone opens sockets here and
//! holds every address against [`guard`](self::guard); what it concludes is checked in `sign_in` where the rules of this library
//! are stricter. Nothing here opens a browser, listens on a port, or begins anything by itself: a sign-in begins when the host
//! asks for one, and a token is renewed when a message is to be sent.
//!
//! What is signed in belongs to one configuration: another address, other headers or another client are another configuration,
//! and begin without credentials. A grant stays with the authorization server that issued it.

mod answer;
mod asked;
pub(crate) mod challenge;
mod client;
mod clients;
pub(crate) mod context;
mod credentials;
mod discovered;
mod discovery;
mod failure;
mod fetch;
mod flow_errors;
mod grant;
mod grant_types;
mod guard;
mod kept;
mod redirect;
mod refused;
mod renewal;
mod sign_in;
mod source;
mod spent;
#[cfg(test)]
mod tests;
mod warnings;

pub(crate) use self::client::signs_in_straight;
pub(crate) use self::context::Context;
pub(crate) use self::credentials::Credentials;
pub(crate) use self::guard::Author;
pub(crate) use self::refused::{Refused, Turn};
pub(crate) use self::sign_in::{NO_ADDRESS, SignIns};
pub(crate) use self::source::Denial;
pub(crate) use crate::storage::tokens::Store;
