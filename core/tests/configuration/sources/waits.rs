//! How long a caller waits in all.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use trunkline::{AcquireOptions, HandlerKind, Handlers, ServerRequest};

use super::*;

fn within(timeout: Duration) -> AcquireOptions {
    let mut options = AcquireOptions::default();
    options.timeout = Some(timeout);
    options
}

/// SPEC 3.2: what the host is asked on the way is waited for in the time of the acquire, not beside
/// it.
#[test]
fn an_acquire_has_one_time_for_all_that_it_waits_for() {
    let asked = Arc::new(Notify::new());
    let answers = asked.clone();
    let handlers = Handlers::new().with(HandlerKind::Inputs, move |_: ServerRequest| {
        let answers = answers.clone();
        async move {
            answers.notified().await;
            Ok(json!({ "value": "late" }).to_string())
        }
    });
    let rig = handling(handlers);
    host(async {
        let silent = rig.server(&["--silent"]);
        let mut asking = silent.clone();
        asking["env"] = json!({ "WORD": "${input:word}" });
        set(&rig.pool, "user", json!({ "s": asking, "t": silent }));
        let session = rig.session("a");
        let (first, second) =
            (within(Duration::from_millis(1500)), within(Duration::from_millis(1200)));
        let mut asks = std::pin::pin!(session.acquire("s", None, &first));
        let answered = tokio::time::timeout(Duration::from_millis(1000), &mut asks).await;
        assert!(answered.is_err(), "it waits for the host");
        asked.notify_one();
        let error = tokio::select! {
            ended = asks => ended.err().unwrap(),
            _ = session.acquire("t", None, &second) => panic!("it waited anew for its server"),
        };
        assert_eq!(error.code(), ErrorCode::Timeout);
    });
}

/// SPEC 16.2: a time that no clock reaches is no end.
#[test]
fn the_longest_time_is_none() {
    let rig = trusted();
    host(async {
        let session = rig.session_with(json!({ "id": "a" }));
        set(&rig.pool, "user", json!({ "s": rig.server(&[]) }));
        rig.pool.settled(Some(Duration::MAX)).await.unwrap();
        session.ready(None, Some(Duration::MAX)).await.unwrap();
        session.acquire("s", None, &within(Duration::MAX)).await.unwrap();
    });
}
