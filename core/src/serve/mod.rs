//! The pool for clients that do not embed it: lanes, and the endpoint behind them (SPEC 19).

mod calls;
mod client;
mod endpoint;
mod handle;
mod lane;
mod lanes;
mod leases;
mod offers;
mod outlet;
mod questions;
mod secrets;
#[cfg(test)]
mod tests;
mod watch;

pub use self::handle::Serving;
