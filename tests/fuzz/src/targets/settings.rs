//! Settings files of each product: read in one way, in the pool's own form read again as the same,
//! and no secret shown.

use serde_json::{Map, Value, json};
use trunkline_pool::expand::{Answers, Commands, VariableLookup, expand};
use trunkline_pool::settings::{Format, ReadOptions, Source, Template, read};

pub const WORDS: &[&str] = &[
    "claude-code ",
    "claude-desktop ",
    "vscode ",
    "cursor ",
    "windsurf ",
    "codex ",
    "gemini ",
    "qwen ",
    "cline ",
    "roo ",
    "kiro ",
    "copilot-cli ",
    "opencode ",
    "zed ",
    "goose ",
    "continue ",
    "fastmcp ",
    "mcporter ",
    "mcp-hub ",
    "mcpproxy ",
    "trunkline ",
    "- ",
    ".json\n",
    ".toml\n",
    ".yaml\n",
    "\"mcpServers\": {",
    "\"servers\": {",
    "\"command\": \"x\"",
    "\"args\": []",
    "\"env\": {}",
    "\"url\": \"https://a\"",
    "\"type\": \"http\"",
    "\"headers\": {}",
    "\"disabled\": true",
    "\"timeout\": 5",
    "\"cwd\": \"/\"",
    "${env:A}",
    "$A",
    "{env:A}",
    "[mcp_servers.a]\n",
    "command = \"x\"\n",
    "// c\n",
    "/* c */",
    "#\n",
    "- name: a\n",
    "  cmd: x\n",
    "&a ",
    "*a",
    "<<: ",
    "|\n",
    "---\n",
    "\"\"\"",
    "'''",
    "\\u0061",
    ",",
    "{",
    "}",
    "[",
    "]",
    ":",
    "\"",
    "\n",
    "null",
    "1e999",
    "-1",
    "\u{feff}",
    "\u{202e}",
    "__proto__",
];

/// Nothing that is asked for is there.
struct Nothing;

impl VariableLookup for Nothing {
    fn env(&self, _: &str) -> Option<String> {
        None
    }

    fn workspace_folder(&self) -> Option<String> {
        None
    }

    fn user_home(&self) -> Option<String> {
        None
    }
}

/// Whether a text of the file is nowhere else, and long enough to be found.
fn is_secret(secret: &str, file: &str) -> bool {
    secret.len() >= SECRET_BYTES && file.matches(secret).count() == 1
}

const SECRET_BYTES: usize = 12;

/// The values of a configuration that nobody shows (SPEC 10.7).
fn values(template: &Template) -> impl Iterator<Item = &str> {
    let members = ["env", "headers"].map(|name| template.configuration().get(name));
    let members = members.into_iter().flatten().filter_map(Value::as_object);
    members.flat_map(Map::values).filter_map(Value::as_str)
}

/// A template in the pool's own form is the same template.
fn check_own_form(name: &str, template: &Template) {
    let own = json!({ "mcpServers": { name: template.configuration() } }).to_string();
    let options = ReadOptions { format: Some(Format::Trunkline), ..ReadOptions::default() };
    let again = read(&own, "own.json", &options).expect("it is a settings file");
    let [server] = &again.servers[..] else { panic!("one server: {own}") };
    let again = server.template.as_ref().unwrap_or_else(|error| panic!("{own}: {error}"));
    assert_eq!(again.unexpanded(), template.unexpanded(), "{own}");
    if !own.contains('$') {
        // Without variables there is nothing to put in place.
        let spec = expand(template, &Nothing, Commands::Refused, &Answers::default());
        assert_eq!(spec.as_ref().ok(), Some(template.unexpanded()), "{own}: {spec:?}");
    }
}

fn check(source: &Source, text: &str) {
    let shown = format!("{source:?}");
    for server in &source.servers {
        let template = match &server.template {
            Ok(template) => template,
            Err(error) => {
                assert!(error.detail().contains_key("line"), "{error}");
                continue;
            }
        };
        check_own_form(&server.name, template);
        for secret in values(template).filter(|value| is_secret(value, text)) {
            assert!(!shown.contains(secret), "{secret} is shown");
        }
    }
    // A carriage return alone ends a line as well; of a pair both are counted here.
    let lines = text.matches(['\n', '\r']).count() + 1;
    let places = source.servers.iter().map(|server| server.place);
    for place in places.chain(source.findings.iter().map(|finding| finding.place)) {
        assert!((1..=lines).contains(&place.line), "line {} of {lines}", place.line);
    }
}

/// SPEC 10, S-15. The first line is the format, or none, and the name of the file.
pub fn run(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let Some((head, text)) = input.split_once('\n') else { return };
    let (format, file) = head.split_once(' ').unwrap_or(("", head));
    let (workspace, project) = (Some("/w".into()), None);
    let options = ReadOptions { format: Format::of_name(format), workspace, project };
    match (read(text, file, &options), read(text, file, &options)) {
        (Ok(source), Ok(again)) => {
            assert_eq!(source, again);
            check(&source, text);
        }
        (Err(error), Err(again)) => {
            assert_eq!(error.to_json(), again.to_json());
            assert!(error.detail().contains_key("line"), "{error}");
        }
        _ => panic!("read in two ways"),
    }
}
