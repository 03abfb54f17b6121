//! Requests and their answers.

use super::*;

/// SPEC 4.1, 4.3.
#[tokio::test]
async fn a_server_connects_lists_answers_and_closes() {
    let open = test_server(&["--tools", "3", "--page-size", "2"]).connect().await;
    assert!(open.catalog.tool("tool_3").is_some() && open.catalog.tool("echo").is_some());
    let facts = open.connection.server_facts();
    assert_eq!((facts.protocol_version.as_str(), facts.name.is_empty()), ("2025-11-25", false));
    let answer = open.call("echo", json!({ "message": "hello" })).await.unwrap();
    assert!(answer.contains(r#""text":"hello""#), "{answer}");
    assert_eq!(open.close().await, CloseExit::Clean);
    assert!(!lives(open.pid));
    assert_eq!(open.recorder.told(), [""; 0]);
}
