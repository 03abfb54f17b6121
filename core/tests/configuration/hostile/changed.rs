//! What was approved, and then has one field that is another (S-01).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rig::Rig;
use serde_json::{Value, json};
use trunkline::interface::{OptionScope, options};
use trunkline::{
    Error, ErrorCode, HandlerKind, Handlers, PoolOptions, ServerRequest, Session, SourceName,
};

use super::LetIn;
use super::traced::{self, Folders};

/// A pool whose decisions are kept in a file, and configurations that it may run once they are
/// approved.
pub struct Changing {
    rig: Rig,
    /// It wants nothing by itself, so that each of its acquires is one start or one dial.
    asking: Session,
    project: SourceName,
    /// Each by what it is.
    bases: [(&'static str, Value); 3],
}

/// The program that is approved, and the one that a changed command names.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    ["own", "ownx"].map(|name| folder.join(name)).into()
}

impl Changing {
    pub fn new(folders: &Folders) -> Changing {
        let handlers = Handlers::new().with(HandlerKind::Inputs, |_: ServerRequest| async {
            Ok(json!({ "value": "v" }).to_string())
        });
        let rig = Rig::in_workspace_with(|workspace| {
            let kept = workspace.parent().unwrap().join(traced::KEPT);
            let options = json!({
                "trusted": true, "workspace": workspace, "cache": kept,
                "approvals": kept.join("approvals.json"),
            });
            let mut options = PoolOptions::from_json(&options.to_string()).unwrap();
            options.handlers = handlers;
            options
        });
        // Both are there, so that the change is all that is wrong.
        for name in ["cwd", "cwdx"] {
            std::fs::create_dir(rig.path(name)).unwrap();
        }
        for name in ["variables", "variablesx"] {
            std::fs::write(rig.path(name), "A=1\n").unwrap();
        }
        let bases = [
            ("a process", servers(&process(&rig, folders))),
            ("a remote server", servers(&remote(folders))),
            ("what asks", asking(folders)),
        ];
        let asking = rig.session("asking");
        Changing { rig, asking, project: "project".parse().unwrap(), bases }
    }

    /// Approves each, changes one field after the other, and goes back to what was approved after
    /// each; how many changes were shown to it.
    pub async fn face(&self, let_in: &mut LetIn) -> u64 {
        let mut faced = 0;
        for (what, base) in &self.bases {
            self.put(base);
            let hash = self.request().await.unwrap()["hash"].as_str().unwrap().to_owned();
            assert_eq!(self.reason().await, Some("pending_approval".into()), "{what}");
            self.rig.pool.approve("s", &hash).await.unwrap();
            let mut is_let_in = async |base: &Value, path: &str| {
                self.put(base);
                assert_eq!(refused(&self.asking).await, None, "{what}, {path}");
                let_in[0] += usize::from(*what != "a remote server");
                let_in[1] += usize::from(*what == "a remote server");
                let_in[2] += usize::from(*what != "a remote server");
            };
            is_let_in(base, "as it was approved").await;
            for (path, changed) in changes(base) {
                if ["mcpServers.s.description.", "mcpServers.s.trust."].contains(&&*path) {
                    // One is for people alone, the other has no effect in a file of a project.
                    is_let_in(&changed, &path).await;
                    continue;
                }
                self.put(&changed);
                let reason =
                    if path.ends_with(".disabled.") { "disabled" } else { "pending_approval" };
                assert_eq!(self.reason().await.as_deref(), Some(reason), "{what}, {path}");
                if reason == "pending_approval" {
                    let request = self.request().await.unwrap();
                    let fields = request["changes"]["fields"].as_array().unwrap().len();
                    assert!(fields > 0, "{what}, {path}: {request}");
                }
                faced += 1;
                is_let_in(base, &path).await;
            }
        }
        faced
    }

    fn put(&self, text: &Value) {
        self.rig.pool.set_source(&self.project, Some(&text.to_string())).unwrap();
    }

    async fn request(&self) -> Option<Value> {
        let approvals = self.rig.pool.approvals().await.unwrap();
        approvals["requests"].as_array().unwrap().first().cloned()
    }

    /// Why a session that wants everything does not get it.
    async fn reason(&self) -> Option<String> {
        let wanting = self.rig.session_with(json!({ "id": "wanting" }));
        let reason = refused(&wanting).await;
        wanting.close(None);
        reason
    }
}

/// Why it may not run; nothing when it was let in, which ends with the program or with the dial.
async fn refused(session: &Session) -> Option<String> {
    let acquired = session.acquire("s", None, &Default::default()).await;
    let error: Error = acquired.err().expect("nothing of them is a server");
    if error.code() != ErrorCode::NotAdmitted {
        return None;
    }
    Some(error.detail()["reason"].as_str().unwrap().to_owned())
}

/// A program with all that one can be configured with.
fn process(rig: &Rig, folders: &Folders) -> Value {
    let own = json!({
        "type": "stdio",
        "command": programs(&folders.let_in)[0],
        "args": ["a", "b"],
        "cwd": rig.path("cwd"),
        "env": { "A": "1", "__proto__": "2", "constructor": "3", "GONE": null },
        "env_file": rig.path("variables"),
        "inherit_env": ["I*"],
    });
    with_common(own)
}

/// A remote server with all that one can be configured with.
fn remote(folders: &Folders) -> Value {
    let own = json!({
        "type": "http",
        "url": format!("http://127.0.0.1:{}/mcp?q=1", traced::LET_IN),
        "headers": { "a": "1", "__proto__": "2" },
        "socket_path": folders.let_in.join("socket"),
        "oauth": {
            "clientId": "i", "clientSecret": "s", "scopes": ["r"], "audiences": ["y"],
            "authorizationUrl": "https://127.0.0.1/a", "odd": { "__proto__": 1 },
        },
        "provider_type": "p",
        "target_audience": "t",
        "target_service_account": "u",
    });
    with_common(own)
}

/// What every kind of server can say.
fn with_common(mut own: Value) -> Value {
    let common = include_str!("../../../pool/src/approvals/tests/common.json");
    let common = serde_json::from_str(common).unwrap();
    let Value::Object(common) = common else { unreachable!() };
    own.as_object_mut().unwrap().extend(common);
    own
}

fn servers(entry: &Value) -> Value {
    json!({ "mcpServers": { "s": entry } })
}

/// A program that has a value which the host is asked for.
fn asking(folders: &Folders) -> Value {
    let command = &programs(&folders.let_in)[0];
    json!({
        "servers": { "s": { "command": command, "args": ["${input:x}"] } },
        "inputs": [{
            "id": "x", "type": "promptString", "description": "d", "default": "e", "password": true,
        }],
    })
}

/// Every value in it that is no container, changed by one byte or its like; with the path to it.
fn changes(value: &Value) -> Vec<(String, Value)> {
    let within = |name: String, inner: &Value, put: &dyn Fn(Value) -> Value| {
        let inner = changes(inner).into_iter();
        inner.map(|(path, changed)| (format!("{name}.{path}"), put(changed))).collect::<Vec<_>>()
    };
    let other = |other: Value| vec![(String::new(), other)];
    match value {
        Value::Object(members) => {
            let inner = members.iter().flat_map(|(name, inner)| {
                within(name.clone(), inner, &|changed| {
                    let mut out = members.clone();
                    out[name] = changed;
                    out.into()
                })
            });
            inner.collect()
        }
        Value::Array(items) => {
            let inner = items.iter().enumerate().flat_map(|(at, inner)| {
                within(at.to_string(), inner, &|changed| {
                    let mut out = items.clone();
                    out[at] = changed;
                    out.into()
                })
            });
            inner.collect()
        }
        Value::String(text) => match text.as_str() {
            // Words of a short list.
            "stdio" | "promptString" => Vec::new(),
            // A name that is there twice.
            "x" | "${input:x}" => Vec::new(),
            "http" => other(json!("sse")),
            "pool" => other(json!("session")),
            "legacy" => other(json!("modern")),
            "lazy" => other(json!("eager")),
            text => other(json!(format!("{text}x"))),
        },
        Value::Number(number) => other(json!(number.as_u64().unwrap() + 1)),
        Value::Bool(is) => other(json!(!is)),
        Value::Null => other(json!("set")),
    }
}

/// S-01: the walk knows every member that a configuration can have.
#[test]
fn every_member_of_a_configuration_is_changed_under_the_trace() {
    let nowhere = Path::new("/nowhere");
    let rig = Rig::new(json!({}));
    let folders = Folders::of_json(&json!([nowhere, nowhere, nowhere]));
    let walked: BTreeSet<String> = [process(&rig, &folders), remote(&folders)]
        .iter()
        .flat_map(|entry| entry.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
        .collect();
    for row in options(OptionScope::Server) {
        let is_walked = row.spellings().iter().any(|name| walked.contains(name));
        // Other ways to write what `oauth` and `disabled` hold.
        let is_spelling = ["oauth_scopes", "auth", "enabled"].contains(&row.name);
        assert!(is_walked || is_spelling, "{}", row.name);
    }
}
