//! What the pool's own form alone has.

use serde_json::{Value, json};
use trunkline_pool::settings::{FindingKind, Format, ReadOptions, Source, Template, read};

fn as_format(format: Option<Format>, fields: Value) -> Source {
    let text = json!({ "mcpServers": { "s": fields } }).to_string();
    read(&text, "settings.json", &ReadOptions { format, workspace: None }).unwrap()
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

/// SPEC 10.3: it means nothing in another product's file, and so not in what is written of that file in the pool's own form.
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
