//! One session: what it wants, holds and sees, and its calls.

pub(crate) mod acquire;
pub(crate) mod call;
pub(crate) mod configure;
pub(crate) mod demand;
pub(crate) mod disabled_servers;
pub(crate) mod lease;
pub(crate) mod pinned_config;
pub(crate) mod registry;
pub(crate) mod session_core;
pub(crate) mod specs;
pub(crate) mod unsent_roots;
pub(crate) mod view;
