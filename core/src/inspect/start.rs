//! What the start of a server would use of this machine.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use trunkline_pool::config::{StdioSpec, Transport};
use trunkline_pool::expand::{self, Commands};
use trunkline_pool::settings::Template;

use super::whole;
use crate::Result;
use crate::host_env::{
    Environment, HostVariables, check_folder, folder, interpreter, known_of, program, runners,
    withheld,
};

/// What a start depends on besides the entry.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The workspace; the empty path is the current directory.
    pub workspace: &'a Path,
    /// The pool's option of that name.
    pub inherit_env: &'a [String],
    /// Whether the entry is one of a project's files.
    pub is_of_project: bool,
    /// Another `PATH` than that of this process.
    pub path: Option<&'a OsStr>,
}

/// What a start would use, as far as it is known before the server is admitted.
#[derive(Clone, Debug)]
pub struct Start {
    /// The command as it is written, with its variables in place.
    pub command: String,
    /// The program that would be executed.
    pub program: Result<PathBuf>,
    /// What the program's first line names, and the file that this is, for a script.
    pub interpreter: Option<(String, Option<PathBuf>)>,
    /// The working folder.
    pub folder: PathBuf,
    /// Whether the working folder has to be asked for, so that another one is shown.
    pub folder_waits: bool,
    /// Whether the start makes that folder, as it does for package runners of projects.
    pub folder_is_made: bool,
    /// Why the server cannot start in the folder.
    pub folder_refusal: Option<crate::Error>,
    /// Names of variables that every server gets.
    pub base: Vec<String>,
    /// Names of variables that `inherit_env` brings.
    pub inherited: Vec<String>,
    /// Names of variables that the entry sets.
    pub own: Vec<String>,
    /// Names of variables that the entry takes away.
    pub unset: Vec<String>,
    /// The file whose variables join them; nobody has read it.
    pub env_file: Option<String>,
    /// Names of variables for the network that this process has, and that the server does not get.
    pub withheld: Vec<String>,
    /// Where its programs are looked for.
    pub path: Option<OsString>,
}

/// What the start of a server would use; `None` for one that starts no program. Only looks.
///
/// # Errors
/// `invalid_config` and `undefined_variable` of the fields that are looked at.
pub fn find_start(
    server: &str,
    template: &Template,
    around: &Surroundings<'_>,
) -> Result<Option<Start>> {
    let workspace = whole(around.workspace);
    let variables = HostVariables::new(&workspace);
    let mut looked_up = expand::look_up(template, &variables, Commands::Refused)?;
    if around.is_of_project {
        runners::settle(&mut looked_up.spec);
    }
    let Transport::Stdio(written) = &looked_up.spec.transport else { return Ok(None) };
    let mut known = known_of(written, &looked_up);
    if let Some(path) = around.path.and_then(OsStr::to_str)
        && looked_up.own_path.is_empty()
    {
        known.env.insert("PATH".into(), path.into());
    }
    let environment = Environment::of_child(&known, around.inherit_env);
    let cwd = folder(&known, &workspace);
    let program = program(server, &known, &workspace, &environment).map(|found| found.program);
    let run_by = program.as_ref().ok();
    let interpreter = run_by.and_then(|program| interpreter(program, &cwd, environment.path()));
    let folder_is_made = runners::folder().as_deref() == Some(&*cwd);
    let refusal = check_folder(server, &cwd).err().filter(|_| !folder_is_made);
    let (base, inherited) = from_host(written, around.inherit_env);
    Ok(Some(Start {
        command: known.command.clone(),
        program,
        interpreter,
        folder: cwd,
        folder_waits: looked_up.folder_waits,
        folder_is_made,
        folder_refusal: refusal,
        base,
        inherited,
        own: written.env.keys().cloned().collect(),
        unset: written.unset_env.iter().cloned().collect(),
        env_file: template.env_file().map(str::to_owned),
        withheld: withheld(written, around.inherit_env),
        path: environment.path().map(OsStr::to_owned),
    }))
}

/// The names of the host's variables that a server gets: those that all get, and those that it asks
/// for.
fn from_host(written: &StdioSpec, inherit_env: &[String]) -> (Vec<String>, Vec<String>) {
    let names = |spec: &StdioSpec, patterns: &[String]| -> BTreeSet<String> {
        let given = Environment::of_child(spec, patterns).into_variables();
        given.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect()
    };
    let mut asked = written.clone();
    asked.env.clear();
    let all = names(&asked, inherit_env);
    asked.inherit_env.clear();
    let base = names(&asked, &[]);
    // What the entry sets itself is its own.
    let is_own = |name: &String| written.env.contains_key(name);
    let (base, all) = (base.into_iter().collect::<Vec<_>>(), all);
    let inherited = all.into_iter().filter(|name| !base.contains(name) && !is_own(name)).collect();
    (base.into_iter().filter(|name| !is_own(name)).collect(), inherited)
}
