//! Decisions in a file.
