//! What the pool's own form alone has, and what says nothing in it.

use serde_json::{Value, json};
use trunkline_pool::settings::{FindingKind, Format, ReadOptions, Source, Template, read};

fn as_format(format: Option<Format>, fields: Value) -> Source {
    let text = json!({ "mcpServers": { "s": fields } }).to_string();
    read(&text, "settings.json", &ReadOptions { format, ..ReadOptions::default() }).unwrap()
}

fn template(source: &Source) -> &Template {
    source.servers[0].template.as_ref().unwrap()
}

/// SPEC 10.3: it tells the file from those that share fields with it.
#[test]
fn the_pools_own_form_is_known_by_its_own_fields() {
    let fields = json!({ "command": "x", "env_file": ".env", "excludeTools": ["a"] });
    let source = as_format(None, fields);
    assert_eq!(source.format, Format::Trunkline);
    assert_eq!(template(&source).env_file(), Some(".env"));
}

/// SPEC 10.3: it means nothing in another product's file, and so not in what is written of that
/// file in the pool's own form.
#[test]
fn a_name_of_the_pools_own_form_means_nothing_in_another_products_file() {
    for (name, value) in
        [("env_file", json!(false)), ("env_file", json!(".env")), ("Env_File", json!(".env"))]
    {
        let source = as_format(Some(Format::Cline), json!({ "command": "x", name: value }));
        let [finding] = &source.findings[..] else { panic!("{:?}", source.findings) };
        assert_eq!((finding.path.as_str(), finding.kind), (name, FindingKind::Unknown));
        let configuration = template(&source).configuration().clone();
        let again = as_format(Some(Format::Trunkline), Value::Object(configuration));
        assert_eq!((template(&again).env_file(), template(&again)), (None, template(&source)));
    }
}

/// SPEC 10.3, 1.3: members of `oauth` that say nothing here, as one that is misspelled, are kept
/// and told.
#[test]
fn members_of_oauth_without_effect_are_kept_and_told() {
    for (format, spelling) in [
        (Format::Trunkline, "oauth"),
        (Format::ClaudeCode, "oauth"),
        (Format::Cursor, "auth"),
        (Format::Cline, "oauthClient"),
    ] {
        let fine = json!({ "clientId": "c", "scope": "a b", "enabled": true, "other": null });
        let mut given = json!({ "callbackPort": 8080, "clientID": "d" });
        given.as_object_mut().unwrap().extend(fine.as_object().unwrap().clone());
        let server = json!({ "url": "https://h.example", spelling: given });
        let source = as_format(Some(format), server);
        let told = source.findings.iter().map(|one| (one.path.clone(), one.kind));
        let [port, id] = ["callbackPort", "clientID"].map(|name| format!("{spelling}.{name}"));
        let expected = [(port, FindingKind::NoEffect), (id, FindingKind::Unknown)];
        assert_eq!(told.collect::<Vec<_>>(), expected, "{format:?}");
        let kept = &template(&source).unexpanded().oauth;
        assert_eq!((&kept["callback_port"], &kept["client_i_d"]), (&json!(8080), &json!("d")));
    }
}
