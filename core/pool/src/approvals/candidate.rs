//! A configuration that wants to run, and all that it does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::declared::{Declared, DeclaredInput};
use super::digests::Digests;
use super::hash::ApprovalHash;
use super::replaced::Replaced;
use super::sign_in::SignIn;
use crate::catalog::Filter;
use crate::config::oauth::is_address;
use crate::config::{HostSpec, RemoteKind, RemoteSpec, ServerSpec, Share, StdioSpec, Transport};
use crate::options::ServerReconnect;
use crate::settings::Template;

/// A server's configuration before anything of it ran (SPEC 10.5).
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    spec: &'a ServerSpec,
    /// What a file says beside it; nothing of one whose texts are what they say.
    template: Option<(&'a Template, &'a Declared)>,
    shown: &'a CandidateLaunch,
    /// Files outside of the project whose texts are values.
    secret_files: &'a [String],
    replaced: Option<&'a Replaced>,
}

/// What would run, as far as that can be looked up without doing anything: environment and folder
/// variables are in place, what only an admitted server asks for (`${input:…}`, secrets, commands)
/// stands as it is written.
#[derive(Clone, PartialEq, Eq)]
pub enum CandidateLaunch {
    /// A child process.
    Process {
        /// The command.
        command: String,
        /// The file that it is, as an absolute path; none when there is none.
        program: Option<String>,
        /// Its arguments.
        args: Vec<String>,
        /// Its working directory.
        cwd: Option<String>,
        /// The places of its relative arguments that name something of the workspace. They are no
        /// part of what is decided.
        in_workspace: Vec<usize>,
    },
    /// A remote server.
    Remote {
        /// Its address.
        url: String,
        /// The socket over which it is reached.
        socket_path: Option<String>,
        /// The addresses of its sign-in, by the member of `oauth`.
        oauth: BTreeMap<String, String>,
    },
}

/// What a decision is about: the hash that decides, and what tells later what changed.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// The hash.
    pub hash: ApprovalHash,
    /// A digest of each field.
    pub digests: Digests,
}

impl CandidateLaunch {
    /// The command and its arguments; nothing of a remote server.
    pub fn argv(&self) -> impl Iterator<Item = &str> {
        let (command, args) = match self {
            CandidateLaunch::Process { command, args, .. } => (Some(command), args.as_slice()),
            CandidateLaunch::Remote { .. } => (None, [].as_slice()),
        };
        command.into_iter().chain(args).map(String::as_str)
    }

    /// What a configuration would run: one that was looked up, or whose texts are literal.
    /// `program` is the file that its command is. Nothing of a server that the host provides:
    /// nobody is asked about those.
    pub fn of(spec: &ServerSpec, program: Option<String>) -> Option<CandidateLaunch> {
        match &spec.transport {
            Transport::Stdio(stdio) => Some(CandidateLaunch::Process {
                command: stdio.command.clone(),
                program,
                args: stdio.args.clone(),
                cwd: stdio.cwd.clone(),
                in_workspace: Vec::new(),
            }),
            Transport::Remote(remote) => Some(CandidateLaunch::Remote {
                url: remote.url.clone(),
                socket_path: remote.socket_path.clone(),
                oauth: addresses(&spec.oauth),
            }),
            Transport::Host(_) => None,
        }
    }
}

/// The members of `oauth` that are addresses.
fn addresses(oauth: &Map<String, Value>) -> BTreeMap<String, String> {
    let texts = oauth.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?)));
    let addresses = texts.filter(|(name, _)| is_address(name));
    addresses.map(|(name, address)| (name, address.to_owned())).collect()
}

impl<'a> Candidate<'a> {
    /// The candidate of a settings file's entry.
    pub fn of_template(
        template: &'a Template,
        declared: &'a Declared,
        shown: &'a CandidateLaunch,
    ) -> Candidate<'a> {
        let (spec, _) = template.behaviour();
        Candidate {
            spec,
            template: Some((template, declared)),
            shown,
            secret_files: &[],
            replaced: None,
        }
    }

    /// The candidate of a configuration whose texts are literal.
    pub fn of_spec(spec: &'a ServerSpec, shown: &'a CandidateLaunch) -> Candidate<'a> {
        Candidate { spec, template: None, shown, secret_files: &[], replaced: None }
    }

    /// The same candidate with the files outside of the project that it takes values from. They are
    /// part of what is approved.
    #[must_use]
    pub fn with_secret_files(self, secret_files: &'a [String]) -> Candidate<'a> {
        Candidate { secret_files, ..self }
    }

    pub(super) fn secret_files(&self) -> &'a [String] {
        self.secret_files
    }

    /// The same whose program is another than was looked at, if it is: a decision is about what it
    /// is now.
    pub fn replaced(self, replaced: Option<&'a Replaced>) -> Candidate<'a> {
        Candidate { replaced, ..self }
    }

    /// What a decision about it is about.
    pub fn identity(&self) -> Identity {
        let fields = self.fields();
        let hash = ApprovalHash::of(&fields);
        Identity { hash, digests: Digests::of(&fields, hash) }
    }

    /// What would run.
    pub fn shown(&self) -> &'a CandidateLaunch {
        self.shown
    }

    /// What is another than was looked at.
    pub(super) fn what_is_replaced(&self) -> Option<&'a Replaced> {
        self.replaced
    }

    pub(super) fn spec(&self) -> &'a ServerSpec {
        self.spec
    }

    /// The template, unless its texts are literal.
    pub(super) fn template(&self) -> Option<&'a Template> {
        self.template.map(|(template, _)| template)
    }

    /// What its file declares of the inputs that it takes.
    pub(super) fn inputs(&self) -> Vec<DeclaredInput> {
        self.template.map(|(_, declared)| declared.shown()).unwrap_or_default()
    }

    /// What it says of signing in.
    pub(super) fn sign_in(&self) -> Option<SignIn> {
        match self.shown {
            CandidateLaunch::Remote { url, oauth, .. } => {
                SignIn::of(&self.spec.oauth, oauth, Some(url))
            }
            CandidateLaunch::Process { .. } => SignIn::of(&self.spec.oauth, &BTreeMap::new(), None),
        }
    }

    pub(super) fn env_file(&self) -> Option<&'a str> {
        let (_, env_file) = self.template()?.behaviour();
        env_file
    }

    /// Everything that it does, by field: what is written, and what that turned out to be.
    pub(super) fn fields(&self) -> BTreeMap<&'static str, Value> {
        let Candidate { spec, template, shown, secret_files, replaced } = self;
        let texts = if template.is_some() { "variables" } else { "literal" };
        let mut fields = BTreeMap::from([
            ("env_file", json!(self.env_file())),
            ("texts", json!(texts)),
            ("inputs", json!(template.map(|(_, declared)| declared.to_json()))),
        ]);
        fields.extend(spec_fields(spec));
        if !secret_files.is_empty() {
            fields.insert("secret_files", json!(secret_files));
        }
        // Only a program that was replaced has this field, so that other hashes stay as they are.
        fields.extend(replaced.map(|replaced| ("replaced", json!(replaced.seal))));
        match shown {
            // What is there in the workspace is no part of the configuration.
            CandidateLaunch::Process { command, program, args, cwd, in_workspace: _ } => {
                fields.insert("program", json!(program));
                // The written form stays, since a variable's value may look like another variable
                // (S-07).
                for (name, value) in
                    [("command", json!(command)), ("args", json!(args)), ("cwd", json!(cwd))]
                {
                    join(&mut fields, name, value);
                }
            }
            CandidateLaunch::Remote { url, socket_path, oauth } => {
                join(&mut fields, "url", json!(url));
                join(&mut fields, "socket_path", json!(socket_path));
                // Left out where they are as they are written, so that what was decided without
                // them stays.
                if *oauth != addresses(&spec.oauth) {
                    fields.insert("oauth_addresses", json!(oauth));
                }
            }
        }
        fields
    }
}

fn join(fields: &mut BTreeMap<&'static str, Value>, name: &'static str, shown: Value) {
    let written = fields.remove(name);
    fields.insert(name, json!([written, shown]));
}

/// Taken apart without `..`, so that a new field has to be thought of (S-01). All of it counts but
/// the description.
fn spec_fields(spec: &ServerSpec) -> Vec<(&'static str, Value)> {
    let ServerSpec {
        transport,
        call_timeout,
        call_idle_timeout,
        connect_timeout,
        reconnect,
        share,
        start,
        era,
        filter: Filter { include, exclude },
        trust,
        always_load,
        description: _,
        disabled,
        oauth,
        unknown,
        // They are said of a template by its texts.
        value_files: _,
    } = spec;
    let share = share.map(|share| match share {
        Share::Pool => "pool",
        Share::Session => "session",
    });
    let mut fields = transport_fields(transport);
    fields.extend([
        ("call_timeout", time(*call_timeout)),
        ("call_idle_timeout", time(*call_idle_timeout)),
        ("connect_timeout", time(*connect_timeout)),
        ("reconnect", json!(reconnect.as_ref().map(reconnect_fields))),
        ("share", json!(share)),
        ("era", json!(era.map(|era| era.as_str()))),
        ("include", json!(include)),
        ("exclude", json!(exclude)),
        ("trust", json!(trust)),
        ("always_load", json!(always_load)),
        ("disabled", json!(disabled)),
        ("oauth", json!(oauth)),
        ("unknown", json!(unknown)),
    ]);
    // Left out where it is not said, so that what was decided before there was such a member stays.
    fields.extend(start.map(|start| ("start", json!(start.as_str()))));
    fields
}

fn transport_fields(transport: &Transport) -> Vec<(&'static str, Value)> {
    match transport {
        Transport::Stdio(stdio) => {
            let StdioSpec { command, args, cwd, env, unset_env, inherit_env } = stdio;
            vec![
                ("transport", json!("stdio")),
                ("command", json!(command)),
                ("args", json!(args)),
                ("cwd", json!(cwd)),
                ("env", json!(env)),
                ("unset_env", json!(unset_env)),
                ("inherit_env", json!(inherit_env)),
            ]
        }
        Transport::Remote(remote) => {
            let RemoteSpec { kind, url, headers, socket_path } = remote;
            let kind = match kind {
                RemoteKind::Auto => "auto",
                RemoteKind::Http => "http",
                RemoteKind::Sse => "sse",
                RemoteKind::Websocket => "websocket",
            };
            vec![
                ("transport", json!(kind)),
                ("url", json!(url)),
                ("headers", json!(headers)),
                ("socket_path", json!(socket_path)),
            ]
        }
        Transport::Host(HostSpec { provided }) => {
            vec![("transport", json!("host")), ("provided", json!(provided))]
        }
    }
}

fn reconnect_fields(reconnect: &ServerReconnect) -> Value {
    let ServerReconnect {
        local_delays,
        remote_delays,
        breaker_losses,
        breaker_window,
        healthy_after,
        revive,
    } = reconnect;
    let times = |times: &Option<Vec<Duration>>| {
        let times = times.as_ref().map(|times| times.iter().map(|one| time(Some(*one))).collect());
        times.unwrap_or(Value::Null)
    };
    json!({
        "local_delays": times(local_delays),
        "remote_delays": times(remote_delays),
        "breaker_losses": breaker_losses,
        "breaker_window": time(*breaker_window),
        "healthy_after": time(*healthy_after),
        "revive": times(revive),
    })
}

/// As text: a number of nanoseconds may be longer than JSON's are.
fn time(time: Option<Duration>) -> Value {
    json!(time.map(|time| time.as_nanos().to_string()))
}
