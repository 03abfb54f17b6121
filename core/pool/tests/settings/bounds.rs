//! Texts whose size or repetition would cost more than reading them. Each is so large that work in
//! the square of its size would not end in any time that a test has.

use trunkline_pool::settings::{FINDINGS_MAX, Format, ReadOptions, Rule, read};

use crate::hostile::judge;

/// Members of one object: their square is more than can be counted in an hour.
const MANY: usize = 200_000;

/// S-24: long texts and many members are read or refused with a word.
#[test]
fn long_texts_and_many_members_have_an_outcome() {
    let long = "x".repeat(1 << 20);
    for (name, text) in [
        (
            "x.json",
            format!(
                "{{\"mcpServers\": {{\"a\": {{\"command\": \"{long}\", \"args\": [\"{long}\"]}}}}}}"
            ),
        ),
        ("x.toml", format!("[mcp_servers.a]\ncommand = '{long}'\nargs = ['{long}']")),
        ("x.yaml", format!("mcpServers:\n- name: a\n  command: {long}\n  args: ['{long}']")),
    ] {
        let source = judge(&text, name).unwrap();
        assert!(source.servers[0].template.is_ok(), "{name}");
    }
    let named = format!("{{\"mcpServers\": {{\"{long}\": {{\"command\": \"x\"}}}}}}");
    let source = judge(&named, "x.json").unwrap();
    assert!(source.servers[0].template.as_ref().is_err_and(|error| error.message().len() < 200));

    let many = (0..10_001).map(|n| format!("\"s{n}\": {{}}")).collect::<Vec<_>>().join(",");
    assert!(judge(&format!("{{\"mcpServers\": {{{many}}}}}"), "x.json").is_err());
    assert!(judge(&"x".repeat((16 << 20) + 1), "x.json").is_err());
}

/// S-24: aliases that multiply are refused before they are followed.
#[test]
fn aliases_that_multiply_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{alias}]\n"));
    }
    assert!(judge(&bomb, "x.yaml").is_err());
}

/// S-24: an alias counts as much as it copies, be it values, one long text or long names.
#[test]
fn aliases_of_long_texts_are_refused() {
    let text = |what: &str, aliases: usize| {
        let aliases = "*l, ".repeat(aliases);
        format!("mcpServers:\n- name: a\n  command: x\n  long: &l {what}\n  more: [{aliases}]\n")
    };
    let long = "x".repeat(1 << 19);
    assert!(judge(&text(&long, 10), "x.yaml").is_ok());
    assert!(judge(&text(&long, 140), "x.yaml").is_err());
    let names = (0..100).map(|n| format!("{}{n}: 1", "x".repeat(1_000)));
    let names = format!("{{{}}}", names.collect::<Vec<_>>().join(", "));
    assert!(judge(&text(&names, 10), "x.yaml").is_ok());
    assert!(judge(&text(&names, 800), "x.yaml").is_err());
}

/// S-24: items of a list count as servers, whether they have a name or not.
#[test]
fn nameless_servers_are_counted() {
    let list = |count: usize| format!("{{\"mcpServers\": [{}0]}}", "0,".repeat(count - 1));
    assert_eq!(judge(&list(10_000), "x.json").unwrap().servers.len(), 10_000);
    assert!(judge(&list(10_001), "x.json").is_err());
}

/// S-24: fields that are rewritten and named with their places cost their number, not its square.
#[test]
fn many_rewritten_fields_are_read() {
    let fields = (0..MANY).map(|n| format!("\"k{n}\": \"{{env:A}}\"\n")).collect::<Vec<_>>();
    let text = format!("{{\"mcp\": {{\"a\": {{\"command\": [\"x\"],\n{}}}}}}}", fields.join(","));
    let options = ReadOptions { format: Some(Format::Opencode), ..ReadOptions::default() };
    let source = read(&text, "x.json", &options).unwrap();
    assert_eq!(source.findings.len(), FINDINGS_MAX);
    let template = source.servers[0].template.as_ref().unwrap();
    let rewritten = template.provenance().iter().filter(|one| one.rule == Rule::Variables);
    assert!(
        rewritten
            .enumerate()
            .all(|(n, one)| one.path == format!("k{n}") && one.place.line == n + 2)
    );
    assert_eq!(template.provenance().len(), MANY + 1);
}

/// S-24: headers made of variables are compared with one another without comparing each with each.
#[test]
fn many_headers_are_refused() {
    let headers = (0..MANY).map(|n| format!("X-{n} = 'A'\n")).collect::<String>();
    let text = format!(
        "[mcp_servers.a]\nurl = 'https://h.example'\n[mcp_servers.a.env_http_headers]\n{headers}"
    );
    let source = read(&text, "x.toml", &ReadOptions::default()).unwrap();
    let error = source.servers[0].template.as_ref().unwrap_err();
    assert_eq!(error.detail()["path"], "env_http_headers");
}

/// S-24: the place of a part is found without writing the way to each of its neighbours.
#[test]
fn a_place_below_a_long_name_is_found() {
    let (name, items) = ("x".repeat(1 << 22), "0,".repeat(1_000_000));
    let text = format!("{{\"mcpServers\": {{\"a\": {{\"{name}\": [{items}\n1e999]}}}}}}");
    let source = read(&text, "x.json", &ReadOptions::default()).unwrap();
    let error = source.servers[0].template.as_ref().unwrap_err();
    assert!(error.detail()["path"].as_str().is_some_and(|path| path.ends_with("x[1000000]")));
    assert_eq!((&error.detail()["line"], &error.detail()["column"]), (&2.into(), &1.into()));
}
