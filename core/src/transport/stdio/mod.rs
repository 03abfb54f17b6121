//! A server as a child process: how it is started, how it is spoken with, and how it ends.

mod ending;
mod stderr;
mod wire;

pub(crate) use self::ending::{abandon, kill_all};
pub(crate) use self::stderr::LINE_BYTES_MAX;
pub(crate) use self::wire::{Child, StdioLimits, StdioWire};

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use trunkline_pool::config::StdioSpec;

use crate::Result;
use crate::lookup::{self, Environment, Found};
use crate::platform::{self, Launch, LaunchError, Launched};

/// Starts a server's program.
///
/// `workspace` is where it starts unless its own `cwd`, which may be relative to it, says otherwise.
///
/// # Errors
/// `spawn_failed` with `detail.command`, `detail.errno` or `detail.cwd`. A dropped future leaves no process.
pub(crate) async fn start(
    server: &Arc<str>,
    spec: &StdioSpec,
    workspace: &Path,
    environment: Environment,
) -> Result<Launched> {
    lookup::check_folder(server, &lookup::folder(spec, workspace))?;
    let Found { cwd, program } = lookup::program(server, spec, workspace, &environment)?;
    let launch = Launch {
        program,
        name: OsString::from(&spec.command),
        args: spec.args.iter().map(OsString::from).collect(),
        env: environment.into_variables(),
        cwd,
    };
    platform::launch(launch).await.map_err(|LaunchError { step, error, .. }| {
        lookup::failure(server, &spec.command, step, &error)
    })
}
