//! Every rule of the reducer by name: one behaviour a test, whole effect lists compared.

mod acquire;
mod auth;
mod bench;
mod breaker;
mod budget;
mod drain;
mod gates;
mod idle;
mod key_gates;
mod limits;
mod loss;
mod own;
mod quarantine;
mod refresh;
mod replaced;
mod restart;
mod revival;
mod session;
mod status;
mod superseded;
