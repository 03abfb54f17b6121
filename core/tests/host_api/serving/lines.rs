//! Clients that speak in lines, on the Unix socket; and HTTP on the same one.

use std::io::{Read, Write};
use std::net::TcpStream;

use rig::HANG;

/// What comes back for these bytes until the other side closes.
pub fn raw(port: u16, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut read = Vec::new();
    stream.read_to_end(&mut read).unwrap();
    String::from_utf8_lossy(&read).into_owned()
}

#[cfg(unix)]
mod on_the_socket {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixStream;

    use serde_json::{Value, json};

    use super::*;
    use crate::serving::Endpoint;
    use crate::serving::exchange::{initialize, modern};

    struct Client {
        writer: UnixStream,
        reader: BufReader<UnixStream>,
    }

    impl Client {
        fn new(endpoint: &Endpoint, path: &str) -> Client {
            let mut writer = UnixStream::connect(endpoint.socket()).unwrap();
            writer.set_read_timeout(Some(HANG)).unwrap();
            writer.write_all(format!("{path}\n").as_bytes()).unwrap();
            let reader = BufReader::new(writer.try_clone().unwrap());
            Client { writer, reader }
        }

        fn say(&mut self, line: &str) {
            self.writer.write_all(line.as_bytes()).unwrap();
            self.writer.write_all(b"\n").unwrap();
        }

        fn hear(&mut self) -> Value {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
        }

        fn ask(&mut self, message: &Value) -> Value {
            self.say(&message.to_string());
            self.hear()
        }
    }

    fn call(id: u64, text: &str) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "echo", "arguments": { "message": text } } })
    }

    /// SPEC 19.2: both eras on one connection; what cannot be read costs a line.
    #[test]
    fn a_connection_of_lines_serves_both_eras_and_survives_bad_lines() {
        let endpoint = Endpoint::new(json!({ "http": "off" }));
        let mut client = Client::new(&endpoint, "/mcp/s");
        let opened = client.ask(&initialize(1));
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{opened}");
        for (line, code) in
            [("{", -32700), ("\u{1}", -32700), ("[]", -32600), ("{\"a\":1}", -32600)]
        {
            client.say(line);
            let refused = client.hear();
            assert_eq!(refused["error"]["code"], code, "{line:?}: {refused}");
        }
        client.say("");
        client.say("\r");
        assert!(client.ask(&call(2, "hello")).to_string().contains("hello"));
        let message = modern(
            3,
            "tools/call",
            json!({ "name": "echo", "arguments": { "message": "modern" } }),
        );
        let answered = client.ask(&message);
        assert_eq!(answered["result"]["resultType"], "complete", "{answered}");
        drop(client);
        endpoint.end();
    }

    /// SPEC 19.4: the end of a connection cancels what it asked, and leaves the others.
    #[test]
    fn a_connection_that_ends_takes_its_calls_along() {
        let endpoint = Endpoint::new(json!({ "http": "off" }));
        let (mut gone, mut stays) =
            (Client::new(&endpoint, "/mcp/s"), Client::new(&endpoint, "/mcp/s"));
        gone.ask(&initialize(1));
        stays.ask(&initialize(1));
        let sleep = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "sleep", "arguments": { "ms": 60_000 } } });
        gone.say(&sleep.to_string());
        let served = |clients: usize| {
            let status = endpoint.rig.pool.status();
            status["served"][0]["clients"].as_array().map(Vec::len) == Some(clients)
        };
        assert!(served(2));
        drop(gone);
        rig::until(|| served(1));
        assert!(stays.ask(&call(3, "hello")).to_string().contains("hello"));
        drop(stays);
        endpoint.end();
    }

    /// SPEC 19.2: HTTP on the socket needs no token: the system says who its peer is.
    #[test]
    fn the_socket_serves_http_without_a_token() {
        let endpoint = Endpoint::new(json!({}));
        let mut stream = UnixStream::connect(endpoint.socket()).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let sent = crate::serving::exchange::post(0, "", "/mcp/s", &initialize(1));
        stream.write_all(&sent.with("Authorization", "").with("Host", "any").bytes()).unwrap();
        let mut read = String::new();
        stream.read_to_string(&mut read).unwrap();
        assert!(read.starts_with("HTTP/1.1 200"), "{read}");
        endpoint.end();
    }
}
