//! What a server lists, how that is kept fresh, and what it announces.

pub(super) mod freshness;
pub(super) mod list_all;
pub(super) mod paging;
pub(super) mod subscriptions;
pub(super) mod task_tools;
