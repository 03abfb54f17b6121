//! Signing in: against a server with an authorization server of its own, which says what it is told
//! to say.

mod agent;
mod answers;
mod contexts;
mod echoes;
mod flows;
mod gates;
mod hostile;
mod kept;
mod order;
mod socket;
mod source;
