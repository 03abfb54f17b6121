//! What a person is shown before they decide (SPEC 12.5).

use super::candidate::{Candidate, CandidateLaunch, Identity};
use super::changes::Changes;
use super::declared::DeclaredInput;
use super::line::escaped_text;
use super::record::Record;
use super::replaced::Replaced;
use super::risk::{self, Risk};
use super::root::ProjectRoot;
use super::sign_in::SignIn;
use crate::config::Transport;

mod json;
mod origin;
mod taken;
mod text;

pub use origin::{HiddenEntry, RequestOrigin};
pub use taken::Taken;

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
            takes: candidate.template().map(taken::taken).unwrap_or_default(),
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
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let server = escaped_text(&self.server);
        f.debug_struct("Request").field("server", &server).finish_non_exhaustive()
    }
}
