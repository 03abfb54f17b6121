//! What everything that reads what others wrote has to hold, whatever they wrote (I-28, SECURITY
//! row 15).
//!
//! A target takes bytes, hands them to what reads them, and panics when something does not hold:
//! not only that nothing else panics, but that a text is read the same whole and in pieces, that
//! what is written is read back, that bounds hold and that no secret is shown. The bytes come from
//! the corpus and from [`mutate`]; `cargo xtask fuzz` lets libFuzzer look for others.

pub mod corpus;
pub mod input;
pub mod mutate;
pub mod targets;

pub use targets::{TARGETS, Target};
