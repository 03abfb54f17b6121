//! What would run for a server that nobody has admitted yet.

use std::path::Path;

use trunkline_pool::config::{StdioSpec, Transport};
use trunkline_pool::expand::LookedUp;

use super::{Environment, FoundProgram, program};
use crate::Result;

/// Finds the program that a server's start would execute; `None` where no program is started. Only
/// looks.
///
/// `inherit_env` is the pool's. The working directory need not be there, and is the workspace where
/// it waits for an answer.
///
/// # Errors
/// `spawn_failed` with `detail.command` and `detail.errno`.
pub(crate) fn looked_up_program(
    server: &str,
    looked_up: &LookedUp,
    workspace: &Path,
    inherit_env: &[String],
) -> Result<Option<FoundProgram>> {
    let Transport::Stdio(stdio) = &looked_up.spec.transport else { return Ok(None) };
    let stdio = known_of(stdio, looked_up);
    let environment = Environment::of_child(&stdio, inherit_env);
    program(server, &stdio, workspace, &environment).map(Some)
}

/// As much of a server as is known before anybody is asked. Of its environment that is the path
/// alone, since the rest of it still holds variables.
pub(crate) fn known_of(stdio: &StdioSpec, looked_up: &LookedUp) -> StdioSpec {
    let mut stdio = stdio.clone();
    if looked_up.folder_waits {
        stdio.cwd = None;
    }
    stdio.env.clear();
    for (name, value) in &looked_up.own_path {
        match value {
            Some(value) => drop(stdio.env.insert(name.clone(), value.clone())),
            None => drop(stdio.unset_env.insert(name.clone())),
        }
    }
    stdio
}
