//! Time of one call after another, against the same bytes over a bare pipe to the same server.
//!
//! `taskset -c 0 latency SERVER [ROUNDS]`, where SERVER is the path of `trunkline-testserver`.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use trunkline::{CallOptions, Pool, PoolOptions, ServerSpec, SessionOptions};

const CALLS: usize = 20_000;

fn main() {
    let mut args = std::env::args().skip(1);
    let server = args.next().expect("the path of trunkline-testserver");
    let rounds = args.next().map_or(3, |rounds| rounds.parse().expect("a number of rounds"));
    for _ in 0..rounds {
        for (label, arguments) in [
            ("100 B", format!(r#"{{"message":"{}"}}"#, "x".repeat(40))),
            ("100 KB", r#"{"bytes":100000}"#.to_owned()),
        ] {
            let tool = if label == "100 B" { "echo" } else { "big" };
            let calls = if label == "100 B" { CALLS } else { CALLS / 10 };
            println!("{label:>7}  pipe       {}", bare_pipe(&server, tool, &arguments, calls));
            println!(
                "{label:>7}  trunkline  {}",
                through_the_pool(&server, tool, &arguments, calls)
            );
        }
    }
}

fn bare_pipe(server: &str, tool: &str, arguments: &str, calls: usize) -> String {
    let mut child = Command::new(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::with_capacity(1 << 18, child.stdout.take().expect("piped"));
    let mut line = Vec::new();
    let mut exchange = |request: &[u8]| {
        input.write_all(request).expect("the server reads");
        line.clear();
        output.by_ref().take(1 << 20).read_until(b'\n', &mut line).expect("the server answers");
    };
    exchange(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"l\",\"version\":\"0\"}}}\n");
    let request = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}}}}}\n"
    );
    let shown = measure(calls, || exchange(request.as_bytes()));
    drop(input);
    child.wait().expect("the server exits");
    shown
}

fn through_the_pool(server: &str, tool: &str, arguments: &str, calls: usize) -> String {
    let pool = Pool::new(PoolOptions::default()).expect("a pool");
    let session = pool.session(SessionOptions::new("bench")).expect("a session");
    let config = serde_json::json!({ "command": server });
    let spec = ServerSpec::from_value("s", &config).expect("a server");
    let acquire = async {
        let lease = session.acquire("s", Some(&spec), &Default::default()).await;
        lease.expect("a lease")
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let lease = runtime.block_on(acquire);
    let options = CallOptions::default();
    let shown = measure(calls, || {
        let (done, result) = sync_channel(1);
        lease.start_call_tool(tool, arguments, &options, move |result| {
            let _ = done.send(result.map(|result| result.json().len()));
        });
        result.recv().expect("an answer").expect("a result");
    });
    lease.release();
    runtime.block_on(pool.close()).expect("the pool closes");
    shown
}

fn measure(calls: usize, mut call: impl FnMut()) -> String {
    let mut times: Vec<Duration> = Vec::with_capacity(calls);
    for _ in 0..calls / 10 {
        call();
    }
    for _ in 0..calls {
        let begun = Instant::now();
        call();
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let at = |share: f64| times[(times.len() as f64 * share) as usize].as_nanos() as f64 / 1000.0;
    format!("p50 {:6.2} us  p99 {:6.2} us", at(0.5), at(0.99))
}
