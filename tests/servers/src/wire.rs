//! Output: one lock around the pipe, and batches that leave in one write.

use std::fs::File;
use std::io::{IoSlice, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard};

use crate::scan::member;

/// Standard output without the standard library's line buffer.
pub struct Output {
    pipe: Mutex<File>,
}

impl Output {
    /// Takes standard output; a server that cannot write has nothing left to do.
    pub fn new() -> Output {
        match std::io::stdout().as_fd().try_clone_to_owned() {
            Ok(pipe) => Output { pipe: Mutex::new(File::from(pipe)) },
            Err(_) => std::process::exit(1),
        }
    }

    /// Writes whole messages; no other thread's message comes between them.
    pub fn send(&self, first: &[u8], second: &[u8]) {
        let mut pipe = self.lock();
        let mut slices = [IoSlice::new(first), IoSlice::new(second)];
        let mut slices = &mut slices[..];
        while slices.iter().any(|slice| !slice.is_empty()) {
            match pipe.write_vectored(slices) {
                // The client has gone, and with it the reason to run.
                Ok(0) => std::process::exit(0),
                Ok(written) => IoSlice::advance_slices(&mut slices, written),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => std::process::exit(0),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.pipe.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Messages that leave together.
pub struct Batch<'a> {
    output: &'a Output,
    bytes: Vec<u8>,
    /// Whether results say that they are complete, where they say nothing else.
    pub completes: bool,
}

impl<'a> Batch<'a> {
    pub fn new(output: &'a Output) -> Batch<'a> {
        Batch { output, bytes: Vec::with_capacity(BATCH_BYTES), completes: false }
    }

    /// Writes what has been gathered.
    pub fn flush(&mut self) {
        if !self.bytes.is_empty() {
            self.output.send(&self.bytes, b"");
            self.bytes.clear();
        }
    }

    /// Adds one line that is no reply: a notification, or deliberate noise.
    pub fn line(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'\n');
    }

    /// Adds a reply whose result is `result`, itself JSON text.
    pub fn result(&mut self, id: &[u8], result: &[u8]) {
        self.head(id);
        self.bytes.extend_from_slice(b",\"result\":");
        let is_silent = self.completes && member(result, "resultType").is_none();
        match result.strip_prefix(b"{").filter(|_| is_silent) {
            Some(rest) => {
                let comma: &[u8] = if rest.trim_ascii().starts_with(b"}") { b"" } else { b"," };
                let whole = [b"{\"resultType\":\"complete\"", comma, rest].concat();
                self.bytes.extend_from_slice(&whole);
            }
            None => self.bytes.extend_from_slice(result),
        }
        self.bytes.extend_from_slice(b"}\n");
        self.flush_when_full();
    }

    /// Adds a reply that ends in `tail`, which holds everything after the id; a long one is not
    /// copied.
    pub fn prepared(&mut self, id: &[u8], tail: &[u8]) {
        self.head(id);
        if tail.len() < COPY_BYTES_MAX {
            self.bytes.extend_from_slice(tail);
            self.flush_when_full();
        } else {
            self.output.send(&self.bytes, tail);
            self.bytes.clear();
        }
    }

    /// Adds a tool result with one text block; `text` is a JSON string with its quotes.
    pub fn quoted_text(&mut self, id: &[u8], text: &[u8]) {
        if self.completes {
            let text = String::from_utf8_lossy(text);
            let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#);
            return self.result(id, result.as_bytes());
        }
        self.head(id);
        self.bytes.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(b"}]}}\n");
        self.flush_when_full();
    }

    /// Adds a tool result with one text block.
    pub fn text(&mut self, id: &[u8], text: &str) {
        self.quoted_text(id, quote(text).as_bytes());
    }

    /// Adds a tool result that says that the tool failed.
    pub fn tool_error(&mut self, id: &[u8], text: &str) {
        let text = quote(text);
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
        self.result(id, result.as_bytes());
    }

    /// Adds a JSON-RPC error; `data` is JSON text.
    pub fn error(&mut self, id: &[u8], code: i64, message: &str, data: Option<&str>) {
        self.head(id);
        let data = data.map(|data| format!(",\"data\":{data}")).unwrap_or_default();
        let message = quote(message);
        let tail = format!(",\"error\":{{\"code\":{code},\"message\":{message}{data}}}}}\n");
        self.bytes.extend_from_slice(tail.as_bytes());
        self.flush_when_full();
    }

    fn head(&mut self, id: &[u8]) {
        self.bytes.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        self.bytes.extend_from_slice(id);
    }

    fn flush_when_full(&mut self) {
        if self.bytes.len() >= BATCH_BYTES {
            self.flush();
        }
    }
}

/// `text` as a JSON string with its quotes.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A batch leaves when it has grown to a pipe's usual capacity.
const BATCH_BYTES: usize = 64 * 1024;

/// Below this, copying into the batch is cheaper than a system call of its own.
const COPY_BYTES_MAX: usize = 16 * 1024;
