//! So many calls of 100 bytes, one after the other, for a program that counts the instructions of
//! this process: its arguments are what is called, how often, and the server. The difference of two
//! runs is the calls alone.

use serde_json::json;
use trunkline::{AcquireOptions, CallOptions, Pool, PoolOptions, Result, Servers, SessionOptions};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, times, server] = &arguments[..] else {
        panic!("the arguments are call or acquire, a number, and a server");
    };
    let times: usize = times.parse().expect("the second argument is a number");
    let is_call = what == "call";
    let servers = json!({ "s": { "command": server } }).to_string();
    let pool = Pool::new(PoolOptions::from_json(r#"{"cache": "off"}"#)?)?;
    pool.clone().block_on(async move {
        pool.reconcile(Servers::from_json(&servers)?).await?;
        let session = pool.session(SessionOptions::from_json(r#"{"id": "a", "servers": []}"#)?)?;
        let options = AcquireOptions::default();
        let lease = session.acquire("s", None, &options).await?;
        for _ in 0..times {
            if is_call {
                lease.call_tool("big", r#"{"bytes":100}"#, &CallOptions::default()).await?;
            } else {
                session.acquire("s", None, &options).await?.release();
            }
        }
        drop(lease);
        pool.close().await
    })
}
