//! Paths of Windows whose backslashes were not doubled (SPEC 18.9).

use trunkline_pool::settings::{FindingKind, Format, ReadOptions, Source, read};
use trunkline_pool::{Error, ErrorCode};

fn read_as(text: &str, file: &str) -> Result<Source, Error> {
    read(text, file, &ReadOptions::default())
}

/// What an error says of where it is: its path, line and column.
fn place(error: &Error) -> (&str, u64, u64) {
    assert_eq!(error.code(), ErrorCode::InvalidConfig);
    assert!(error.message().contains("double each backslash"), "{error}");
    let number = |name: &str| error.detail()[name].as_u64().unwrap();
    (error.detail()["path"].as_str().unwrap(), number("line"), number("column"))
}

/// One bad string in an entry costs that entry, and says where: as strict JSON, as JSON with
/// comments and in the form of JSON5.
#[test]
fn a_backslash_that_stands_for_nothing_costs_its_entry() {
    for (entry, path) in [
        (r#"{"command":"C:\Apps\Py\python.exe"}"#, "command"),
        (r#"{"command":"C:\users\x"}"#, "command"),
        (r#"{"command":"x","args":["a","C:\Go"]}"#, "args[1]"),
        (r#"{"command":"x","cwd":"C:\Go"}"#, "cwd"),
        (r#"{"command":"x","env":{"D":"C:\Go"}}"#, "env.D"),
        (r#"{"command":"x","env":{"C:\Go":"D"}}"#, r#"env["C:/Go"]"#),
        (r#"{"command":"x","odd":{"deep":["\x41"]}}"#, "odd.deep[0]"),
        (r#""C:\Go""#, ""),
    ] {
        for (start, file) in
            [("", "x.json"), ("// a comment\n", "x.jsonc"), ("/* a */\n", "x.json5")]
        {
            let text = format!(
                "{start}{{\"mcpServers\":{{\n\"b\":{entry},\n\"ok\":{{\"command\":\"ok\"}}}}}}"
            );
            let source = read_as(&text, file).unwrap();
            let [bad, good] = &source.servers[..] else { panic!("{:?}", source.servers) };
            let error = bad.template.as_ref().unwrap_err();
            let line = if start.is_empty() { 2 } else { 3 };
            let (told, at, from) = place(error);
            assert_eq!((told, at), (path, line), "{entry}: {error}");
            assert_eq!(
                text.lines().nth(at as usize - 1).unwrap().chars().nth(from as usize - 1),
                Some('\\')
            );
            assert_eq!(error.server(), Some("b"));
            assert_eq!((&*good.name, good.template.is_ok()), ("ok", true));
        }
    }
}

/// Half a character is told as such, and costs its entry too.
#[test]
fn half_a_character_costs_its_entry() {
    let text = r#"{"mcpServers":{"b":{"command":"\ud83e"},"ok":{"command":"ok"}}}"#;
    let source = read_as(text, "x.json").unwrap();
    let error = source.servers[0].template.as_ref().unwrap_err();
    assert!(error.message().contains("half of a character"), "{error}");
    assert!(source.servers[1].template.is_ok());
}

/// Anywhere else it is the whole file's, whose last good state then stays: a list of gates or a
/// name could be another.
#[test]
fn anywhere_else_it_spoils_the_file() {
    let ok = r#""ok":{"command":"ok"}"#;
    for (text, file, path) in [
        (
            format!(r#"{{"mcpServers":{{{ok}}},"mcp":{{"excluded":["a\b","a\b\c"]}}}}"#),
            ".gemini/settings.json",
            "mcp.excluded[1]",
        ),
        (format!(r#"{{"mcpServers":{{{ok}}},"theme":"C:\Go"}}"#), ".gemini/settings.json", "theme"),
        (
            format!(r#"{{"mcpServers":{{{ok},"a\c":{{"command":"x"}}}}}}"#),
            "x.json",
            r#"mcpServers["a/c"]"#,
        ),
        (format!(r#"{{"mcpServers":{{{ok}}},"a\c":1}}"#), "x.json", r#"["a/c"]"#),
        (
            format!(r#"{{"servers":{{{ok}}},"inputs":[{{"id":"a","default":"C:\Go"}}]}}"#),
            ".vscode/mcp.json",
            "inputs[0].default",
        ),
        (r#"["C:\Go"]"#.to_owned(), "x.json", ""),
    ] {
        let error = read_as(&text, file).unwrap_err();
        if path.is_empty() {
            assert!(error.message().contains("must hold an object"), "{error}");
            continue;
        }
        assert_eq!(place(&error).0, path, "{text}: {error}");
    }
    // Each server of a project in a file of the user is an entry, also of another project.
    let text = format!(
        r#"{{"mcpServers":{{{ok}}},"projects":{{"/w":{{"mcpServers":{{"b":{{"command":"C:\Go"}}}}}}}}}}"#
    );
    let options = |workspace: &str| ReadOptions {
        format: Some(Format::ClaudeCode),
        workspace: Some(workspace.to_owned()),
        project: None,
    };
    let of = |workspace: &str| read(&text, ".claude.json", &options(workspace)).unwrap().servers;
    assert!(of("/w").iter().any(|server| server.name == "b" && server.template.is_err()));
    assert!(of("/other").iter().all(|server| server.template.is_ok()));
}

/// What passes every parser: a tab, a backspace or a line break in a path is told with its field
/// and line, and the entry works.
#[test]
fn a_control_character_in_a_path_is_told() {
    let text = r#"{"mcpServers":{
"a":{"command":"c:\node.exe",
     "args":["c:\temp\build\new.js", "--dir=C:\temp", "a\tb", "one\ntwo"],
     "cwd":"c:\temp",
     "env":{"D":"c:\temp","KEY":"-----BEGIN-----\nab/c\n"}}}}"#;
    let source = read_as(text, "x.json").unwrap();
    assert!(source.servers[0].template.is_ok());
    let told: Vec<(&str, usize)> = source
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::ControlCharacter)
        .map(|finding| (&*finding.path, finding.place.line))
        .collect();
    assert_eq!(told, [("command", 2), ("args[0]", 3), ("args[1]", 3), ("cwd", 4), ("env.D", 5)]);
    // In the terms of the file, whatever its product calls the field.
    let text = "extensions:\n  one:\n    type: stdio\n    cmd: \"c:\\node\"\n    envs: { D: \"c:\\temp\" }\n";
    let options = ReadOptions { format: Some(Format::Goose), ..ReadOptions::default() };
    let source = read(text, "config.yaml", &options).unwrap();
    let told: Vec<(&str, usize)> =
        source.findings.iter().map(|finding| (&*finding.path, finding.place.line)).collect();
    assert_eq!(told, [("cmd", 4), ("envs.D", 5)]);
}
