//! Servers that speak both eras: shared in each, and the same to a session in either.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use trunkline::{Lease, Session};

use super::{call, with_two_sessions};

/// What a session sees of a server, without what only says who it is.
type View = BTreeMap<String, Vec<String>>;

fn view(session: &Session) -> View {
    let names = |listed: trunkline::List| -> Vec<String> {
        listed.iter().map(|item| item.own_name.to_string()).collect()
    };
    BTreeMap::from([
        ("tools".to_owned(), names(session.tools().unwrap())),
        ("prompts".to_owned(), names(session.prompts().unwrap())),
        ("resources".to_owned(), names(session.resources().unwrap())),
    ])
}

/// Two sessions share the server in each era, each with one process; `work` calls it through both
/// leases.
fn in_both_eras(
    servers: &BTreeMap<String, Value>,
    name: &str,
    least_tools: usize,
    work: impl AsyncFn([Lease; 2]),
) {
    let views = Mutex::new(Vec::new());
    let (all, work) = (&views, &work);
    for era in ["modern", "legacy"] {
        let mut servers = servers.clone();
        servers.get_mut(name).unwrap()["era"] = json!(era);
        with_two_sessions(&servers, (name, era), |leases, sessions| async move {
            let seen = sessions.each_ref().map(view);
            assert_eq!(seen[0], seen[1], "{name} {era}");
            assert!(seen[0]["tools"].len() >= least_tools, "{name} {era}: {seen:?}");
            all.lock().unwrap().extend(seen);
            work(leases).await;
        });
    }
    let views = views.into_inner().unwrap();
    assert!(views.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {views:#?}");
}

pub fn time(servers: &BTreeMap<String, Value>) {
    in_both_eras(servers, "time", 2, async |leases| {
        for lease in &leases {
            let zone = json!({ "timezone": "Europe/Vienna" });
            let result = call(lease, "get_current_time", zone).await;
            assert!(result["content"][0]["text"].as_str().unwrap().contains("Europe/Vienna"));
        }
    });
}

pub fn git(servers: &BTreeMap<String, Value>) {
    let repository = servers["git"]["args"].as_array().unwrap().last().unwrap();
    in_both_eras(servers, "git", 10, async |leases| {
        for lease in &leases {
            let result = call(lease, "git_status", json!({ "repo_path": repository })).await;
            assert!(
                result["content"][0]["text"].as_str().unwrap().contains("note.txt"),
                "{result}"
            );
        }
    });
}

/// What it is asked to fetch is refused, since nothing listens there: the answer is the server's
/// own.
pub fn fetch(servers: &BTreeMap<String, Value>) {
    in_both_eras(servers, "fetch", 1, async |leases| {
        for lease in &leases {
            let arguments = json!({ "url": "http://127.0.0.1:1/", "raw": true }).to_string();
            let fetched = lease.call_tool("fetch", &arguments, &Default::default()).await;
            let is_refused = match &fetched {
                Ok(result) => result.is_error(),
                Err(error) => error.code() == trunkline::ErrorCode::ServerError,
            };
            assert!(is_refused, "{fetched:?}");
        }
    });
}
