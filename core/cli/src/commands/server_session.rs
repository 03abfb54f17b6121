//! Sessions whose servers have started, and what is said of those that have not.

use serde_json::{Value, json};
use trunkline::{AcquireOptions, Error, ErrorCode, Lease, ListedItem, ServerSelection, Session};
use trunkline_pool::json::plain;

use crate::console::context::Opened;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;

/// A session whose servers have started or failed, those that are not there, and the error of a
/// time that was over before all had. One server that is named has to be there.
pub(super) fn listed(
    opened: &Opened,
    server: Option<&str>,
) -> Result<(Session, Value, Option<Error>), Failure> {
    if let Some(server) = server {
        return Ok((begun(opened, server)?, json!({}), None));
    }
    let session = opened.session(ServerSelection::All)?;
    let (waiting, timeout) = (session.clone(), opened.deadline.left());
    let late = match opened.wait(async move { waiting.ready(None, timeout).await })? {
        Err(error) if error.code() == ErrorCode::Timeout => Some(error),
        done => done.map(|()| None)?,
    };
    let absent = if late.is_some() { still_absent(opened) } else { absent(opened)? };
    Ok((session, absent, late))
}

/// A session that has this server.
pub(super) fn begun(opened: &Opened, server: &str) -> Result<Session, Failure> {
    let session = opened.session(ServerSelection::Names(vec![server.to_owned()]))?;
    let (waiting, server, deadline) = (session.clone(), server.to_owned(), opened.deadline);
    let mut options = AcquireOptions::default();
    options.timeout = deadline.left();
    // The session holds it from then on by what it wants.
    opened.wait(async move {
        let lease = waiting.acquire(&server, None, &options).await?;
        waiting.ready(Some(lease.server()), deadline.left()).await
    })??;
    Ok(session)
}

/// A lease on one server.
pub(super) fn acquired(opened: &Opened, server: String) -> Result<Lease, Failure> {
    let session = opened.session(ServerSelection::Names(Vec::new()))?;
    let mut options = AcquireOptions::default();
    options.timeout = opened.deadline.left();
    let lease = async move { session.acquire(&server, None, &options).await };
    Ok(opened.wait(lease)??)
}

/// The same of servers that may still be on their way, by what the status says now.
fn still_absent(opened: &Opened) -> Value {
    let status = opened.pool.status();
    let servers = status["servers"].as_object().cloned().unwrap_or_default();
    let absent = servers.into_iter().filter(|(_, server)| server["state"] != "connected");
    let standing = |(name, server): (String, Value)| {
        let reason = server["reason"].as_str().unwrap_or("connecting");
        let error = &server["last_error"];
        if server["state"] == "connecting" || error.is_null() {
            return (name, json!({ "state": "waiting", "reason": reason }));
        }
        (name, json!({ "state": "failed", "reason": reason, "error": error }))
    };
    absent.map(standing).collect()
}

/// How the servers stand that are not ready.
fn absent(opened: &Opened) -> Result<Value, Failure> {
    let pool = opened.pool.clone();
    let settled = opened.wait(async move { pool.settled(None).await })??;
    let servers = settled["servers"].as_object().cloned().unwrap_or_default();
    Ok(servers.into_iter().filter(|(_, standing)| standing["state"] != "ready").collect())
}

pub(super) fn tell_absent(absent: &Value, terminal: &mut Terminal<'_>) {
    for (server, standing) in absent.as_object().into_iter().flatten() {
        let server = trunkline_pool::text::escaped(server);
        let why = match standing["error"]["message"].as_str() {
            Some(message) => message,
            None => standing["reason"].as_str().unwrap_or("not there"),
        };
        terminal.note(&format!("{server}: {}", format::lines(why)));
    }
}

/// Whether one of the servers that are not ready has failed.
pub(super) fn failed(absent: &Value) -> bool {
    let mut standings = absent.as_object().into_iter().flatten();
    standings.any(|(_, standing)| standing["state"] == "failed")
}

/// An item as [`ListedItem::to_json`] has it, as a value.
pub(super) fn to_json(item: &ListedItem) -> Value {
    plain(&item.to_json()).unwrap_or_default()
}

/// The first line of what an item says of itself.
pub(super) fn what(definition: &str) -> String {
    let definition = plain(definition).unwrap_or_default();
    let text = definition["description"].as_str().unwrap_or_default().trim_start();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What serde_json keeps for itself is a member like any other in what a server says.
    #[test]
    fn no_member_hides_what_a_tool_says_of_itself() {
        let meta = r#"{"$serde_json::private::RawValue":"no JSON"}"#;
        let definition = format!(r#"{{"name":"t","description":"says\nmore","_meta":{meta}}}"#);
        assert_eq!(what(&definition), "says");
    }
}
