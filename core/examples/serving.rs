//! A pool that other programs reach over HTTP.

use trunkline::{Pool, PoolOptions, ServeOptions, Servers};

fn main() -> trunkline::Result<()> {
    let pool = Pool::new(PoolOptions::default())?;
    let shared = pool.clone();
    pool.block_on(async move {
        let servers = r#"{"demo": {"command": "trunkline-testserver"}}"#;
        shared.reconcile(Servers::from_json(servers)?).await
    })?;

    let serving = pool.serve(ServeOptions::from_json(r#"{"http": "127.0.0.1:0"}"#)?)?;
    if let (Some(address), Some(token)) = (serving.address(), serving.token()) {
        println!("http://{address}/mcp/demo, and a token of {} characters", token.len());
    }

    // A service waits for its end here.
    let shared = pool.clone();
    pool.block_on(async move {
        serving.close().await;
        shared.close().await
    })
}
