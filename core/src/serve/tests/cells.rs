//! SPEC 19.5: the four cells of the eras of clients and servers.

use serde_json::{Value, json};
use trunkline_pool::bridge::Era;

use super::peer::{Exchange, Peer, endpoint};

/// The cells: the era of the client, and of the server.
const CELLS: [(Era, &str); 4] = [
    (Era::Legacy, "legacy"),
    (Era::Legacy, "modern"),
    (Era::Modern, "legacy"),
    (Era::Modern, "modern"),
];

/// What a person says to a form.
fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "Ada" } })
}

async fn peer(endpoint: &crate::serve::endpoint::Endpoint, era: Era, name: &str) -> Peer {
    let capabilities = json!({ "elicitation": { "form": {} }, "sampling": {} });
    Peer::new(endpoint, (era, name, "/mcp/s"), capabilities).await
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// SPEC 19.3, 19.6: what a server lists and answers comes as it is; only the marks of the eras
/// differ.
#[tokio::test]
async fn tools_are_listed_and_called_across_the_eras() {
    for (era, server) in CELLS {
        let (pool, endpoint) = endpoint(server, "").await;
        let peer = peer(&endpoint, era, "p").await;
        let listed = peer.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
        assert_eq!(echo["inputSchema"]["required"], json!(["message"]), "{era:?} {server}");
        let answer = peer.call("echo", json!({ "message": "hi" })).await;
        assert_eq!(text(&answer), "hi", "{era:?} {server}");
        let is_marked = answer["result"]["resultType"] == "complete";
        assert_eq!(is_marked, era == Era::Modern, "{era:?} {server}: {answer}");
        let failed = peer.call("fail", json!({ "text": "no" })).await;
        assert_eq!(failed["result"]["isError"], true, "{era:?} {server}: {failed}");
        let unknown = peer.ask("no/method", json!({})).await;
        assert_eq!(unknown["error"]["code"], -32601, "{era:?} {server}: {unknown}");
        pool.close().await.unwrap();
        assert!(endpoint.clients().is_empty(), "the pool left clients behind");
    }
}

/// SPEC 19.6: progress comes on the stream of its request, under the token of the client.
#[tokio::test]
async fn progress_comes_under_the_token_of_the_client() {
    for (era, server) in CELLS {
        let (pool, endpoint) = endpoint(server, "").await;
        let peer = peer(&endpoint, era, "p").await;
        let params = json!({
            "name": "progress",
            "arguments": { "steps": 2, "interval_ms": 0 },
            "_meta": { "progressToken": "mine" },
        });
        let (id, mut exchange) = peer.send("tools/call", params);
        for step in 1..=2 {
            let told = exchange.frame().await;
            assert_eq!(told["method"], "notifications/progress", "{era:?} {server}: {told}");
            let params = &told["params"];
            assert_eq!(
                (&params["progressToken"], params["progress"].as_f64()),
                (&json!("mine"), Some(f64::from(step)))
            );
        }
        assert_eq!(exchange.frame().await["id"], id);
        pool.close().await.unwrap();
    }
}

/// SPEC 19.4: what a client gives up is cancelled at the server, and its calls go on for others.
#[tokio::test]
async fn a_call_that_its_client_gives_up_is_cancelled() {
    for (era, server) in CELLS {
        let (pool, endpoint) = endpoint(server, "").await;
        let (one, other) = (peer(&endpoint, era, "p").await, peer(&endpoint, era, "q").await);
        let sleep = json!({ "name": "sleep", "arguments": { "ms": 60_000 } });
        let (id, mut exchange) = one.send("tools/call", sleep);
        until_there(&other, "under_way", "1").await;
        match era {
            Era::Legacy => {
                let params = json!({ "requestId": id });
                let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
                one.say(&gone).await;
            }
            Era::Modern => one.hang_up(&exchange),
        }
        until_there(&other, "under_way", "0").await;
        assert!(era == Era::Modern || exchange.is_over().await, "an answer came");
        pool.close().await.unwrap();
    }
}

/// Asks a tool that counts until it says this.
async fn until_there(peer: &Peer, tool: &str, wanted: &str) {
    loop {
        if text(&peer.call(tool, json!({})).await) == wanted {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// SPEC 19.4: who listens hears that a list changed, and has the new one.
#[tokio::test]
async fn a_changed_list_is_told() {
    for (era, server) in CELLS {
        let (pool, endpoint) = endpoint(server, "").await;
        let mut peer = peer(&endpoint, era, "p").await;
        let mut listen = listens(&peer, era).await;
        let changed = peer.call("change_list", json!({ "add": ["newer"] })).await;
        assert_eq!(text(&changed), "changed");
        let told = match &mut listen {
            Some(exchange) => exchange.frame().await,
            None => peer.unasked().await,
        };
        assert_eq!(told["method"], "notifications/tools/list_changed", "{era:?} {server}: {told}");
        let listed = peer.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(tools.iter().any(|tool| tool["name"] == "newer"), "{era:?} {server}");
        pool.close().await.unwrap();
    }
}

/// The stream of changes of a modern client, once it is acknowledged.
async fn listens(peer: &Peer, era: Era) -> Option<Exchange> {
    if era == Era::Legacy {
        return None;
    }
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let (_, mut exchange) = peer.send("subscriptions/listen", filter);
    let granted = exchange.frame().await;
    assert_eq!(granted["method"], "notifications/subscriptions/acknowledged", "{granted}");
    Some(exchange)
}

/// SPEC 19.5: a question of a server reaches the client whose call caused it, in its own era, and
/// the answer comes back.
#[tokio::test]
async fn a_question_is_answered_by_the_client_whose_call_caused_it() {
    for (era, server) in CELLS {
        let (pool, endpoint) = endpoint(server, "").await;
        let (one, _other) = (peer(&endpoint, era, "p").await, peer(&endpoint, era, "q").await);
        let asked = json!({ "message": "name?", "requestedSchema": { "type": "object", "properties": {} } });
        let (tool, arguments) = match server {
            "legacy" => ("ask", json!({ "method": "elicitation/create", "params": asked })),
            _ => {
                let form = json!({ "method": "elicitation/create", "params": asked });
                ("need", json!({ "requests": { "form": form }, "state": "x", "rounds": 1 }))
            }
        };
        let mut params = json!({ "name": tool, "arguments": arguments });
        let (id, mut exchange) = one.send("tools/call", params.clone());
        let frame = exchange.frame().await;
        let answer = match era {
            Era::Legacy => {
                assert_eq!(frame["method"], "elicitation/create", "{era:?} {server}: {frame}");
                assert_eq!(frame["params"]["message"], "name?");
                one.say(&json!({ "jsonrpc": "2.0", "id": frame["id"], "result": accepted() }))
                    .await;
                let answer = exchange.frame().await;
                assert_eq!(answer["id"], id);
                answer
            }
            Era::Modern => {
                let result = &frame["result"];
                assert_eq!(result["resultType"], "input_required", "{era:?} {server}: {frame}");
                let requests = result["inputRequests"].as_object().unwrap();
                let (key, request) = requests.iter().next().unwrap();
                assert_eq!(request["params"]["message"], "name?");
                params["inputResponses"] = json!({ key: accepted() });
                params["requestState"] = result["requestState"].clone();
                one.ask("tools/call", params.clone()).await
            }
        };
        assert!(text(&answer).contains("Ada"), "{era:?} {server}: {answer}");
        // A state is used once, and by nobody else.
        if (era, server) == (Era::Modern, "legacy") {
            let again = one.ask("tools/call", params).await;
            assert_eq!(again["error"]["code"], -32602, "{again}");
        }
        pool.close().await.unwrap();
    }
}
