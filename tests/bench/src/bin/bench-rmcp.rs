//! The benchmark's client on plain rmcp, as its own documentation builds one.

use std::error::Error;
use std::time::Instant;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use tokio::process::Command;
use trunkline_bench::memory::{BASE, CONNECTIONS};
use trunkline_bench::over_http::HttpServer;
use trunkline_bench::starts::{ListLog, SERVERS, SLOW, STARTS, Start, Starts, monotonic};
use trunkline_bench::{SIZES, is_wanted, private_kib, sequential, wide};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Client = RunningService<RoleClient, ()>;

fn main() -> Result<()> {
    let server = std::env::args().nth(1).unwrap_or_default();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(run(&server))
}

async fn run(server: &str) -> Result<()> {
    if is_wanted("memory") {
        memory(server).await?;
    }
    if is_wanted("calls") {
        calls(server).await?;
    }
    if is_wanted("http") {
        // What it sends needs none, but it is not made without one.
        let provider = rustls::crypto::ring::default_provider();
        provider.install_default().map_err(|_| "there is a provider already")?;
        let server = HttpServer::start(server);
        let transport = StreamableHttpClientTransport::from_uri(server.address.as_str());
        let client = ().serve(transport).await?;
        client.list_all_tools().await?;
        one_at_a_time("http-100", &client, 100).await;
        client.cancel().await?;
    }
    if is_wanted("starts") {
        starts(server).await?;
    }
    Ok(())
}

/// A server that is connected to and has listed its tools.
async fn connected(mut command: Command, arguments: &[String]) -> Result<Client> {
    command.args(arguments);
    let client = ().serve(TokioChildProcess::new(command)?).await?;
    client.list_all_tools().await?;
    Ok(client)
}

async fn calls(server: &str) -> Result<()> {
    let client = connected(Command::new(server), &[]).await?;
    for (bytes, size) in SIZES {
        one_at_a_time(&format!("seq-{size}"), &client, bytes).await;
        wide(&format!("wide-{size}"), |until| {
            let (peer, params) = (client.peer().clone(), params(bytes));
            async move {
                let mut calls = 0;
                while Instant::now() < until {
                    match peer.call_tool(params.clone()).await {
                        Ok(_) => calls += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                calls
            }
        })
        .await;
    }
    client.cancel().await?;
    Ok(())
}

async fn one_at_a_time(workload: &str, client: &Client, bytes: usize) {
    let one = async || match client.peer().call_tool(params(bytes)).await {
        Ok(result) => assert!(!result.content.is_empty()),
        Err(error) => panic!("{error}"),
    };
    sequential(workload, one).await;
}

fn params(bytes: usize) -> CallToolRequestParams {
    let arguments = serde_json::json!({"bytes": bytes}).as_object().cloned();
    CallToolRequestParams::new("big").with_arguments(arguments.unwrap_or_default())
}

/// `memory`: the slope over connections, as `memory.rs` measures its own.
async fn memory(server: &str) -> Result<()> {
    let mut clients = Vec::new();
    for _ in 0..BASE {
        clients.push(connected(Command::new(server), &[]).await?);
    }
    let before = private_kib();
    for _ in 0..CONNECTIONS {
        clients.push(connected(Command::new(server), &[]).await?);
    }
    let each = (private_kib() - before) / CONNECTIONS as f64;
    println!(r#"{{"workload":"memory","calls":1,"connection_kib":{each}}}"#);
    for client in clients {
        client.cancel().await?;
    }
    Ok(())
}

/// The starts of `starts.rs`, with a task for each server.
async fn starts(server: &str) -> Result<()> {
    for slow in SLOW {
        let mut starts = Starts::new(slow);
        for _ in 0..STARTS {
            starts.add(start(server, slow).await?);
        }
        starts.report();
    }
    Ok(())
}

async fn start(server: &str, slow: usize) -> Result<Start> {
    let log = ListLog::empty();
    let began = monotonic();
    let spawn = |number: usize| {
        let (command, arguments) = (Command::new(server), log.arguments(number, slow));
        tokio::spawn(async move {
            connected(command, &arguments).await.map_err(|error| error.to_string())
        })
    };
    let mut tasks: Vec<_> = (0..SERVERS).map(spawn).collect();
    let mut clients = Vec::new();
    for task in tasks.split_off(slow) {
        clients.push(task.await??);
    }
    let (first, listed) = (monotonic(), log.last_of(SERVERS - slow));
    for task in tasks {
        clients.push(task.await??);
    }
    let ready = monotonic();
    for client in clients {
        client.cancel().await?;
    }
    Ok(Start { began, listed, first, ready })
}
