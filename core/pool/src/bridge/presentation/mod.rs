//! What a client is shown of servers: names, lists, introductions and results.

pub(super) mod contents;
pub(super) mod errors;
pub(super) mod introductions;
pub(super) mod lists;
pub(super) mod names;
pub(super) mod results;
pub(super) mod schemas;
pub(super) mod uris;
