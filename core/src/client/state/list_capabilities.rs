//! Which lists a server declared.

use rmcp::model::ServerCapabilities;

/// What a server declared about its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) struct ListCapabilities {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    /// Which of them may change.
    pub tools_change: bool,
    pub prompts_change: bool,
    pub resources_change: bool,
}

impl ListCapabilities {
    /// Only what is declared is asked for, since the protocol wants it so and a server may not
    /// answer what it never offered. One that declares nothing at all is asked for its tools: some
    /// serve tools without saying so.
    pub(in crate::client) fn declared_by(server: &ServerCapabilities) -> ListCapabilities {
        let prompts = server.prompts.is_some();
        let resources = server.resources.is_some();
        let changes = |declared: Option<bool>| declared == Some(true);
        ListCapabilities {
            tools: server.tools.is_some() || !(prompts || resources),
            prompts,
            resources,
            tools_change: changes(server.tools.as_ref().and_then(|it| it.list_changed)),
            prompts_change: changes(server.prompts.as_ref().and_then(|it| it.list_changed)),
            resources_change: changes(server.resources.as_ref().and_then(|it| it.list_changed)),
        }
    }

    /// Whether any of them may change.
    pub(in crate::client) fn change(&self) -> bool {
        self.tools_change || self.prompts_change || self.resources_change
    }
}
