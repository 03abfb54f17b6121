//! Calls that name no tool of the session.

use std::time::Duration;

use serde_json::json;

use crate::api::scripted::{pool_with, server};
use crate::{CallOptions, ErrorCode, Outcome, Session, SessionOptions};

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(90);

async fn refused(session: &Session, tool: &str, code: ErrorCode) {
    let error = session.call_tool(tool, "{}", &CallOptions::default()).await.unwrap_err();
    assert_eq!((error.code(), error.outcome()), (code, Some(Outcome::NotSent)), "{error}");
}

/// SPEC 5.12: that nothing was sent is said of every call that was refused.
#[tokio::test]
async fn what_is_refused_by_its_exposed_name_was_not_sent() {
    let pool = pool_with(json!({}), json!({ "s": server("") })).await;
    let session = pool.session(SessionOptions::new("a")).unwrap();
    session.ready(Some("s"), Some(HANG)).await.unwrap();
    for unknown in ["mcp__s__other", "mcp__none__t", "other"] {
        refused(&session, unknown, ErrorCode::ToolNotFound).await;
    }
    session.disable("s").unwrap();
    refused(&session, "mcp__s__t", ErrorCode::ToolNotFound).await;
    session.close(None);
    refused(&session, "mcp__s__t", ErrorCode::Closed).await;
    pool.close().await.unwrap();
}
