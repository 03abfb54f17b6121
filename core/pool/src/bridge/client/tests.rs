//! Conversations of one client, as tables.
