//! The least that a client does in the two forms that ours has, so that what is ours is told from
//! what nobody can do without. By default on tokio; with `--thread` on a thread that waits for its
//! answers itself. Neither checks, bounds or cancels anything.

use std::io::{Error, Result};
use std::process::{Child, Command, Stdio};

use trunkline_bench::least::{TaskClient, ThreadClient, told};
use trunkline_bench::{SIZES, is_wanted, sequential};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let server = arguments.last().cloned().unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let is_thread = arguments.first().is_some_and(|first| first == "--thread");
    if is_wanted("calls") {
        let mut child = start(&server)?;
        match is_thread {
            true => {
                let client = ThreadClient::new(&mut child)?;
                let one = async || client.call(100).expect("the server answers");
                runtime.block_on(sequential("seq-100", one));
            }
            false => runtime.block_on(by_tasks(&mut child))?,
        }
        child.wait()?;
    }
    if is_wanted("crowd") && !is_thread {
        // A task, as the clients of ours are.
        runtime.block_on(async { tokio::spawn(told()).await }).map_err(Error::other)?;
    }
    Ok(())
}

fn start(server: &str) -> Result<Child> {
    Command::new(server).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

async fn by_tasks(child: &mut Child) -> Result<()> {
    let client = TaskClient::new(child).await?;
    let all = async move {
        for (bytes, size) in SIZES {
            let one = async || client.call(bytes).await.expect("the server answers");
            sequential(&format!("seq-{size}"), one).await;
        }
    };
    tokio::spawn(all).await.map_err(Error::other)
}
