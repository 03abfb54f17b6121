//! The servers of a case that are reached by an address: each a process of the runner's.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A reference server that runs; it ends with the value.
pub struct Remote(Child);

impl Remote {
    /// Starts one with these flags, or the fault server; says its address too, which it prints.
    pub fn start(testserver: &Path, wanted: &Value) -> Result<(Remote, String), String> {
        let (program, flags) = match wanted.get("fault") {
            Some(flags) => (testserver.with_file_name("trunkline-faultserver"), flags),
            None => (testserver.to_owned(), wanted),
        };
        let flags = flags.as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut command = Command::new(program);
        command.args(flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut address = String::new();
        let output = child.stdout.take().map(BufReader::new);
        let remote = Remote(child);
        let read = output.map(|mut output| output.read_line(&mut address));
        match read {
            Some(Ok(1..)) => Ok((remote, address.trim_end().to_owned())),
            _ => Err("a remote server printed no address".to_owned()),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
