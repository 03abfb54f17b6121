//! What a receiver hears of requests, connections and pools, and what of it the servers see (SPEC
//! 16.7).

mod documented;
mod losses;
mod metrics;
#[path = "../rig/mod.rs"]
mod rig;
mod secrets;
mod spans;
