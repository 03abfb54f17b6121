//! What configures a pool: sources and their files, trust and approvals, edits, and settings that
//! are hostile.

mod hostile;
mod reload;
mod sources;
