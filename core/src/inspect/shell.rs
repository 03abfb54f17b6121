//! The environment of the user's login shell, for `doctor --shell`.
//!
//! Start-up files may run anything, so only those who ask run the shell. Reading the files instead
//! cannot be done by anything but the shell.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use trunkline_pool::config::StdioSpec;

use super::whole;
use crate::Result;
use crate::transport::printed_by;

/// What begins a shell's answer: its start-up files may print as well.
const MARK: &str = "trunkline-environment";

/// What a program that no shell started most often has: the start-up files add to it.
pub const PATH_OF_DESKTOP: &str = if cfg!(target_os = "macos") {
    "/usr/bin:/bin:/usr/sbin:/sbin"
} else {
    "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
};

/// The environment of a shell.
#[derive(Clone, Debug)]
pub struct LoginShell {
    /// Its program.
    pub program: PathBuf,
    /// The names of its variables.
    pub names: BTreeSet<String>,
    /// Where it looks for programs.
    pub path: Option<String>,
}

/// Runs a shell as a login shell at a terminal would run, with the environment of a child and
/// without the `PATH` of this process. It has no input; its time and its output are bounded, and
/// all that it started is ended. `Err` says in words why it told nothing.
///
/// # Errors
/// Never fails; the type is what `wait` expects.
pub async fn login_shell(
    program: PathBuf,
    workspace: PathBuf,
) -> Result<std::result::Result<LoginShell, String>> {
    let Some(command) = program.to_str().filter(|_| program.is_absolute()) else {
        return Ok(Err("is not an absolute path".to_owned()));
    };
    let script = format!("printf '%s\\0' {MARK}; env -0");
    let spec = StdioSpec {
        command: command.to_owned(),
        args: ["-l", "-i", "-c", &script].map(str::to_owned).to_vec(),
        cwd: None,
        env: BTreeMap::from([("PATH".to_owned(), PATH_OF_DESKTOP.to_owned())]),
        unset_env: BTreeSet::new(),
        inherit_env: Vec::new(),
    };
    let printed = printed_by(&spec, &whole(Path::new(&workspace))).await;
    Ok(match printed {
        Ok(printed) => parsed(program, &printed).ok_or("printed no environment".to_owned()),
        Err(why) => Err(why.to_owned()),
    })
}

fn parsed(program: PathBuf, printed: &str) -> Option<LoginShell> {
    let (_, variables) = printed.rsplit_once(&format!("{MARK}\0"))?;
    let pairs = || variables.split('\0').filter_map(|pair| pair.split_once('='));
    let path = pairs().find(|(name, _)| *name == "PATH").map(|(_, path)| path.to_owned());
    let names: BTreeSet<String> = pairs().map(|(name, _)| name.to_owned()).collect();
    (!names.is_empty()).then_some(LoginShell { program, names, path })
}
