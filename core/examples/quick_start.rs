//! The first program of `docs/guide/first-program.md`, which has to be the same text.

use trunkline::{AcquireOptions, CallOptions, Pool, PoolOptions, Servers, SessionOptions};

fn main() -> trunkline::Result<()> {
    let pool = Pool::new(PoolOptions::default())?;
    let shared = pool.clone();
    // Any executor can await these futures; `block_on` is for programs without one.
    pool.block_on(async move {
        let servers = r#"{"demo": {"command": "trunkline-testserver"}}"#;
        shared.reconcile(Servers::from_json(servers)?).await?;

        let chat = shared.session(SessionOptions::new("chat-1"))?;
        let lease = chat.acquire("demo", None, &AcquireOptions::default()).await?;
        let result =
            lease.call_tool("echo", r#"{"message": "hi"}"#, &CallOptions::default()).await?;
        println!("{}", result.json());

        shared.close().await
    })
}
