//! What passes between the bridge and a client: messages, headers, codes and frames.

pub(super) mod codes;
pub(super) mod edit;
pub(super) mod frames;
pub(super) mod headers;
pub(super) mod meta;
pub(super) mod opening;
pub(super) mod param_headers;
pub(super) mod reading;
pub(super) mod revisions;
