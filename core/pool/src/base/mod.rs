//! What every room may use: ids and maps by them, and strings that others wrote.

pub mod glob;
pub mod id_map;
pub mod text;

pub(crate) mod did_you_mean;
pub(crate) mod ids;
#[cfg(test)]
#[path = "tests/random.rs"]
pub(crate) mod random;
pub(crate) mod stable_table;
