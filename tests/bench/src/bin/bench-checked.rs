//! The least that a client does which knows that an answer is one: a bare pipe, the end of the
//! frame, UTF-8, and whether it is JSON, as the fastest validator in general use says.

use std::cell::RefCell;
use std::io::{Read, Result, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde::de::IgnoredAny;
use trunkline_bench::calls::STRUCTURED;
use trunkline_bench::{SIZES, is_wanted, sequential};

fn main() -> Result<()> {
    if !is_wanted("calls") {
        return Ok(());
    }
    let program = std::env::args().next_back().unwrap_or_default();
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) = child.stdin.take().zip(child.stdout.take()).expect("both are pipes");
    let server = RefCell::new(Server { input, output, buffer: vec![0; BUFFER_BYTES] });
    let ask = |request: &str| server.borrow_mut().ask(request).expect("the server answers");
    ask(HELLO);
    server.borrow_mut().input.write_all(READY.as_bytes())?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let calls = SIZES.map(|(bytes, size)| (format!("seq-{size}"), "big", bytes));
    let structured = ("seq-100k-structured".to_owned(), "structured", STRUCTURED);
    for (workload, tool, bytes) in calls.into_iter().chain([structured]) {
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"method\":\"tools/call\",\"params\":\
             {{\"name\":\"{tool}\",\"arguments\":{{\"bytes\":{bytes}}}}}}}\n"
        );
        runtime.block_on(sequential(&workload, async || ask(&request)));
    }
    drop(server);
    child.wait().map(drop)
}

struct Server {
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
}

impl Server {
    fn ask(&mut self, request: &str) -> Result<()> {
        self.input.write_all(request.as_bytes())?;
        let (mut filled, mut end) = (0, None);
        while end.is_none() {
            let count = self.output.read(&mut self.buffer[filled..])?;
            assert!(count > 0, "the answer ends within the buffer");
            end = memchr::memchr(b'\n', &self.buffer[filled..filled + count]).map(|at| filled + at);
            filled += count;
        }
        let frame = &self.buffer[..end.unwrap_or(filled)];
        let text = std::str::from_utf8(frame).expect("it answers in UTF-8");
        serde_json::from_str::<IgnoredAny>(text).expect("it answers in JSON");
        Ok(())
    }
}

/// More than the longest answer.
const BUFFER_BYTES: usize = 1 << 18;

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"floor","version":"1"}}}"#,
    "\n"
);

const READY: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
