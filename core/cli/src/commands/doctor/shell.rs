//! Variables and programs that the user's shell finds and this process does not.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use trunkline::{LoginShell, PATH_OF_DESKTOP, Surroundings, find_start, login_shell};
use trunkline_pool::text::escaped;

use super::entries::DoctorEntry;
use super::finding::{Finding, State, Topic, Words, push_shared};
use crate::console::context::Opened;
use crate::console::failure::Failure;

/// Variables that every shell keeps for itself.
const OF_ITSELF: &[&str] = &["_", "PWD", "OLDPWD", "SHLVL"];

pub(super) fn look(
    is_asked: bool,
    entries: &[DoctorEntry<'_>],
    opened: &Opened,
    findings: &mut Vec<Finding>,
) -> Result<(), Failure> {
    let found = |message: String| Finding::general(State::Note, Topic::Shell, message);
    if !is_asked {
        let hint =
            "`trunkline doctor --shell` runs it, and says what it has that this process has not";
        findings.push(found("was not looked at".into()).with_hint(hint));
        return Ok(());
    }
    let Some(program) = std::env::var_os("SHELL").filter(|it| !it.is_empty()).map(PathBuf::from)
    else {
        findings.push(found("the variable SHELL names none".into()));
        return Ok(());
    };
    let asked = login_shell(program.clone(), opened.workspace.clone());
    match opened.wait(asked)?? {
        Ok(shell) => {
            findings.extend(variables(&shell));
            for entry in entries {
                if let Some(found) = of_program(entry, &shell) {
                    push_shared(findings, entry.name, found);
                }
            }
        }
        Err(why) => {
            let program = escaped(&program.to_string_lossy());
            let hint = "look at what its start-up files do where nobody can answer them";
            findings.push(found(format!("{program} {why}")).with_hint(hint));
        }
    }
    Ok(())
}

/// What differs, by the folders of `PATH` and the names of variables.
fn variables(shell: &LoginShell) -> Vec<Finding> {
    let here = std::env::var_os("PATH").unwrap_or_default();
    let there = shell.path.clone().unwrap_or_default();
    let names: BTreeSet<String> =
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    let of_itself = |name: &&String| !OF_ITSELF.contains(&&***name);
    let [only_there, only_here] = [(&shell.names, &names), (&names, &shell.names)]
        .map(|(of, without)| of.difference(without).filter(of_itself).cloned().collect::<Vec<_>>());
    let rows = [
        ("PATH of your shell has, and this process has not", folders(there.as_ref(), &here)),
        ("PATH of this process has, and your shell has not", folders(&here, there.as_ref())),
        ("variables of your shell that this process has not", only_there),
        ("variables of this process that your shell does not set", only_here),
    ];
    let told = rows.into_iter().filter(|(_, names)| !names.is_empty());
    let mut told: Vec<Finding> = told
        .map(|(what, names)| {
            let message = Words::with(|most| format!("{what}: {}", most.of(&names)));
            Finding::general(State::Note, Topic::Shell, message)
        })
        .collect();
    if told.is_empty() {
        let program = escaped(&shell.program.to_string_lossy());
        let message = format!("{program} has the PATH and the variables of this process");
        told.push(Finding::general(State::Good, Topic::Shell, message));
    }
    told
}

/// The folders of one `PATH` that another has not.
fn folders(of: &OsStr, without: &OsStr) -> Vec<String> {
    let others: BTreeSet<PathBuf> = std::env::split_paths(without).collect();
    let mut seen = BTreeSet::new();
    std::env::split_paths(of)
        .filter(|folder| !others.contains(folder) && seen.insert(folder.clone()))
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect()
}

/// Where the shell finds a server's program, as far as others do not find it there.
fn of_program(entry: &DoctorEntry<'_>, shell: &LoginShell) -> Option<Finding> {
    let start = entry.start.as_ref()?;
    if start.command.contains(std::path::is_separator) {
        return None;
    }
    let found_by = |path: &str| {
        let around = Surroundings { path: Some(OsStr::new(path)), ..entry.around };
        find_start(entry.name, entry.template, &around).ok()??.program.ok()
    };
    let there = found_by(shell.path.as_deref()?)?;
    let here = start.program.as_ref().ok();
    let (command, folder) = (escaped(&start.command), folder(&there));
    let message = match here {
        None => format!("your shell finds {command} in {folder}; this process does not"),
        Some(here) if *here != there => {
            let here = self::folder(here);
            format!("your shell finds {command} in {folder}; this process finds it in {here}")
        }
        Some(_) if found_by(PATH_OF_DESKTOP).as_ref() != Some(&there) => {
            format!(
                "your shell finds {command} in {folder}; a host started from the desktop does not"
            )
        }
        Some(_) => return None,
    };
    let hint = "give the absolute path as `command`, or set PATH in the server's `env`";
    Some(Finding::general(State::Note, Topic::Runner, message).with_hint(hint))
}

fn folder(program: &Path) -> String {
    escaped(&program.parent().unwrap_or(program).to_string_lossy())
}
