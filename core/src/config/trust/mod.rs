//! On whose word servers of sources run: trust, approvals, and the tools that those accept.

pub(crate) mod acceptance_store;
pub(crate) mod approving;
pub(crate) mod claim;
pub(crate) mod claims;
pub(crate) mod unsaved_tools;
pub(crate) mod warrant;
pub(crate) mod warrants;
