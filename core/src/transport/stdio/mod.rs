//! A server as a child process: what it is given, how its program is found, how it is spoken with, and how it ends.

mod ending;
mod environment;
mod program;
mod stderr;
mod wire;

pub(crate) use self::ending::abandon;
pub(crate) use self::environment::Environment;
pub(crate) use self::stderr::LINE_BYTES_MAX;
pub(crate) use self::wire::{Child, StdioLimits, StdioWire};

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use trunkline_pool::config::StdioSpec;

use crate::platform::{self, Launch, LaunchError, Launched};
use crate::{Error, ErrorCode, Result};

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
    let env = environment.variables;
    let cwd = match &spec.cwd {
        Some(cwd) => workspace.join(cwd),
        None => workspace.to_owned(),
    };
    let cwd = std::path::absolute(&cwd).unwrap_or(cwd);
    check_folder(server, &cwd)?;
    let failed = |step: &str, error: &std::io::Error| failure(server, &spec.command, step, error);
    let path = env
        .iter()
        .find(|(name, _)| environment::is_named(name, "PATH"))
        .map(|(_, path)| path.as_os_str());
    let program = program::find(&spec.command, path, &cwd).map_err(|e| failed("find it", &e))?;
    let launch = Launch {
        program,
        name: OsString::from(&spec.command),
        args: spec.args.iter().map(OsString::from).collect(),
        env,
        cwd,
    };
    platform::launch(launch).await.map_err(|LaunchError { step, error, .. }| failed(step, &error))
}

fn check_folder(server: &Arc<str>, cwd: &Path) -> Result<()> {
    let found = std::fs::metadata(cwd).and_then(|found| {
        if found.is_dir() { Ok(()) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    found.map_err(|error: std::io::Error| {
        let shown = super::escape::escape_line(cwd.to_string_lossy().as_bytes());
        let message =
            format!("the working directory {shown} cannot be entered: {}", reason(&error));
        with_errno(Error::new(ErrorCode::SpawnFailed, message), &error)
            .with_server(server.as_ref())
            .with_detail("cwd", shown)
            .with_hint("create the folder, or correct cwd in the server's configuration")
    })
}

/// Says what could not be done with which command; never an argument or a value of the environment.
fn failure(server: &Arc<str>, command: &str, step: &str, error: &std::io::Error) -> Error {
    let command = super::escape::escape_line(command.as_bytes());
    let message =
        format!("the command {command} failed to start, trying to {step}: {}", reason(error));
    let error_kind = error.kind();
    let hint = match error_kind {
        std::io::ErrorKind::NotFound => "install it, or give its absolute path as the command",
        std::io::ErrorKind::PermissionDenied => "make the file executable",
        _ => "start the command by hand to see why",
    };
    with_errno(Error::new(ErrorCode::SpawnFailed, message), error)
        .with_server(server.as_ref())
        .with_detail("command", command)
        .with_hint(hint)
}

fn with_errno(failure: Error, error: &std::io::Error) -> Error {
    match error.raw_os_error() {
        Some(errno) => failure.with_detail("errno", errno),
        None => failure,
    }
}

/// The system's words for an error, lower case, without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}
