//! A request as all languages have it.

use serde_json::{Value, json};

use super::origin::{HiddenEntry, RequestOrigin};
use super::taken::Taken;
use super::{Request, text};
use crate::approvals::candidate::CandidateLaunch;
use crate::approvals::changes::Changes;
use crate::approvals::declared::DeclaredInput;
use crate::approvals::line::{escaped_line, escaped_text};
use crate::approvals::replaced::Replaced;
use crate::approvals::risk::Risk;
use crate::approvals::sign_in::SignIn;

impl Request {
    /// As all languages have it; `docs/guide/approvals.md` names each member.
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
}
