//! The benchmark's client on plain rmcp, as its own documentation builds one.

use std::error::Error;
use std::time::Instant;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use trunkline_bench::{SIZES, sequential, wide};

fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).unwrap_or_default();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(run(&server))
}

async fn run(server: &str) -> Result<(), Box<dyn Error>> {
    let transport = TokioChildProcess::new(tokio::process::Command::new(server))?;
    let client = ().serve(transport).await?;
    client.list_all_tools().await?;
    for (bytes, size) in SIZES {
        let params = || {
            let arguments = serde_json::json!({"bytes": bytes}).as_object().cloned();
            CallToolRequestParams::new("big").with_arguments(arguments.unwrap_or_default())
        };
        let one = async || match client.peer().call_tool(params()).await {
            Ok(result) => assert!(!result.content.is_empty()),
            Err(error) => panic!("{error}"),
        };
        sequential(&format!("seq-{size}"), one).await;
        wide(&format!("wide-{size}"), |until| {
            let (peer, params) = (client.peer().clone(), params());
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
