//! Who is let in, and what is left of a client that is gone.

use serde_json::json;
use trunkline_pool::options::OnClient;

use super::*;
use crate::api::scripted::{pool_with, server};
use crate::serve::lane::PrincipalKind;

fn principal(name: &str, profile: Option<&str>) -> Principal {
    Principal { kind: PrincipalKind::Token, name: name.into(), profile: profile.map(Arc::from) }
}

fn path(text: &str) -> ServedPath {
    ServedPath::parse(text).unwrap()
}

async fn served(options: &str) -> (Pool, Arc<Endpoint>) {
    let pool = pool_with(json!({}), json!({ "s": server("a"), "t": server("b") })).await;
    let options = ServeOptions::from_json(options).unwrap();
    let endpoint = Endpoint::new(pool.clone(), options).unwrap();
    (pool, endpoint)
}

async fn status_of(endpoint: &Endpoint, at: &str, who: &Principal) -> u16 {
    match endpoint.legacy(&path(at), who, LaneKind::Http).await {
        Ok(client) => {
            client.close();
            200
        }
        Err(error) => error.status,
    }
}

/// SPEC 19.2, 19.4: however many clients there are, a server is one process; and what was theirs is
/// gone with the endpoint.
#[tokio::test]
async fn clients_of_an_endpoint_share_a_process_and_leave_nothing() {
    let (pool, endpoint) = served("").await;
    let mut clients = Vec::new();
    for number in 0..40 {
        let who = principal(&format!("p{}", number % 3), None);
        let lane = if number % 2 == 0 { LaneKind::Http } else { LaneKind::Lines };
        clients.push(endpoint.legacy(&path("/mcp/s"), &who, lane).await.unwrap());
    }
    let one = principal("p0", None);
    let modern = endpoint.modern(&path("/mcp/s"), &one, LaneKind::Http).await.unwrap();
    let again = endpoint.modern(&path("/mcp/s"), &one, LaneKind::Http).await.unwrap();
    assert!(Arc::ptr_eq(&modern, &again), "a principal has two clients at one path");
    let other =
        endpoint.modern(&path("/mcp/s"), &principal("p1", None), LaneKind::Http).await.unwrap();
    assert!(!Arc::ptr_eq(&modern, &other), "two principals share a client");
    let status = pool.status();
    assert_eq!((&status["processes"], &status["totals"]["sessions"]), (&json!(1), &json!(42)));
    assert_eq!(endpoint.clients().len(), 42);
    clients[0].close();
    assert_eq!(pool.status()["totals"]["sessions"], 41);

    endpoint.finish(Duration::ZERO).await;
    assert_eq!(pool.status()["totals"]["sessions"], 0);
    assert!(endpoint.clients().is_empty() && !endpoint.is_ready());
    assert_eq!(status_of(&endpoint, "/mcp/s", &one).await, 503);
    drop((clients, modern, again, other));
    let weak = Arc::downgrade(&endpoint);
    drop(endpoint);
    assert!(weak.upgrade().is_none(), "somebody keeps the endpoint");
    pool.close().await.unwrap();
}

/// SPEC 19.1, 19.3: the path and the token say what a client is served.
#[tokio::test]
async fn a_client_comes_in_where_its_path_and_its_token_let_it() {
    let (pool, endpoint) = served(r#"{"profiles":{"small":{"servers":["s"]}}}"#).await;
    for (at, profile, status) in [
        ("/mcp/s", None, 200),
        ("/mcp", None, 200),
        ("/mcp/none", None, 404),
        ("/profiles/small/mcp", None, 200),
        ("/profiles/small/mcp/s", None, 200),
        ("/profiles/small/mcp/t", None, 404),
        ("/profiles/none/mcp", None, 404),
        ("/mcp/s", Some("small"), 200),
        ("/mcp/t", Some("small"), 404),
        ("/profiles/small/mcp/s", Some("small"), 200),
        ("/profiles/small/mcp/s", Some("other"), 403),
        ("/mcp", Some("none"), 404),
    ] {
        let who = principal("p", profile);
        assert_eq!(status_of(&endpoint, at, &who).await, status, "{at} {profile:?}");
    }
    assert_eq!(pool.status()["totals"]["sessions"], 0);
    pool.close().await.unwrap();
    assert_eq!(status_of(&endpoint, "/mcp/s", &principal("p", None)).await, 503);
}

/// SPEC 19.8: a host that fails or is silent refuses.
#[tokio::test]
async fn a_host_decides_about_each_client() {
    let (pool, _) = served("").await;
    let mut options =
        ServeOptions::from_json(r#"{"profiles":{"small":{"servers":["s"]}}}"#).unwrap();
    options.on_client = Some(OnClient::new(|client| async move {
        match &*client.principal {
            "token:good" => Admission::Accept,
            "token:small" => Admission::Profile("small".into()),
            "token:lost" => Admission::Profile("none".into()),
            "token:fails" => panic!("of the host"),
            "token:silent" => std::future::pending().await,
            _ => Admission::Refuse,
        }
    }));
    let patience = Duration::from_secs(1);
    let endpoint = Endpoint::with_patience(pool.clone(), options, patience).unwrap();
    for (name, at, status) in [
        ("good", "/mcp/t", 200),
        ("small", "/mcp/t", 404),
        ("small", "/mcp/s", 200),
        ("lost", "/mcp", 404),
        ("bad", "/mcp", 403),
        ("fails", "/mcp", 403),
        ("silent", "/mcp", 403),
    ] {
        assert_eq!(status_of(&endpoint, at, &principal(name, None)).await, status, "{name} {at}");
    }
    pool.close().await.unwrap();
}
