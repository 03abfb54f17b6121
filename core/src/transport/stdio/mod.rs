//! A server as a child process: how it is started, how it is spoken with, and how it ends.

mod eager_read;
mod reader_role;
mod shutdown;
mod stderr;
mod wire;

pub(crate) use self::shutdown::{abandon, kill_all};
pub(crate) use self::stderr::LINE_BYTES_MAX;
pub(crate) use self::wire::{StdioLimits, StdioWire};

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use trunkline_pool::config::StdioSpec;

use crate::host_env::{self, Environment, FoundProgram, ProgramQuery, SearchCache};
use crate::platform::{self, Expected, Launch, LaunchError, Launched};
use crate::runtime::blocking_pool;
use crate::{Error, ErrorCode, Result};

/// Asked about the program that was found for a command, right before that very file is started:
/// what its files have to be then; an error is the end of the attempt. It may read files.
#[derive(Clone)]
pub(crate) struct ProgramCheck(pub Arc<ProgramChecks>);

/// The question itself.
type ProgramChecks = dyn Fn(&FoundProgram) -> Result<Expected> + Send + Sync;

impl std::fmt::Debug for ProgramCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgramCheck")
    }
}

/// Finds a server's program, all that its start needs, and asks `check` about it. File systems may
/// keep it waiting. So it is done on a thread that may wait, in its turn among those `lookups` that
/// look for the same.
///
/// `workspace` is where it starts unless its own `cwd`, which may be relative to it, says
/// otherwise.
///
/// # Errors
/// `spawn_failed` with `detail.command`, `detail.errno` or `detail.cwd`; what `check` says. A
/// dropped future starts nothing.
pub(crate) async fn find(
    server: &Arc<str>,
    spec: &StdioSpec,
    workspace: &Path,
    environment: Environment,
    check: Option<&ProgramCheck>,
    lookups: &SearchCache,
) -> Result<Launch> {
    let lookups = lookups.of(ProgramQuery::new(server, spec, workspace, &environment));
    let (name, spec, workspace) = (server.clone(), spec.clone(), workspace.to_owned());
    let check = check.cloned();
    let found = lookups.run(move || {
        let folder = host_env::folder(&spec, &workspace);
        host_env::runners::make(&folder).map_err(|error| error.with_server(name.as_ref()))?;
        host_env::check_folder(&name, &folder)?;
        let found = host_env::program(&name, &spec, &workspace, &environment)?;
        let expected = match check {
            Some(ProgramCheck(check)) => {
                check(&found).map_err(|error| error.with_server(name.as_ref()))?
            }
            None => Expected::default(),
        };
        let FoundProgram { cwd, program, search: _ } = found;
        host_env::check_interpreter(&name, &spec.command, &program, &cwd)?;
        Ok(Launch {
            // Not as it is written: a program that looks for itself would look in its own PATH.
            name: program.clone().into_os_string(),
            program,
            expected,
            args: spec.args.iter().map(OsString::from).collect(),
            env: environment.into_variables(),
            cwd,
        })
    });
    found.await.unwrap_or_else(|| {
        let message = "the look-up of the command died";
        Err(Error::new(ErrorCode::Internal, message).with_server(server.as_ref()))
    })
}

/// Whether that is the failure of a start whose files were others by then.
pub(crate) fn is_replaced(failed: &Error) -> bool {
    failed.code() == ErrorCode::SpawnFailed && failed.detail().contains_key("replaced")
}

/// Starts a program that was found for this command.
///
/// # Errors
/// `spawn_failed` with `detail.command` and `detail.errno`. A dropped future leaves no process.
pub(crate) async fn start(server: &Arc<str>, command: &str, launch: Launch) -> Result<Launched> {
    let launched = platform::launch(launch, blocking_pool::give).await;
    launched.map_err(|failed| match failed.is_replaced() {
        true => host_env::replaced(server, command),
        false => {
            let LaunchError { step, error, .. } = failed;
            host_env::failure(server, command, step, &error)
        }
    })
}
