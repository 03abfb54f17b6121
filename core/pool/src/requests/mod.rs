//! The requests of one connection: those that wait for an answer, and who reads it.

mod callers;
mod clock;
pub mod in_flight;
pub mod reader_role;
