//! The workload of calls over Streamable HTTP, and the server that it is carried out against.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use trunkline::{AcquireOptions, Pool, PoolOptions, Result, Servers, SessionOptions};

use crate::calls::one_at_a_time;

/// `http-100`: a call of 100 bytes, one at a time, over kept connections of the loopback.
pub async fn calls(server: &str) -> Result<()> {
    let server = HttpServer::start(server);
    let pool = Pool::new(PoolOptions::from_json(r#"{"cache": "off"}"#)?)?;
    let servers = json!({"s": {"type": "http", "url": server.address}}).to_string();
    pool.reconcile(Servers::from_json(&servers)?).await?;
    let session = pool.session(SessionOptions::from_json(r#"{"id": "a", "servers": []}"#)?)?;
    let lease = session.acquire("s", None, &AcquireOptions::default()).await?;
    one_at_a_time("http-100", &lease, "big", 100).await;
    drop(lease);
    pool.close().await
}

/// The server of the tests, which ends with its standard input.
pub struct HttpServer {
    process: Child,
    /// Where it is.
    pub address: String,
}

impl HttpServer {
    /// Starts it, on a port that is free.
    pub fn start(server: &str) -> HttpServer {
        let mut command = Command::new(server);
        command
            .args(["--http", "0", "--http-faults", "json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("the server can be started");
        let output = process.stdout.take().expect("its output is a pipe");
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address).expect("it says where it is");
        HttpServer { process, address: address.trim().to_owned() }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends with its input, however that goes.
        let _ = self.process.wait();
    }
}
