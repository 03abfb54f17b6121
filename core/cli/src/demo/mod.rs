//! `demo`: a small MCP server over the input and the output, for first programs and for trying
//! hosts out.
//!
//! One thread reads requests and answers them in their order. The tool `count` has a thread of its
//! own, so that a host can cancel it. The server ends when its input does.

mod answers;
mod counting;
mod offers;
mod refusal;

use std::io::{self, BufRead, Read as _, Write};
use std::sync::Mutex;
use std::thread::Scope;

use serde_json::{Value, json};
use trunkline_pool::json::plain;

use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::terminal::Terminal;
use answers::answer;
use counting::{Counts, Steps, lock};
use refusal::Refusal;

/// Serves until the input ends.
pub(crate) fn run(terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    if terminal.asks {
        terminal.note("an MCP server reads requests here, one a line, and ends with the input");
    }
    let (input, output) = terminal.pipes();
    let server = Server { output: Mutex::new(output), counts: Counts::default() };
    match server.serve(input) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Internal, format!("the host cannot be reached: {error}")))
        }
        _ => Ok(Exit::Success),
    }
}

/// What the threads share.
struct Server<'a> {
    output: Mutex<&'a mut (dyn Write + Send)>,
    counts: Counts,
}

impl Server<'_> {
    fn serve(&self, input: &mut dyn BufRead) -> io::Result<()> {
        std::thread::scope(|scope| {
            let read = self.read_all(input, scope);
            // The scope waits for the threads.
            self.counts.cancel_all();
            read
        })
    }

    fn read_all<'s>(&'s self, input: &mut dyn BufRead, scope: &'s Scope<'s, '_>) -> io::Result<()> {
        let mut line = Vec::new();
        while (&mut *input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? > 0 {
            let is_cut = line.len() as u64 == LINE_BYTES_MAX && line.last() != Some(&b'\n');
            if is_cut {
                input.skip_until(b'\n')?;
                line.clear();
            }
            if is_cut || !line.trim_ascii().is_empty() {
                let message = std::str::from_utf8(&line).ok().and_then(|line| plain(line).ok());
                self.take(message.filter(Value::is_object).unwrap_or_default(), scope)?;
            }
            line.clear();
        }
        Ok(())
    }

    /// Takes one message; `Null` stands for a line that is no object.
    fn take<'s>(&'s self, mut message: Value, scope: &'s Scope<'s, '_>) -> io::Result<()> {
        let (id, params) = (message["id"].take(), message["params"].take());
        match (message["method"].as_str(), id.is_null()) {
            (Some("notifications/cancelled"), true) => {
                self.counts.end(&params["requestId"]);
                Ok(())
            }
            (Some(_), true) => Ok(()),
            (Some("tools/call"), false) if params["name"] == "count" => {
                match self.begin_counting(&id, &params, scope) {
                    Ok(()) => Ok(()),
                    Err(refusal) => self.reply(&id, &params, Err(refusal)),
                }
            }
            (Some(method), false) => self.reply(&id, &params, answer(method, &params)),
            (None, _) => {
                let refusal = Refusal::new(-32600, "the line is no request");
                self.reply(&id, &params, Err(refusal))
            }
        }
    }

    fn begin_counting<'s>(
        &'s self,
        id: &Value,
        params: &Value,
        scope: &'s Scope<'s, '_>,
    ) -> Result<(), Refusal> {
        let steps = Steps::of(&params["arguments"])?;
        let cancelled = self.counts.begin(id)?;
        let (id, params) = (id.clone(), params.clone());
        scope.spawn(move || {
            let token = &params["_meta"]["progressToken"];
            let is_whole = steps.count(&cancelled, |step| {
                if !token.is_null() {
                    // The thread that reads learns by itself that the host is gone.
                    let _ = self.send(&steps.progress(token, step));
                }
            });
            if is_whole {
                self.counts.end(&id);
                let _ = self.reply(&id, &params, Ok(answers::text(&steps.to.to_string())));
            }
        });
        Ok(())
    }

    fn reply(&self, id: &Value, params: &Value, answer: Result<Value, Refusal>) -> io::Result<()> {
        let message = match answer {
            Ok(mut result) => {
                if answers::is_modern(params) {
                    result["resultType"] = "complete".into();
                }
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            Err(refusal) => json!({ "jsonrpc": "2.0", "id": id, "error": refusal.to_json() }),
        };
        self.send(&message)
    }

    /// Writes one whole line.
    fn send(&self, message: &Value) -> io::Result<()> {
        let mut output = lock(&self.output);
        output.write_all(format!("{message}\n").as_bytes())?;
        output.flush()
    }
}

/// A longer line is refused.
const LINE_BYTES_MAX: u64 = 16 << 20;

#[cfg(test)]
mod tests;
