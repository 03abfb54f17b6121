//! The environment of servers, by the names of its variables alone.

use std::collections::BTreeSet;

use trunkline::Start;
use trunkline_pool::expand::{TakenKind, takes};
use trunkline_pool::glob;
use trunkline_pool::text::escaped;

use super::entries::DoctorEntry;
use super::finding::{Finding, State, Topic, Words, push_shared};
use super::runner::{installed_by, runner};

/// Names of variables, or patterns of them, that the programs of a kind read; the empty kind is
/// every program.
const READ_BY: &[(&[&str], &[&str])] = &[
    (&[""], &["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]),
    (
        &["npx", "npm", "node", "pnpm", "yarn", "tsx"],
        &["NODE_PATH", "NODE_OPTIONS", "NPM_CONFIG_*", "npm_config_*", "PNPM_HOME", "COREPACK_*"],
    ),
    (&["bun", "bunx"], &["BUN_*"]),
    (&["deno"], &["DENO_*"]),
    (
        &["uvx", "uv", "pipx", "python", "pip"],
        &["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_*", "PIP_*", "PIPX_*"],
    ),
    (&["docker", "podman", "nerdctl"], &["DOCKER_*", "CONTAINER_HOST"]),
    (&["java"], &["JAVA_HOME", "JAVA_TOOL_OPTIONS", "CLASSPATH"]),
    (&["dotnet"], &["DOTNET_*", "NUGET_*"]),
    (&["go"], &["GOPATH", "GOROOT", "GOPROXY", "GOFLAGS"]),
    (&["cargo"], &["CARGO_HOME", "RUSTUP_HOME"]),
    (&["ruby"], &["GEM_HOME", "GEM_PATH", "BUNDLE_*"]),
    (&["nvm"], &["NVM_DIR", "NVM_BIN"]),
    (&["asdf"], &["ASDF_*"]),
    (&["pyenv"], &["PYENV_*"]),
    (&["Volta"], &["VOLTA_HOME"]),
    (&["fnm"], &["FNM_*"]),
    (&["mise"], &["MISE_*"]),
];

pub(super) fn look(entries: &[DoctorEntry<'_>], findings: &mut Vec<Finding>) {
    for entry in entries {
        let Some(start) = &entry.start else { continue };
        push_shared(findings, entry.name, given(entry, start));
    }
    for entry in entries {
        let Some(start) = &entry.start else { continue };
        let missing = missing(start);
        if !missing.is_empty() {
            let message = Words::with(|most| {
                format!("this process has {}, and the server does not", most.of(&missing))
            });
            let hint = "`inherit_env` of the pool or of the entry names what a server gets of them";
            let found = Finding::general(State::Note, Topic::Variables, message).with_hint(hint);
            push_shared(findings, entry.name, found);
        }
        if let Some(found) = other_path(start) {
            push_shared(findings, entry.name, found);
        }
    }
}

/// What a server gets, and whence.
fn given(entry: &DoctorEntry<'_>, start: &Start) -> Finding {
    let parts = [
        ("", &start.base),
        ("by `inherit_env` ", &start.inherited),
        ("by its `env` ", &start.own),
        ("not ", &start.unset),
    ];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let mut parts: Vec<String> =
        parts.map(|(whence, names)| format!("{whence}{}", all(names))).collect();
    if let Some(file) = &start.env_file {
        parts.push(format!("those of the file {}", escaped(file)));
    }
    let taken = taken(entry, start);
    if !taken.is_empty() {
        parts.push(format!(
            "the entry takes {}, which it does not pass on by that name",
            all(&taken)
        ));
    }
    if parts.is_empty() {
        parts.push("none".into());
    }
    Finding::general(State::Good, Topic::Variables, parts.join("; "))
}

/// The variables of the host that the entry's texts hold, and that the server does not get by their
/// names.
fn taken(entry: &DoctorEntry<'_>, start: &Start) -> Vec<String> {
    let given = given_names(start);
    let taken = takes(entry.template).into_keys();
    let taken = taken.filter(|(kind, name)| *kind == TakenKind::Env && !given.contains(&**name));
    taken.map(|(_, name)| name).collect()
}

fn given_names(start: &Start) -> BTreeSet<&str> {
    let names = start.base.iter().chain(&start.inherited).chain(&start.own);
    names.map(String::as_str).collect()
}

/// The variables of this process that the server's program reads, and that the server does not get.
fn missing(start: &Start) -> Vec<String> {
    let mut kinds = vec![""];
    kinds.extend(runner(start));
    let interpreter = start.interpreter.as_ref().and_then(|(_, file)| file.as_deref());
    let files = start.program.as_deref().ok().into_iter().chain(interpreter);
    kinds.extend(files.filter_map(installed_by));
    let rows = READ_BY.iter().filter(|(of, _)| of.iter().any(|kind| kinds.contains(kind)));
    let patterns: Vec<&str> = rows.flat_map(|(_, names)| *names).copied().collect();
    let given = given_names(start);
    let host = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let read = host.filter(|name| {
        patterns.iter().any(|pattern| glob::matches(pattern, name))
            && !given.contains(&**name)
            && !start.unset.contains(name)
    });
    let missing: BTreeSet<String> = read.chain(start.withheld.iter().cloned()).collect();
    missing.into_iter().collect()
}

/// What is different where the entry has a `PATH` of its own.
fn other_path(start: &Start) -> Option<Finding> {
    let host = std::env::var_os("PATH").unwrap_or_default();
    let own = start.path.clone().unwrap_or_default();
    if own == host {
        return None;
    }
    let folders: BTreeSet<_> = std::env::split_paths(&own).collect();
    let lacking: Vec<String> = std::env::split_paths(&host)
        .filter(|folder| !folders.contains(folder))
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect();
    let message = Words::with(|most| {
        let lacks = match lacking.is_empty() {
            true => String::new(),
            false => format!(", without {}", most.of(&lacking)),
        };
        format!("PATH differs: the entry has another than this process{lacks}")
    });
    Some(Finding::general(State::Note, Topic::Variables, message))
}

/// Every name; an environment has a bound of its own.
fn all(names: &[String]) -> String {
    names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join(", ")
}
