//! Members that are there twice: another reader takes the other of the two (S-15).

use trunkline_pool::settings::{ReadOptions, Source, read};
use trunkline_pool::{Error, ErrorCode};

fn read_as(text: &str, file: &str) -> Result<Source, Error> {
    let options = ReadOptions { workspace: Some("/srv/project".into()), ..ReadOptions::default() };
    read(text, file, &options)
}

fn assert_spoilt(text: &str, file: &str, path: &str) {
    let error = read_as(text, file).map(|_| ()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidConfig, "{text}");
    assert_eq!(error.detail()["path"], path, "{text}");
    assert!(error.message().contains("is there twice"), "{error}");
}

/// S-15: a project that is there twice spoils the file, as a gate that only one of the two closes
/// would stand open.
#[test]
fn a_project_that_is_there_twice_spoils_the_file() {
    let open = r#""/srv/project": {"mcpServers": {"a": {"command": "x"}}}"#;
    let closed = r#""/srv/project": {"disabledMcpjsonServers": ["a"]}"#;
    let file = "/srv/.claude.json";
    let text = format!(r#"{{"projects": {{{open}}}, "projects": {{{closed}}}}}"#);
    assert_spoilt(&text, file, "projects");
    let text = format!(r#"{{"projects": {{{open}, {closed}}}}}"#);
    assert_spoilt(&text, file, r#"projects["/srv/project"]"#);

    // Names of folders are no words of ours: another case is another folder, and others' doubles
    // are others' business.
    let others = r#""/SRV/project": {"disabledMcpjsonServers": ["b"]}, "/x": {}, "/x": {}"#;
    let text = format!(r#"{{"projects": {{{others}, {closed}}}}}"#);
    assert_eq!(read_as(&text, file).unwrap().lists.excluded, ["a"]);
}

/// S-15: inputs that are there twice spoil the file: a host would be asked other questions than the
/// product asks.
#[test]
fn inputs_that_are_there_twice_spoil_the_file() {
    let input = r#""inputs": [{"type": "promptString", "id": "i"}]"#;
    let text = format!(r#"{{"servers": {{}}, {input}, {input}}}"#);
    assert_spoilt(&text, "/srv/.vscode/mcp.json", "inputs");
}

/// S-15: a server of two types is not one of the product's own that could be left out.
#[test]
fn a_server_of_two_types_is_not_skipped() {
    let text = r#"{"mcpServers": {"a": {"type": "sdk", "type": "stdio", "command": "x"}, "b": {"type": "sdk"}}}"#;
    let source = read_as(text, "/srv/.mcp.json").unwrap();
    assert_eq!(source.skipped.len(), 1);
    assert_eq!(source.skipped[0].name, "b");
    let error = source.servers[0].template.as_ref().unwrap_err();
    assert_eq!((&*source.servers[0].name, &error.detail()["path"]), ("a", &"type".into()));
}
