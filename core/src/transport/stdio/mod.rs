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

/// Asked about the program that was found for a command, right before that very file is started; an error is the end of the attempt.
/// It may read files.
#[derive(Clone)]
pub(crate) struct ProgramCheck(pub Arc<ProgramChecks>);

/// The question itself.
type ProgramChecks = dyn Fn(&Found) -> Result<()> + Send + Sync;

impl std::fmt::Debug for ProgramCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgramCheck")
    }
}

/// Starts a server's program.
///
/// `workspace` is where it starts unless its own `cwd`, which may be relative to it, says otherwise.
///
/// # Errors
/// `spawn_failed` with `detail.command`, `detail.errno` or `detail.cwd`; what `check` says. A dropped future leaves no process.
pub(crate) async fn start(
    server: &Arc<str>,
    spec: &StdioSpec,
    workspace: &Path,
    environment: Environment,
    check: Option<&ProgramCheck>,
) -> Result<Launched> {
    lookup::check_folder(server, &lookup::folder(spec, workspace))?;
    let found = lookup::program(server, spec, workspace, &environment)?;
    if let Some(ProgramCheck(check)) = check {
        check(&found).map_err(|error| error.with_server(server.as_ref()))?;
    }
    let Found { cwd, program } = found;
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
