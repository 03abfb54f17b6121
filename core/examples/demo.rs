//! Two sessions share one server process: the main job, as a Rust host writes it.
//!
//! `cargo xtask demo` runs it and checks what it prints; `docs/guide/demo.md` is the contract. By
//! hand: `cargo run -p trunkline --example demo -- '{"demo": {"command": "…", "args": []}}'`.

use serde_json::{Value, json};
use trunkline::{
    AcquireOptions, CallOptions, CallResult, DrainOptions, Error, ErrorCode, EventKind, EventMask,
    Lease, Pool, PoolOptions, Result, Servers, Session, SessionOptions, Subscription,
};

fn main() -> std::process::ExitCode {
    // The library brings its own runtime; any executor can wait for its futures.
    let executor = tokio::runtime::Builder::new_current_thread().build();
    let outcome = match executor {
        Ok(executor) => executor.block_on(run()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("demo: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let servers = std::env::args().nth(1).unwrap_or_default();
    let pool = Pool::new(PoolOptions::default())?;
    pool.reconcile(Servers::from_json(&servers)?).await?;
    say(json!({"step": "pool"}));

    let (alpha, alpha_events) = open(&pool, "alpha")?;
    let (beta, beta_events) = open(&pool, "beta")?;
    let (alpha_lease, beta_lease) = tokio::join!(acquire(&alpha), acquire(&beta));
    let (alpha_lease, beta_lease) = (alpha_lease?, beta_lease?);
    for session in [&alpha, &beta] {
        say(json!({"step": "acquire", "session": session.id(), "server": "demo"}));
    }

    let options = CallOptions::default();
    for (session, lease) in [(&alpha, &alpha_lease), (&beta, &beta_lease)] {
        say_call(session, "pid", &lease.call_tool("pid", "{}", &options).await?);
    }
    let greeting = json!({"message": "hello from Rust"}).to_string();
    let echo = "mcp__demo__echo";
    say_call(&beta, echo, &beta.call_tool(echo, &greeting, &options).await?);

    let change = json!({"add": "fresh"}).to_string();
    alpha_lease.call_tool("change_list", &change, &options).await?;
    for (session, events) in [(&alpha, &alpha_events), (&beta, &beta_events)] {
        let added = next_added(events).await?;
        say(json!({"step": "change", "session": session.id(), "added": added}));
    }

    for (session, lease) in [(&alpha, &alpha_lease), (&beta, &beta_lease)] {
        lease.release();
        say(json!({"step": "release", "session": session.id()}));
    }
    let report = pool.drain_all(&DrainOptions::default()).await?;
    say(json!({"step": "drain", "drained": report["drained"], "forced": report["forced"]}));
    pool.close().await
}

/// A session that wants no server by itself, and its changes of tools.
fn open(pool: &Pool, id: &str) -> Result<(Session, Subscription)> {
    let options = json!({"id": id, "servers": []}).to_string();
    let session = pool.session(SessionOptions::from_json(&options)?)?;
    let events = session.subscribe(EventMask(1 << EventKind::ToolsChanged as u8))?;
    Ok((session, events))
}

async fn acquire(session: &Session) -> Result<Lease> {
    session.acquire("demo", None, &AcquireOptions::default()).await
}

/// The tools that the next change adds.
async fn next_added(events: &Subscription) -> Result<Value> {
    let ended = || Error::new(ErrorCode::Closed, "the events ended before the change");
    let event = events.next().await.ok_or_else(ended)?;
    let event: Value = serde_json::from_str(event.json()).unwrap_or_default();
    Ok(event["added"].clone())
}

fn say_call(session: &Session, tool: &str, result: &CallResult) {
    let result: Value = serde_json::from_str(result.json()).unwrap_or_default();
    let text = &result["content"][0]["text"];
    say(json!({"step": "call", "session": session.id(), "tool": tool, "text": text}));
}

fn say(step: Value) {
    println!("{step}");
}
