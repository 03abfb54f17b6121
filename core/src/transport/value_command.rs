//! Commands whose output is a value, for a host that chose to run them (SPEC 10.5).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::config::StdioSpec;
use trunkline_pool::expand::CommandLine;

use super::stdio;
use crate::base::escape::escape_line;
use crate::host_env::{Environment, SearchCache};
use crate::platform::{Exit, Launched, Process, ReadPipe};
use crate::{Error, ErrorCode, Result};

/// How long a command may take: nobody waits longer for a server to start.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes that a command may print: no token is as long, and a program that prints on is
/// another program.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// How long the output may stay open once the command has ended.
const OUTPUT_WAIT: Duration = Duration::from_millis(100);

/// Bytes read at once.
const READ_BYTES: usize = 8192;

/// Runs a command without a shell, in the workspace and with the environment of a child. Gives what
/// it prints, without the line break at the end. Whatever of it still runs then is ended.
/// `inherit_env` and `lookups` are the pool's.
///
/// # Errors
/// `undefined_variable` with `detail.variable` when it cannot be started, has not ended after 10
/// seconds, or does not end with 0. Also when it prints more than 64 KiB, or what is no UTF-8. It
/// shows neither arguments nor output. A dropped future leaves no process.
pub(crate) async fn run_command(
    server: &Arc<str>,
    line: &CommandLine,
    workspace: &Path,
    inherit_env: &[String],
    lookups: &SearchCache,
) -> Result<String> {
    let run = run(server, line, workspace, inherit_env, lookups);
    match tokio::time::timeout(COMMAND_TIMEOUT, run).await {
        Ok(printed) => printed,
        // What was started is ended as it is dropped.
        Err(_) => Err(refusal(server, line, "has not ended after 10 seconds")),
    }
}

async fn run(
    server: &Arc<str>,
    line: &CommandLine,
    workspace: &Path,
    inherit_env: &[String],
    lookups: &SearchCache,
) -> Result<String> {
    let spec = StdioSpec {
        command: line.program().to_owned(),
        args: line.args().to_vec(),
        cwd: None,
        env: BTreeMap::new(),
        unset_env: BTreeSet::new(),
        inherit_env: Vec::new(),
    };
    let printed = print(server, &spec, workspace, inherit_env, lookups).await;
    printed.map_err(|(why, cause)| {
        let refused = refusal(server, line, why);
        match cause {
            Some(cause) => refused.with_cause(cause),
            None => refused,
        }
    })
}

/// Runs a program for what it prints, in the bounds of [`run_command`].
///
/// # Errors
/// The rest of a sentence about the program. A dropped future leaves no process.
pub(crate) async fn printed_by(
    spec: &StdioSpec,
    workspace: &Path,
) -> std::result::Result<String, &'static str> {
    let (nobody, lookups) = (Arc::from(""), SearchCache::default());
    let print = print(&nobody, spec, workspace, &[], &lookups);
    match tokio::time::timeout(COMMAND_TIMEOUT, print).await {
        Ok(printed) => printed.map_err(|(why, _)| why),
        Err(_) => Err("has not ended after 10 seconds"),
    }
}

async fn print(
    server: &Arc<str>,
    spec: &StdioSpec,
    workspace: &Path,
    inherit_env: &[String],
    lookups: &SearchCache,
) -> std::result::Result<String, (&'static str, Option<Error>)> {
    let environment = Environment::of_child(spec, inherit_env);
    let launched = async {
        let launch = stdio::find(server, spec, workspace, environment, None, lookups).await?;
        stdio::start(server, &spec.command, launch).await
    };
    let Launched { process, stdin, stdout, stderr } =
        launched.await.map_err(|error| ("cannot be started", Some(error)))?;
    // Nobody answers what it asks.
    drop(stdin);
    let printed = printed(&process, &stdout, &stderr).await;
    stdio::kill_all(&process, server).await;
    printed.map_err(|why| (why, None))
}

/// What a command prints until it ends, or the rest of a sentence that says why it counts for
/// nothing.
async fn printed(
    process: &Process,
    stdout: &ReadPipe,
    stderr: &ReadPipe,
) -> std::result::Result<String, &'static str> {
    let mut out = Vec::new();
    let all = async {
        read_all(stdout, &mut out).await?;
        Ok::<Exit, &str>(process.exited().await)
    };
    let outcome = tokio::select! {
        ended = all => ended?,
        exit = process.exited() => exit,
        never = discard(stderr) => match never {},
    };
    if outcome != Exit::Status(0) {
        return Err("failed");
    }
    // What it printed last may still be in the pipe; what it left behind may hold the pipe open.
    if let Ok(read) = tokio::time::timeout(OUTPUT_WAIT, read_all(stdout, &mut out)).await {
        read?;
    }
    let text = String::from_utf8(out).map_err(|_| "does not print UTF-8")?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

async fn read_all(pipe: &ReadPipe, out: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
    loop {
        out.reserve(READ_BYTES);
        match pipe.read(out).await {
            Ok(0) => return Ok(()),
            Ok(_) if out.len() > OUTPUT_BYTES_MAX => return Err("prints more than 64 KiB"),
            Ok(_) => {}
            Err(_) => return Err("has an output that cannot be read"),
        }
    }
}

/// Reads what nobody wants to see, so that its writer is not held up.
async fn discard(pipe: &ReadPipe) -> std::convert::Infallible {
    let mut buffer = Vec::with_capacity(READ_BYTES);
    while let Ok(1..) = pipe.read(&mut buffer).await {
        buffer.clear();
    }
    std::future::pending().await
}

fn refusal(server: &str, line: &CommandLine, why: &str) -> Error {
    let program = escape_line(line.program().as_bytes());
    Error::new(
        ErrorCode::UndefinedVariable,
        format!("the command {program}, whose output is a value, {why}"),
    )
    .with_server(server)
    .with_detail("variable", format!("cmd:{program}"))
}
