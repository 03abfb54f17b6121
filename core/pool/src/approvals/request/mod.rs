//! What a person is shown before they decide (SPEC 12.5).

use serde_json::{Value, json};

use super::candidate::{Candidate, CandidateLaunch, Identity};
use super::changes::Changes;
use super::declared::DeclaredInput;
use super::line::{escaped_line, escaped_text};
use super::record::Record;
use super::replaced::Replaced;
use super::risk::{self, Risk};
use super::root::ProjectRoot;
use super::sign_in::SignIn;
use crate::config::Transport;
use crate::expand::{TakenKind, takes};
use crate::settings::Template;

mod text;

/// Where a configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOrigin {
    /// The scope of its source, such as `project`.
    pub scope: String,
    /// The file, when it is from one.
    pub file: Option<String>,
    /// The line of its entry, from 1.
    pub line: Option<usize>,
}

/// An entry of the same name that a configuration would take the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenEntry {
    /// Its source.
    pub source: String,
    /// The file, when it is from one.
    pub file: Option<String>,
    /// The line of its entry, from 1.
    pub line: Option<usize>,
    /// Whether it needs no approval, so that a person takes it for their own.
    pub is_users: bool,
}

/// What a request is made of.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The project.
    pub root: &'a ProjectRoot,
    /// The server's name.
    pub server: &'a str,
    /// Where its configuration comes from.
    pub origin: &'a RequestOrigin,
    /// The configuration.
    pub candidate: Candidate<'a>,
    /// What was decided last about this name, if anything was.
    pub last: Option<&'a Record>,
    /// What it would take the place of.
    pub hides: Option<&'a HiddenEntry>,
    /// Another name that looks like this one.
    pub alike: Option<&'a str>,
}

/// What a configuration takes of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taken {
    /// What it is.
    pub kind: TakenKind,
    /// Its name, escaped.
    pub name: String,
    /// The paths of the fields that it goes into, such as `env.TOKEN`, escaped.
    pub fields: Vec<String>,
}

/// What would run, in an exact and in an escaped form, with nothing of the values of environment
/// and headers. `Debug` prints no argument.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The server's name.
    pub server: String,
    /// What is decided about; a decision carries its hash.
    pub identity: Identity,
    /// Where the configuration comes from.
    pub origin: RequestOrigin,
    /// The word for its transport.
    pub transport: &'static str,
    /// What would run.
    pub shown: CandidateLaunch,
    /// Names of the variables that it sets, escaped.
    pub env: Vec<String>,
    /// Names of the base environment's variables that it does not get, escaped.
    pub unset_env: Vec<String>,
    /// Names or patterns of the host's variables that it gets, escaped.
    pub inherit_env: Vec<String>,
    /// The file of further variables, escaped.
    pub env_file: Option<String>,
    /// Names of its headers, escaped.
    pub headers: Vec<String>,
    /// What it takes of the host by its name; values go where no command line shows them, once it
    /// is admitted.
    pub takes: Vec<Taken>,
    /// Where its sign-in leads to, and what it asks for there.
    pub oauth: Option<SignIn>,
    /// What its file declares of the inputs that it takes.
    pub inputs: Vec<DeclaredInput>,
    /// What it would take the place of.
    pub hides: Option<HiddenEntry>,
    /// What of its program is another than was looked at.
    pub replaced: Option<Replaced>,
    /// What a person should look at twice.
    pub risks: Vec<Risk>,
    /// What is different since the last decision about this name.
    pub changes: Option<Changes>,
}

impl Request {
    /// The request for a decision.
    pub fn new(asked: &Asked<'_>) -> Request {
        let Asked { root, server, origin, candidate, last, hides, alike } = *asked;
        let spec = candidate.spec();
        let mut request = Request {
            server: server.to_owned(),
            identity: candidate.identity(),
            origin: origin.clone(),
            transport: spec.transport_name(),
            shown: candidate.shown().clone(),
            env: Vec::new(),
            unset_env: Vec::new(),
            inherit_env: Vec::new(),
            env_file: candidate.env_file().map(escaped_text),
            headers: Vec::new(),
            takes: candidate.template().map(taken).unwrap_or_default(),
            oauth: candidate.sign_in(),
            inputs: candidate.inputs(),
            hides: hides.cloned(),
            replaced: candidate.what_is_replaced().cloned(),
            risks: risk::marks(&candidate, root),
            changes: last.map(|last| Changes::since(last, &candidate.fields())),
        };
        request.risks.extend(risk::of_name(server, hides, alike));
        match &spec.transport {
            Transport::Stdio(stdio) => {
                request.env = stdio.env.keys().map(|name| escaped_text(name)).collect();
                request.unset_env = stdio.unset_env.iter().map(|name| escaped_text(name)).collect();
                let patterns = stdio.inherit_env.iter();
                request.inherit_env = patterns.map(|name| escaped_text(name)).collect();
            }
            Transport::Remote(remote) => {
                request.headers = remote.headers.keys().map(|name| escaped_text(name)).collect();
            }
            Transport::Host(_) => {}
        }
        request
    }

    /// As all languages have it; `docs/approvals.md` names each member.
    pub fn to_json(&self) -> Value {
        let Request {
            server,
            identity,
            origin: RequestOrigin { scope, file, line },
            transport,
            shown,
            env,
            unset_env,
            inherit_env,
            env_file,
            headers,
            takes,
            oauth,
            inputs,
            hides,
            replaced,
            risks,
            changes,
        } = self;
        let (exact, mut escaped) = shown.to_json();
        escaped["server"] = json!(escaped_text(server));
        escaped["file"] = json!(file.as_deref().map(escaped_text));
        escaped["text"] = json!(text::of(self));
        json!({
            "server": server,
            "hash": identity.hash.to_string(),
            "origin": { "scope": scope, "file": file, "line": line },
            "transport": transport,
            "exact": exact,
            "escaped": escaped,
            "env": env,
            "unset_env": unset_env,
            "inherit_env": inherit_env,
            "env_file": env_file,
            "headers": headers,
            "takes": takes.iter().map(Taken::to_json).collect::<Vec<_>>(),
            "oauth": oauth.as_ref().map(SignIn::to_json),
            "inputs": inputs.iter().map(DeclaredInput::to_json).collect::<Vec<_>>(),
            "hides": hides.as_ref().map(HiddenEntry::to_json),
            "replaced": replaced.as_ref().map(Replaced::to_json),
            "risks": risks.iter().map(Risk::to_json).collect::<Vec<_>>(),
            "changes": changes.as_ref().map(Changes::to_json),
        })
    }
}

impl HiddenEntry {
    /// As JSON: `{source, file, line}`.
    pub fn to_json(&self) -> Value {
        let HiddenEntry { source, file, line, is_users: _ } = self;
        json!({ "source": source, "file": file, "line": line })
    }

    /// It in one line, escaped.
    pub(super) fn escaped(&self) -> String {
        let file = self.file.as_deref().map(|file| format!(", {}", escaped_text(file)));
        let line = self.line.map(|line| format!(":{line}"));
        let rest = [file, line].into_iter().flatten().collect::<String>();
        format!("{}{rest}", escaped_text(&self.source))
    }
}

fn taken(template: &Template) -> Vec<Taken> {
    let taken = takes(template).into_iter().map(|((kind, name), fields)| Taken {
        kind,
        name: escaped_text(&name),
        fields: fields.iter().map(|field| escaped_text(field)).collect(),
    });
    taken.collect()
}

impl Taken {
    fn to_json(&self) -> Value {
        let Taken { kind, name, fields } = self;
        json!({ "kind": kind.as_str(), "name": name, "fields": fields })
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let server = escaped_text(&self.server);
        f.debug_struct("Request").field("server", &server).finish_non_exhaustive()
    }
}

impl CandidateLaunch {
    /// What would run, as it is, and the same for people.
    fn to_json(&self) -> (Value, Value) {
        match self {
            CandidateLaunch::Process { command, program, args, cwd, in_workspace } => {
                let named = in_workspace.iter().filter_map(|place| {
                    let argument = args.get(place.checked_sub(1)?)?;
                    Some(json!({ "argument": place, "path": escaped_text(argument) }))
                });
                let exact = json!({
                    "argv": self.argv().collect::<Vec<_>>(),
                    "command": command, "program": program, "args": args, "cwd": cwd,
                });
                let escaped = json!({
                    "line": escaped_line(self.argv()),
                    "program": program.as_deref().map(escaped_text),
                    "cwd": cwd.as_deref().map(escaped_text),
                    "in_workspace": named.collect::<Vec<_>>(),
                });
                (exact, escaped)
            }
            CandidateLaunch::Remote { url, socket_path, oauth } => {
                let exact = json!({ "url": url, "socket_path": socket_path, "oauth": oauth });
                let escaped = json!({
                    "line": escaped_text(url),
                    "socket_path": socket_path.as_deref().map(escaped_text),
                });
                (exact, escaped)
            }
        }
    }

    /// The command and its arguments; nothing of a remote server.
    pub fn argv(&self) -> impl Iterator<Item = &str> {
        let (command, args) = match self {
            CandidateLaunch::Process { command, args, .. } => (Some(command), args.as_slice()),
            CandidateLaunch::Remote { .. } => (None, [].as_slice()),
        };
        command.into_iter().chain(args).map(String::as_str)
    }
}
