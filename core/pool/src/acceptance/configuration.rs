//! What accepted definitions belong to.

use crate::base::ids::ServerId;
use crate::config::Fingerprint;
use crate::options::OnToolChange;

/// One configuration of a server. The accepted definitions of its tools belong to it, and all its
/// connections share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The server.
    pub server: ServerId,
    /// The fingerprint of its configuration, or the other one where that needs approval.
    pub fingerprint: Fingerprint,
    /// What becomes of its changed tools. What is judged in two ways has no accepted definitions in
    /// common.
    pub on_tool_change: OnToolChange,
}
