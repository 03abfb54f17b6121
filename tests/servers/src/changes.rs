//! Tools that change what the server lists, and tell the client or not.

use crate::lists::Kind;
use crate::request::Call;
use crate::serve::Turn;
use crate::slow::lock;

/// `change_list`: adds, removes and changes items of one list, then notifies, then answers.
pub fn change_list(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let (kind, method) = match arguments.text("list").unwrap_or("tools") {
        "prompts" => (Kind::Prompts, "notifications/prompts/list_changed"),
        "resources" => (Kind::Resources, "notifications/resources/list_changed"),
        _ => (Kind::Tools, "notifications/tools/list_changed"),
    };
    {
        let mut lists = lock(&turn.server.lists);
        for key in arguments.names("add") {
            lists.add(kind, &key, "");
        }
        for key in arguments.names("change") {
            let revision = turn.server.next_revision();
            lists.add(kind, &key, &format!(" (revision {revision})"));
        }
        for key in arguments.names("remove") {
            lists.remove(kind, &key);
        }
    }
    for _ in 0..arguments.number("notify").unwrap_or(1) {
        turn.notify(method, "{}");
    }
    turn.batch.text(call.id, "changed");
}

/// `touch_resource`: announces that a resource has changed, to a client that subscribed to it.
pub fn touch_resource(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let uri = arguments.text("uri").unwrap_or("test://one");
    if !lock(&turn.server.subscribed).contains(uri) {
        return turn.batch.text(call.id, "not subscribed");
    }
    let params = format!("{{\"uri\":{}}}", crate::wire::quote(uri));
    turn.notify("notifications/resources/updated", &params);
    turn.batch.text(call.id, "announced");
}

/// `log`: sends a log message, then answers.
pub fn log(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let level = arguments.text("level").unwrap_or("info");
    let text = arguments.text("text").unwrap_or("");
    let (level, text) = (crate::wire::quote(level), crate::wire::quote(text));
    let params = format!(r#"{{"level":{level},"logger":"test","data":{text}}}"#);
    turn.notify("notifications/message", &params);
    turn.batch.text(call.id, "logged");
}
