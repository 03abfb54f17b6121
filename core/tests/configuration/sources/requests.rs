//! What a person is shown of a server before they decide, and what their decision is about (SPEC
//! 12.2, 12.5).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::*;
use trunkline::WorkspaceTrust;

/// Sets the project's source to one server and these inputs.
fn declare(rig: &Rig, server: &Value, inputs: Value) {
    let text = json!({ "servers": { "s": server }, "inputs": inputs }).to_string();
    rig.pool.set_source(&name("project:/srv/.vscode/mcp.json"), Some(&text)).unwrap();
}

/// What is shown of the one server that waits.
async fn request(rig: &Rig) -> Value {
    rig.pool.approvals().await.unwrap()["requests"][0].clone()
}

async fn approve(rig: &Rig) {
    let request = request(rig).await;
    rig.pool.approve("s", request["hash"].as_str().unwrap()).await.unwrap();
}

/// SPEC 12.2, S-01: the description of an input that the entry takes is a part of what was
/// approved; where it is declared, and inputs that the entry does not take, are not.
#[test]
fn an_input_that_is_declared_in_another_way_asks_again() {
    let rig = trusted();
    host(async {
        let mut server = rig.server(&[]);
        server["env"] = json!({ "WORD": "${input:word}" });
        let mut word = json!({ "type": "promptString", "id": "word", "description": "The word" });
        declare(&rig, &server, json!([word]));
        approve(&rig).await;
        assert_eq!(request(&rig).await, Value::Null);
        let other = json!({ "type": "promptString", "id": "other" });
        declare(&rig, &server, json!([other, word]));
        assert_eq!(request(&rig).await, Value::Null);
        let changes = [
            ("default", json!("evil.example")),
            ("description", json!("Your password")),
            ("password", json!(true)),
            ("type", json!("pickString")),
            ("options", json!(["a", "c"])),
        ];
        for (member, value) in changes {
            word[member] = value;
            if member == "type" {
                word["options"] = json!(["a", "b"]);
            }
            declare(&rig, &server, json!([word]));
            assert_ne!(request(&rig).await, Value::Null, "{member}");
            let changed = request(&rig).await["changes"]["fields"].clone();
            assert_eq!(changed, json!([{ "field": "inputs", "change": "changed" }]), "{member}");
            approve(&rig).await;
            assert_eq!(request(&rig).await, Value::Null);
        }
        for command in ["one", "two"] {
            declare(
                &rig,
                &server,
                json!([{ "type": "command", "id": "word", "command": command }]),
            );
            assert_ne!(request(&rig).await, Value::Null);
            approve(&rig).await;
        }
        declare(&rig, &server, json!([]));
        assert_ne!(request(&rig).await, Value::Null);
    });
}

/// SPEC 12.5, S-48: which of the host's secrets and variables it takes, and what is asked for, with
/// the places and no values.
#[test]
fn a_request_lists_what_it_takes_of_the_host() {
    let rig = trusted();
    host(async {
        let mut server = rig.server(&["${input:word}", "${env:HOME}"]);
        server["env"] = json!({
            "TOKEN": "${secret:GITHUB_TOKEN}", "AGAIN": "x${secret:GITHUB_TOKEN}$HOME", "PLAIN": "$$HOME",
            "DEFAULT": "${ODD\u{202e}:-canary}",
        });
        declare(&rig, &server, json!([]));
        // A name like that is none without `env:`.
        assert_eq!(row(&rig.pool, "s")["reason"], "invalid_config");
        server["env"]["DEFAULT"] = json!("${env:ODD\u{202e}:-canary}");
        server["envFile"] = json!("${userHome}/${input:which}");
        declare(&rig, &server, json!([]));
        let request = request(&rig).await;
        let expected = json!([
            { "kind": "env", "name": "HOME", "fields": ["args[1]", "env.AGAIN"] },
            { "kind": "env", "name": "ODD\\u{202e}", "fields": ["env.DEFAULT"] },
            { "kind": "input", "name": "which", "fields": ["env_file"] },
            { "kind": "input", "name": "word", "fields": ["args[0]"] },
            { "kind": "secret", "name": "GITHUB_TOKEN", "fields": ["env.AGAIN", "env.TOKEN"] },
        ]);
        assert_eq!(request["takes"], expected);
        assert!(!request.to_string().contains("canary"));
        let marks = request["risks"].as_array().unwrap().iter();
        let of_file = marks.filter(|mark| mark["kind"] == "env_file");
        assert_eq!(of_file.count(), 1);
    });
}

/// SPEC 12.2, S-08, S-10: what cannot be shown as it is cannot be approved: two such programs would
/// look the same.
#[test]
fn a_program_whose_path_is_no_text_is_refused() {
    let rig = trusted();
    host(async {
        let folder = rig.path("ws").join(OsStr::from_bytes(b"odd\xff"));
        std::fs::create_dir(&folder).unwrap();
        symlink(folder.join("run"), rig.path("ws/run")).unwrap();
        std::fs::copy(rig::testserver(), folder.join("run")).unwrap();
        let session = wanting(&rig, "a");
        let mut server = rig.server(&[]);
        server["command"] = json!("./run");
        set(&rig.pool, "project", json!({ "s": server }));
        assert_eq!(row(&rig.pool, "s")["reason"], "invalid_config");
        assert_eq!(request(&rig).await, Value::Null);
        let brought = trunkline::ServerSpec::from_value("t", &server).unwrap();
        let options = json!({ "origin": "project" }).to_string();
        let options = trunkline::AcquireOptions::from_json(&options).unwrap();
        let error = session.acquire("t", Some(&brought), &options).await.err().unwrap();
        assert_eq!(error.detail()["reason"], "pending_approval");
        assert_eq!(request(&rig).await, Value::Null);
        assert_eq!(rig.starts(), [0; 0]);
    });
}

/// S-16: what is in a program or a file of it is not looked at, which the status says of each
/// server that needs approval.
#[test]
fn the_status_says_that_content_is_not_pinned() {
    let rig = trusted();
    set(&rig.pool, "project", json!({ "p": rig.server(&[]) }));
    set(&rig.pool, "workspace", json!({ "w": rig.server(&[]) }));
    set(&rig.pool, "user", json!({ "u": rig.server(&[]) }));
    for trust in [WorkspaceTrust::Trusted, WorkspaceTrust::Untrusted] {
        host(rig.pool.set_trusted(trust)).unwrap();
        assert_eq!(row(&rig.pool, "p")["content"], "not_pinned");
        assert_eq!(row(&rig.pool, "w")["content"], "not_pinned");
        assert_eq!(row(&rig.pool, "u")["content"], Value::Null);
    }
}
