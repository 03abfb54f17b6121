//! Decisions, requests and hashes.
