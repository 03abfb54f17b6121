//! Addresses that servers name in what they list and answer: nothing of ours goes there.

use std::net::TcpStream;

use rig::remote::close;
use rig::{Rig, acquire, host};
use serde_json::{Value, json};
use trunkline::{CallOptions, HostConnection, HostServer, ToolFormat};

use crate::trap::Trap;

/// Names an address wherever one can stand.
struct Naming {
    origin: String,
}

impl Naming {
    fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.origin)
    }

    fn icons(&self) -> Value {
        json!([{ "src": self.at("icon.svg"), "mimeType": "image/svg+xml", "sizes": ["any"] }])
    }

    /// A schema whose every part stands elsewhere.
    fn schema(&self) -> Value {
        json!({
            "$schema": self.at("dialect.json"),
            "$id": self.at("schema.json"),
            "type": "object",
            "properties": {
                "a": { "$ref": self.at("schema.json#/$defs/a") },
                "b": { "$dynamicRef": self.at("dynamic.json#b") },
                "c": { "allOf": [{ "$ref": self.at("all.json") }] },
            },
            "$defs": { "own": { "$ref": "other.json" } },
        })
    }

    fn resource(&self) -> Value {
        json!({ "uri": self.at("resource"), "name": "r", "icons": self.icons() })
    }

    fn content(&self) -> Value {
        json!([
            { "type": "resource_link", "uri": self.at("link"), "name": "l", "icons": self.icons() },
            { "type": "resource", "resource": { "uri": self.at("embedded"), "text": "t" } },
            { "type": "text", "text": format!("![image]({})", self.at("image.png")) },
        ])
    }

    fn result(&self, method: &str) -> Value {
        match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "completions": {} },
                "serverInfo": {
                    "name": "naming", "version": "1", "icons": self.icons(), "websiteUrl": self.at(""),
                },
                "instructions": format!("look at {}", self.at("instructions")),
            }),
            "tools/list" => json!({ "tools": [{
                "name": "t", "description": self.at("description"), "icons": self.icons(),
                "inputSchema": self.schema(), "outputSchema": self.schema(),
                "annotations": { "title": self.at("title") }, "_meta": { "ui": { "resourceUri": self.at("ui") } },
            }] }),
            "resources/list" => json!({ "resources": [self.resource()] }),
            "resources/templates/list" => json!({ "resourceTemplates": [{
                "uriTemplate": self.at("{x}"), "name": "r", "icons": self.icons(),
            }] }),
            "resources/read" => {
                json!({ "contents": [{ "uri": self.at("contents"), "text": self.at("text") }] })
            }
            "prompts/list" => json!({ "prompts": [{ "name": "p", "icons": self.icons() }] }),
            "prompts/get" => {
                let content = self.content();
                let parts = content.as_array().unwrap().iter();
                let messages = parts.map(|content| json!({ "role": "user", "content": content }));
                json!({ "messages": messages.collect::<Vec<_>>() })
            }
            "tools/call" => json!({
                "content": self.content(), "structuredContent": { "a": 1, "b": 2, "c": 3 },
            }),
            "completion/complete" => json!({ "completion": { "values": [self.at("value")] } }),
            _ => json!({}),
        }
    }
}

impl HostServer for Naming {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        let message: Value = serde_json::from_str(frame).unwrap();
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return;
        };
        let answer = match method {
            "server/discover" => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no" } })
            }
            _ => json!({ "jsonrpc": "2.0", "id": id, "result": self.result(method) }),
        };
        connection.send(&answer.to_string()).unwrap();
    }
}

/// S-38, S-39: icons, links, `$ref`s and all else that looks like an address arrive as they are,
/// and nothing of ours fetches or opens one, whatever is listed, read, called or made of them for a
/// model.
#[test]
fn what_a_server_names_is_never_fetched() {
    let trap = Trap::new();
    let origin = trap.origin();
    let rig = Rig::new(json!({}));
    host(async {
        let session = rig.session("a");
        session.provide("s", Naming { origin: origin.clone() }).unwrap();
        let lease = acquire(&session, "s").await;
        let options = CallOptions::default();
        let names = |text: &str, path: &str| {
            assert!(text.contains(&format!("{origin}/{path}")), "{path}: {text}");
        };
        let lists =
            [session.tools(), session.prompts(), session.resources(), session.resource_templates()];
        for list in lists {
            let list = list.unwrap();
            assert_eq!(list.len(), 1);
            names(&list[0].definition, "icon.svg");
        }
        for shape in ToolFormat::ALL {
            names(session.tools_for(shape).unwrap().json(), "description");
        }
        let called = lease.call_tool("t", "{}", &options).await.unwrap();
        for path in ["link", "icon.svg", "embedded", "image.png"] {
            names(called.json(), path);
        }
        let read = lease.read_resource(&format!("{origin}/resource"), &options).await.unwrap();
        names(read.json(), "contents");
        let prompt = lease.get_prompt("p", "{}", &options).await.unwrap();
        names(prompt.json(), "link");
        let asked = json!({
            "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" },
        });
        names(lease.complete(&asked.to_string(), &options).await.unwrap().json(), "value");
        drop(rig.pool.status());
    });
    close(&rig);
    assert!(trap.is_untouched());
    // Who goes there is seen.
    let _came = TcpStream::connect(origin.trim_start_matches("http://")).unwrap();
    assert!(!trap.is_untouched());
}
