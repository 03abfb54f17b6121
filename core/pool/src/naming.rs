//! The names under which tools are exposed to a model (SPEC 14.3).

/// The exposed name of a server's tool; depends on the two names alone.
pub fn exposed_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}
