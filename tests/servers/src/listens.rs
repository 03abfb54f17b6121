//! Who hears of changes: in the legacy era the client that shook hands, in the modern one the
//! streams that were asked for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::era::Era;
use crate::lists::Kind;
use crate::request::Call;
use crate::serve::Turn;
use crate::slow::lock;

/// Something that changed.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    List(Kind),
    Resource(&'a str),
}

/// The streams of changes.
#[derive(Default)]
pub struct Listens {
    open: Mutex<Vec<Listen>>,
    /// Those that are acknowledged once the tools were listed.
    late: Mutex<Vec<Listen>>,
    /// How many were asked for so far.
    asked: AtomicU64,
}

struct Listen {
    id: Value,
    filter: Value,
}

impl Change<'_> {
    fn method(self) -> &'static str {
        match self {
            Change::List(Kind::Prompts) => "notifications/prompts/list_changed",
            Change::List(Kind::Resources | Kind::Templates) => {
                "notifications/resources/list_changed"
            }
            Change::List(Kind::Tools) => "notifications/tools/list_changed",
            Change::Resource(_) => "notifications/resources/updated",
        }
    }

    fn params(self) -> Value {
        match self {
            Change::List(_) => json!({}),
            Change::Resource(uri) => json!({ "uri": uri }),
        }
    }

    fn fits(self, filter: &Value) -> bool {
        let asked = |name: &str| filter[name] == true;
        match self {
            Change::List(Kind::Prompts) => asked("promptsListChanged"),
            Change::List(Kind::Resources | Kind::Templates) => asked("resourcesListChanged"),
            Change::List(Kind::Tools) => asked("toolsListChanged"),
            Change::Resource(uri) => {
                let uris = filter["resourceSubscriptions"].as_array();
                uris.is_some_and(|uris| uris.iter().any(|wanted| wanted == uri))
            }
        }
    }
}

/// `subscriptions/listen`: opens a stream, and says what of it is granted.
pub fn listen(turn: &mut Turn, id: &[u8], params: &[u8]) {
    let before = turn.server.listens.asked.fetch_add(1, Ordering::SeqCst);
    let is_second = before == 1;
    match turn.server.flags.listen.as_deref() {
        Some("refuse") => return turn.batch.error(id, -32601, "no streams here", None),
        Some("refuse-second") if is_second => {
            return turn.batch.error(id, -32601, "no streams here", None);
        }
        Some("once") if before > 0 => {
            return turn.batch.error(id, -32601, "no streams any more", None);
        }
        Some("mute") => return,
        _ => {}
    }
    let id: Value = serde_json::from_slice(id).unwrap_or_default();
    if is_second && turn.server.flags.listen.as_deref() == Some("cancel-second") {
        return turn.notify("notifications/cancelled", &json!({ "requestId": id }).to_string());
    }
    let params: Value = serde_json::from_slice(params).unwrap_or_default();
    let mut filter = params["notifications"].clone();
    if turn.server.flags.listen.as_deref() == Some("nothing") {
        filter = json!({});
    }
    if turn.server.flags.listen.as_deref() == Some("tools") {
        filter = json!({ "toolsListChanged": filter["toolsListChanged"] });
    }
    let listen = Listen { id, filter };
    if turn.server.flags.listen.as_deref() == Some("late") {
        return lock(&turn.server.listens.late).push(listen);
    }
    open(turn, listen);
}

/// The tools were listed: adds the tool `unheard`, which no stream tells of, and then acknowledges
/// what is acknowledged late.
pub fn tools_were_listed(turn: &mut Turn) {
    let late = std::mem::take(&mut *lock(&turn.server.listens.late));
    for listen in late {
        lock(&turn.server.lists).add(Kind::Tools, "unheard", "");
        open(turn, listen);
    }
}

fn open(turn: &mut Turn, listen: Listen) {
    let acknowledged = json!({ "_meta": tag(&listen.id), "notifications": listen.filter });
    lock(&turn.server.listens.open).push(listen);
    turn.notify("notifications/subscriptions/acknowledged", &acknowledged.to_string());
}

/// Tells those who want to know; whether anybody does.
pub fn announce(turn: &mut Turn, change: Change<'_>) -> bool {
    let mut told = false;
    let subscribed = match change {
        Change::List(_) => true,
        Change::Resource(uri) => lock(&turn.server.subscribed).contains(uri),
    };
    let server = turn.server;
    if (server.flags.era == Era::Legacy || server.opened.is_legacy()) && subscribed {
        turn.notify(change.method(), &change.params().to_string());
        told = true;
    }
    for listen in lock(&server.listens.open).iter().filter(|listen| change.fits(&listen.filter)) {
        let mut params = change.params();
        params["_meta"] = tag(&listen.id);
        turn.notify(change.method(), &params.to_string());
        told = true;
    }
    told
}

impl Listens {
    /// The client no longer listens to this one.
    pub fn cancel(&self, id: &[u8]) {
        let id: Value = serde_json::from_slice(id).unwrap_or_default();
        for streams in [&self.open, &self.late] {
            lock(streams).retain(|listen| listen.id != id);
        }
    }
}

/// `listens`: answers with what the open streams are about, each with its parts in order,
/// semicolons between them.
pub fn listens(turn: &mut Turn, call: &Call) {
    let about = |listen: &Listen| {
        let uris = listen.filter["resourceSubscriptions"].as_array();
        let uris = uris.into_iter().flatten().filter_map(Value::as_str);
        let lists = ["prompts", "resources", "tools"];
        let asked = |list: &&str| listen.filter[format!("{list}ListChanged")] == true;
        let mut about: Vec<&str> = lists.into_iter().filter(asked).chain(uris).collect();
        about.sort_unstable();
        about.join(" ")
    };
    let streams: Vec<String> = lock(&turn.server.listens.open).iter().map(about).collect();
    turn.batch.text(call.id, &streams.join("; "));
}

/// `end_listens`: ends every stream by a result, an error, a cancellation, or without a word.
pub fn end_listens(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let ended = std::mem::take(&mut *lock(&turn.server.listens.open));
    for Listen { id, .. } in ended {
        let text = id.to_string();
        match arguments.text("how").unwrap_or("result") {
            "result" => {
                let result = json!({ "resultType": "complete", "_meta": tag(&id) });
                turn.batch.result(text.as_bytes(), result.to_string().as_bytes());
            }
            "error" => turn.batch.error(text.as_bytes(), -32000, "shutting down", None),
            "cancelled" => {
                turn.notify("notifications/cancelled", &json!({ "requestId": id }).to_string());
            }
            _ => {}
        }
    }
    turn.batch.text(call.id, "ended");
}

/// What says whose a notification is.
fn tag(id: &Value) -> Value {
    json!({ "io.modelcontextprotocol/subscriptionId": id })
}
