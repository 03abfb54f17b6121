//! What would run of an entry that needs approval, looked up without doing anything (SPEC 12.2,
//! S-02, S-08).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trunkline_pool::approvals::{
    Asked, Book, Candidate, CandidateLaunch, Declared, HiddenEntry, Identity, ProjectRoot,
    Replaced, Request, RequestOrigin,
};
use trunkline_pool::config::{ServerSpec, StdioSpec, Transport};
use trunkline_pool::expand::LookedUp;
use trunkline_pool::settings::Template;

use super::looks::Looks;
use crate::config::types::EntryOrigin;
use crate::host_env::{
    Environment, FoundProgram, StartSnapshot, leads_out, looked_up_program, program,
};
use crate::{ErrorCode, Result};

/// What would run, and what a decision about it is about.
#[derive(Clone)]
pub(crate) struct LaunchPreview {
    pub(crate) identity: Identity,
    shown: CandidateLaunch,
    /// The file that its command leads to, when there is one.
    pub(crate) file: Option<PathBuf>,
    /// The files outside of the workspace whose texts are values.
    secret_files: Vec<String>,
    /// What that and its interpreters have to be at the start.
    pub(crate) look: Option<StartSnapshot>,
    /// How that is another than what was looked at first, and what a decision about that was about.
    pub(crate) replaced: Option<(Replaced, Identity)>,
    /// Whether all of it can be shown as it is. What cannot must not be decided about: two such
    /// programs would look the same.
    pub(crate) is_whole: bool,
}

/// What it is looked at with.
#[derive(Clone, Copy)]
pub(crate) struct PreviewContext<'a> {
    pub workspace: &'a Path,
    pub inherit_env: &'a [String],
    pub looks: &'a Looks,
}

/// What the program of an entry is found with, again and again.
#[derive(Clone)]
pub(crate) enum Command {
    /// Of a template.
    LookedUp(Box<LookedUp>),
    /// Of a configuration that is taken literally.
    Literal(Box<ServerSpec>),
}

impl Command {
    /// The program that it leads to now; nothing where there is none.
    pub(crate) fn found(
        &self,
        name: &str,
        workspace: &Path,
        inherit_env: &[String],
    ) -> Option<FoundProgram> {
        match self {
            Command::LookedUp(looked_up) => {
                looked_up_program(name, looked_up, workspace, inherit_env).ok()?
            }
            Command::Literal(spec) => match &spec.transport {
                Transport::Stdio(stdio) => found(name, stdio, workspace, inherit_env),
                Transport::Remote(_) | Transport::Host(_) | _ => None,
            },
        }
    }
}

fn found(
    name: &str,
    stdio: &StdioSpec,
    workspace: &Path,
    inherit_env: &[String],
) -> Option<FoundProgram> {
    let environment = Environment::of_child(stdio, inherit_env);
    program(name, stdio, workspace, &environment).ok()
}

/// The file that is executed, through every link.
pub(crate) fn file_of(found: &FoundProgram) -> PathBuf {
    found.file().unwrap_or_else(|_| found.program.clone())
}

impl Looks {
    /// What a decision is about, what the program has to be at its start, and how that is another
    /// than was looked at first. It reads the program, the first time.
    fn decided_about(
        &self,
        name: &str,
        candidate: Candidate<'_>,
        found: Option<&FoundProgram>,
    ) -> (Identity, Option<StartSnapshot>, Option<(Replaced, Identity)>) {
        let identity = candidate.identity();
        let Some(found) = found else { return (identity, None, None) };
        let (look, replaced) = self.of(name, identity.hash, || StartSnapshot::at(found));
        match replaced {
            None => (identity, Some(look), None),
            Some(replaced) => {
                let now = candidate.replaced(Some(&replaced)).identity();
                (now, Some(look), Some((replaced, identity)))
            }
        }
    }
}

impl LaunchPreview {
    /// What would run of a template whose variables come to that. Blocks for as long as the file
    /// system does.
    ///
    /// # Errors
    /// `invalid_config` for a program that cannot be shown.
    pub(crate) fn of_template(
        name: &str,
        (template, declared): (&Template, &Declared),
        looked_up: LookedUp,
        with: PreviewContext<'_>,
    ) -> Result<(LaunchPreview, Command)> {
        let PreviewContext { workspace, inherit_env, looks } = with;
        let (spec, files) = (looked_up.spec.clone(), looked_up.files.clone());
        let command = Command::LookedUp(Box::new(looked_up));
        let found = command.found(name, workspace, inherit_env);
        let file = found.as_ref().map(file_of);
        let (shown, is_whole) = shown(&spec, file.as_deref(), workspace);
        if !is_whole {
            let message = "`command` leads to a file whose path is no Unicode text, so that nobody can be shown it";
            return Err(template.error(ErrorCode::InvalidConfig, "command", message));
        }
        let leads_out = |file: &String| leads_out(&workspace.join(file), workspace);
        let secret_files: Vec<String> = files.into_iter().filter(leads_out).collect();
        let candidate = Candidate::of_template(template, declared, &shown);
        let candidate = candidate.with_secret_files(&secret_files);
        let (identity, look, replaced) = looks.decided_about(name, candidate, found.as_ref());
        Ok((
            LaunchPreview { identity, shown, file, secret_files, look, replaced, is_whole },
            command,
        ))
    }

    /// What would run of a configuration that is taken literally. Blocks for as long as the file
    /// system does.
    pub(crate) fn of_spec(
        name: &str,
        spec: &ServerSpec,
        with: PreviewContext<'_>,
    ) -> (LaunchPreview, Command) {
        let PreviewContext { workspace, inherit_env, looks } = with;
        let command = Command::Literal(Box::new(spec.clone()));
        let found = command.found(name, workspace, inherit_env);
        let file = found.as_ref().map(file_of);
        let (shown, is_whole) = shown(spec, file.as_deref(), workspace);
        let candidate = Candidate::of_spec(spec, &shown);
        let (identity, look, replaced) = looks.decided_about(name, candidate, found.as_ref());
        (
            LaunchPreview {
                identity,
                shown,
                file,
                secret_files: Vec::new(),
                look,
                replaced,
                is_whole,
            },
            command,
        )
    }

    /// What a decision was about before its program was another.
    pub(crate) fn as_written(&self) -> &Identity {
        self.replaced.as_ref().map_or(&self.identity, |(_, written)| written)
    }

    /// How its program is another than was looked at first.
    pub(crate) fn replaced(&self) -> Option<&Replaced> {
        self.replaced.as_ref().map(|(replaced, _)| replaced)
    }

    /// The files outside of the workspace whose texts are values.
    pub(crate) fn secret_files(&self) -> &[String] {
        &self.secret_files
    }

    /// What would run.
    pub(crate) fn shown(&self) -> &CandidateLaunch {
        &self.shown
    }
}

/// The entry that one would take the place of, and another name that looks like its own.
pub(crate) type Beside<'a> = (Option<&'a EntryOrigin>, Option<&'a str>);

/// What a person is shown of a configuration, in the form of all languages.
pub(crate) fn request(
    (root, name): (&ProjectRoot, &str),
    candidate: Candidate<'_>,
    (origin, (hides, alike)): (&EntryOrigin, Beside<'_>),
    book: &Book,
) -> Value {
    let hides = hides.map(|hidden| HiddenEntry {
        source: hidden.source.to_string(),
        file: hidden.file.as_deref().map(str::to_owned),
        line: hidden.line,
        is_users: !hidden.source.scope().is_gated(),
    });
    let origin = RequestOrigin {
        scope: origin.source.scope().as_str().to_owned(),
        file: origin.file.as_deref().map(str::to_owned),
        line: origin.line,
    };
    let last = book.last(root, name);
    Request::new(&Asked {
        root,
        server: name,
        origin: &origin,
        candidate,
        last,
        hides: hides.as_ref(),
        alike,
    })
    .to_json()
}

/// What is shown, and whether that is all of it.
fn shown(spec: &ServerSpec, file: Option<&Path>, workspace: &Path) -> (CandidateLaunch, bool) {
    let program = file.map(Path::to_str);
    let nothing = || CandidateLaunch::Remote {
        url: String::new(),
        socket_path: None,
        oauth: BTreeMap::new(),
    };
    let mut shown =
        CandidateLaunch::of(spec, program.flatten().map(str::to_owned)).unwrap_or_else(nothing);
    if let CandidateLaunch::Process { args, in_workspace, .. } = &mut shown {
        let found = args.iter().zip(1..).take(LOOKED_AT_MAX);
        *in_workspace = found
            .filter(|(argument, _)| is_relative(argument, workspace))
            .map(|(_, place)| place)
            .collect();
    }
    (shown, program != Some(None))
}

/// Arguments that are looked for in the workspace: more than any line has that a person reads.
const LOOKED_AT_MAX: usize = 256;

/// Whether an argument, or the value of its flag, is the relative path of something in the
/// workspace.
fn is_relative(argument: &str, workspace: &Path) -> bool {
    let value = match argument.split_once('=') {
        Some((flag, value)) if flag.starts_with('-') => value,
        _ => argument,
    };
    let may_be = !value.is_empty() && !value.starts_with('-') && Path::new(value).is_relative();
    may_be && workspace.join(value).symlink_metadata().is_ok()
}
