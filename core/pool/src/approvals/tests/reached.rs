//! What a configuration can reach or hand out is shown (SPEC 12.9).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::root;
use crate::approvals::{Asked, Candidate, CandidateLaunch, Declared, Request, RequestOrigin};
use crate::expand::{Commands, VariableLookup, look_up};
use crate::settings::{ReadOptions, read};

struct Host;

impl VariableLookup for Host {
    fn env(&self, name: &str) -> Option<String> {
        (name == "AUTH_HOST").then(|| "login.example.net".to_owned())
    }

    fn workspace_folder(&self) -> Option<String> {
        Some("/p".to_owned())
    }

    fn user_home(&self) -> Option<String> {
        None
    }
}

/// The request for the one server of a file, and its hash.
fn request(servers: &Value, inputs: &Value) -> Value {
    let text = json!({ "servers": { "s": servers }, "inputs": inputs }).to_string();
    let source = read(&text, ".vscode/mcp.json", &ReadOptions::default()).unwrap();
    let template = source.servers[0].template.clone().unwrap();
    let declared = Declared::of(&template, &source.inputs);
    let looked_up = look_up(&template, &Host, Commands::Refused).unwrap();
    let shown = CandidateLaunch::of(&looked_up.spec, Some("/usr/bin/c".into())).unwrap();
    let (root, origin) =
        (root("/p"), RequestOrigin { scope: "project".into(), file: None, line: None });
    Request::new(&Asked {
        root: &root,
        server: "s",
        origin: &origin,
        candidate: Candidate::of_template(&template, &declared, &shown),
        last: None,
        hides: None,
        alike: None,
    })
    .to_json()
}

/// SPEC 12.9: every address of a sign-in, what is asked for there, and what of it leads to another
/// origin, in JSON and in the text.
#[test]
fn a_request_shows_where_a_sign_in_leads() {
    let oauth = json!({
        "grant_type": "client_credentials", "client_id": "docs", "client_secret": "${env:TOKEN}",
        "token_url": "https://${env:AUTH_HOST}/token", "authorizationUrl": "https://h.example/\u{202e}a",
        "issuer": "http://127.0.0.1:7802", "registration_url": "https://h.example:443/register",
        "redirect_uri": "http://127.0.0.1:9/cb", "scope": "write read", "audiences": ["x"],
        "more": { "token": ["https://else.example/x"] }, "plain": "canary",
    });
    let json = request(&json!({ "url": "https://h.example/mcp", "oauth": oauth }), &json!([]));
    let addresses = [
        ("authorization_url", "https://h.example/\\u{202e}a", false),
        ("issuer", "http://127.0.0.1:7802", true),
        ("more.token[0]", "https://else.example/x", true),
        ("redirect_uri", "http://127.0.0.1:9/cb", true),
        ("registration_url", "https://h.example:443/register", false),
        ("token_url", "https://login.example.net/token", true),
    ];
    let shown = json["oauth"]["addresses"].as_array().unwrap();
    assert_eq!(shown.len(), addresses.len(), "{shown:?}");
    let text = json["escaped"]["text"].as_str().unwrap();
    for (field, address, is_other) in addresses {
        let row = json!({ "field": format!("oauth.{field}"), "address": address, "other_origin": is_other });
        assert!(shown.contains(&row), "{row} {shown:?}");
        assert!(text.contains(&format!("oauth.{field} {address}")), "{text}");
        let subject = format!("oauth.{field} {address}");
        let mark = json!({ "kind": "other_origin", "subject": subject, "argument": null });
        assert_eq!(json["risks"].as_array().unwrap().contains(&mark), is_other, "{mark}");
    }
    for (member, value) in [
        ("grant", json!("client_credentials")),
        ("client_id", json!("docs")),
        ("scopes", json!(["read", "write"])),
        ("audiences", json!(["x"])),
        ("others", json!(["client_secret", "more", "plain"])),
    ] {
        assert_eq!(json["oauth"][member], value, "{member}");
    }
    assert!(text.contains("env TOKEN, in oauth.client_secret"), "{text}");
    assert!(text.contains("scopes read write"), "{text}");
    assert!(!json.to_string().contains("canary"));
}

/// SPEC 12.2, 12.9: a variable in an address of a sign-in that becomes another asks again.
#[test]
fn another_address_of_a_sign_in_is_another_configuration() {
    let spec = |oauth: &Value| super::spec(&json!({ "url": "https://h.example/", "oauth": oauth }));
    let hash = |spec: &crate::config::ServerSpec, address: &str| {
        let shown = CandidateLaunch::Remote {
            url: "https://h.example/".into(),
            socket_path: None,
            oauth: BTreeMap::from([("token_url".into(), address.into())]),
        };
        Candidate::of_spec(spec, &shown).identity().hash
    };
    let written = spec(&json!({ "token_url": "https://$H/" }));
    assert_ne!(hash(&written, "https://a.example/"), hash(&written, "https://b.example/"));
}

/// SPEC 12.9: what a host may run or take for an input is shown.
#[test]
fn a_request_shows_the_inputs_that_it_takes() {
    let inputs = json!([
        { "id": "run", "type": "command", "command": "evil.run\u{1b}" },
        { "id": "word", "type": "promptString", "default": "https://evil.example", "password": true,
          "description": "which" },
        { "id": "pick", "type": "pickString", "options": ["a", "b"] },
        { "id": "unused", "type": "promptString" },
    ]);
    let server = json!({ "command": "c", "env": {
        "A": "${input:run}", "B": "${input:word}", "C": "${input:pick}" } });
    let json = request(&server, &inputs);
    assert_eq!(
        json["inputs"],
        json!([
            { "id": "pick", "kind": "choice", "command": null, "choices": ["a", "b"],
              "default": null, "description": null, "secret": false },
            { "id": "run", "kind": "command", "command": "evil.run\\u{1b}", "choices": [],
              "default": null, "description": null, "secret": false },
            { "id": "word", "kind": "text", "command": null, "choices": [],
              "default": "https://evil.example", "description": "which", "secret": true },
        ])
    );
    let text = json["escaped"]["text"].as_str().unwrap();
    for line in ["command run, command evil.run", "word, a secret, default https://evil.example"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.is_ascii());
}
