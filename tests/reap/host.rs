//! A host for `cargo xtask reap`: it does what its standard input says, a line at a time;
//! `docs/internals/reap.md` has the words.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use trunkline::{
    AcquireOptions, CallOptions, DrainOptions, EventMask, Lease, Pool, PoolOptions, Result,
    ServerSpec, Session, SessionOptions, Subscription,
};

/// The pool of the moment, and what the host holds of it.
struct Host {
    pool: Pool,
    session: Session,
    events: Arc<Subscription>,
    leases: Vec<Lease>,
}

fn main() {
    let mut host = Host::new().expect("a pool with the defaults opens");
    for line in std::io::stdin().lines().map_while(std::io::Result::ok) {
        let answer = host.carry_out(&line).unwrap_or_else(|error| format!("error {error}"));
        println!("{answer}");
        let _ = std::io::stdout().flush();
    }
}

impl Host {
    fn new() -> Result<Host> {
        let pool = Pool::new(PoolOptions::default())?;
        let session = pool.session(SessionOptions::from_json(r#"{"id":"a","servers":[]}"#)?)?;
        let events = Arc::new(session.subscribe(EventMask::ALL)?);
        Ok(Host { pool, session, events, leases: Vec::new() })
    }

    fn carry_out(&mut self, line: &str) -> Result<String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "connect" => {
                let lease = self.pool.block_on(acquire(self.session.clone(), rest.to_owned()))?;
                self.leases.push(lease);
            }
            "begin" => drop(self.pool.start(acquire(self.session.clone(), rest.to_owned()), drop)),
            "call" => {
                let lease = self.leases.last().expect("connect comes before");
                lease.start_call_tool("hang", "{}", &CallOptions::default(), drop);
            }
            "lost" => return self.lost(),
            "drain" => {
                let pool = self.pool.clone();
                let drain = async move { pool.drain_all(&DrainOptions::default()).await };
                self.pool.start(drain, drop);
            }
            "close" => return self.close(),
            _ => {}
        }
        let supervision = self.pool.status()["supervision"].to_string();
        Ok(supervision.trim_matches('"').to_owned())
    }

    /// Waits until the loss of a connection is told; says its reason.
    fn lost(&mut self) -> Result<String> {
        loop {
            let events = Arc::clone(&self.events);
            let next = self.pool.block_on(async move { Ok(events.next().await) })?;
            let Some(event) = next else { return Ok("nothing".to_owned()) };
            let event: serde_json::Value = serde_json::from_str(event.json()).unwrap_or_default();
            if event["type"] == "disconnected" {
                return Ok(event["reason"].as_str().unwrap_or_default().to_owned());
            }
        }
    }

    /// Closes the pool, says how many milliseconds that took, and goes on with a new one.
    fn close(&mut self) -> Result<String> {
        let pool = self.pool.clone();
        let begun = Instant::now();
        self.pool.block_on(async move { pool.close().await })?;
        let took = begun.elapsed();
        *self = Host::new()?;
        Ok(format!("{:.3}", took.as_secs_f64() * 1e3))
    }
}

/// `given` is a server's name and its configuration.
async fn acquire(session: Session, given: String) -> Result<Lease> {
    let (name, server) = given.split_once(' ').unwrap_or((&given, "{}"));
    let server = serde_json::from_str(server).unwrap_or_default();
    let spec = ServerSpec::from_value(name, &server)?;
    session.acquire(name, Some(&spec), &AcquireOptions::default()).await
}
