//! Servers that the runner provides as a host does: the reference server behind pipes of the
//! runner's, a process for each connection.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;

use trunkline::{HostConnection, HostServer};

/// What is provided under one name.
pub struct Provided {
    pub testserver: PathBuf,
    pub flags: Vec<String>,
    pub served: Mutex<HashMap<u64, (Child, ChildStdin)>>,
}

impl Provided {
    fn start(&self, connection: &HostConnection) -> (Child, ChildStdin) {
        let mut command = Command::new(&self.testserver);
        command.args(&self.flags).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let connection = connection.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // Once the connection is over nobody is told anything.
                let _ = connection.send(&line);
            }
            connection.close();
        });
        (child, input)
    }
}

impl HostServer for Provided {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        let mut served = self.served.lock().unwrap();
        let (_, input) = served.entry(connection.id()).or_insert_with(|| self.start(connection));
        // A server that is gone says so by the end of its output.
        let _ = input.write_all(format!("{frame}\n").as_bytes());
    }

    fn closed(&self, connection: &HostConnection) {
        let served = self.served.lock().unwrap().remove(&connection.id());
        if let Some((mut child, _)) = served {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
