//! Credentials of remote servers: what a server asks for, where they come from, and how they are renewed (SPEC 15.3).

pub(crate) mod challenge;
