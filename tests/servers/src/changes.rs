//! Tools that change what the server lists, and tell the client or not.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::http::RELATED;
use crate::listens::{Change, announce};
use crate::lists::Kind;
use crate::request::Call;
use crate::serve::{Turn, on_thread};
use crate::slow::{Waited, lock};

/// `change_list`: adds, changes, defines and removes items of one list, then notifies, then
/// answers.
pub fn change_list(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let kind = match arguments.text("list").unwrap_or("tools") {
        "prompts" => Kind::Prompts,
        "resources" => Kind::Resources,
        "resource_templates" => Kind::Templates,
        _ => Kind::Tools,
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
        for definition in arguments.values("define") {
            lists.define(kind, definition);
        }
        for key in arguments.names("remove") {
            lists.remove(kind, &key);
        }
    }
    for _ in 0..arguments.number("notify").unwrap_or(1) {
        announce(turn, Change::List(kind));
    }
    turn.batch.text(call.id, "changed");
}

/// `storm`: for each notification adds one version of the tool `version` and announces it, so many
/// a second, then answers with the last version.
pub fn storm(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let count = arguments.number("notifications").unwrap_or(1000);
    let pause =
        Duration::from_secs(1) / arguments.number("per_second").unwrap_or(1000).max(1) as u32;
    let (server, id) = (turn.server, call.id.to_vec());
    on_thread(server, call.id, move |turn, cancel| {
        let mut last = 0;
        for _ in 0..count {
            last = server.next_revision();
            lock(&server.lists).add(Kind::Tools, "version", &format!(" {last}"));
            announce(turn, Change::List(Kind::Tools));
            turn.batch.flush();
            if cancel.wait(pause) == Waited::Cancelled {
                return;
            }
        }
        turn.batch.text(&id, &last.to_string());
    });
}

/// `fail_lists`: answers the next count lists with an error.
pub fn fail_lists(turn: &mut Turn, call: &Call) {
    let count = call.built().number("count").unwrap_or(1);
    turn.server.failing_lists.store(count, Ordering::Relaxed);
    turn.batch.text(call.id, "failing");
}

/// `touch_resource`: announces that a resource has changed, to a client that subscribed to it.
pub fn touch_resource(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let uri = arguments.text("uri").unwrap_or("test://one");
    let told = announce(turn, Change::Resource(uri));
    turn.batch.text(call.id, if told { "announced" } else { "not subscribed" });
}

/// `log`: sends a log message, in the modern era to clients that ask for its level, then answers.
/// What is `related` comes on the call's own response, over HTTP.
pub fn log(turn: &mut Turn, call: &Call) {
    let arguments = call.built();
    let level = arguments.text("level").unwrap_or("info");
    let text = arguments.text("text").unwrap_or("");
    if crate::era::is_heard(turn.server, call.meta, level) {
        let (level, text) = (crate::wire::quote(level), crate::wire::quote(text));
        let params = format!(r#"{{"level":{level},"logger":"test","data":{text}}}"#);
        let related = match arguments.flag("related") {
            true => format!(r#","{RELATED}":{}"#, String::from_utf8_lossy(call.id)),
            false => String::new(),
        };
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}{related}}}"#
        );
        turn.batch.line(line.as_bytes());
    }
    turn.batch.text(call.id, "logged");
}
