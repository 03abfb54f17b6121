//! Variables: what one becomes is taken as it is, wherever it stands, and nothing else of a text
//! changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use trunkline_pool::config::{ServerSpec, Transport};
use trunkline_pool::expand::{
    Answers, CommandLine, Commands, VariableLookup, expand, look_up, needs, takes,
};
use trunkline_pool::settings::{Format, ReadOptions, Template, read};

pub const WORDS: &[&str] = &[
    "$",
    "$$",
    "${",
    "}",
    "{",
    "$A",
    "${A}",
    "${A:-b}",
    "${A:-}",
    "${A:-${B}}",
    "${env:A}",
    "${env:A:-b}",
    "${input:a}",
    "${secret:a}",
    "${workspaceFolder}",
    "${userHome}",
    "${cmd:a b}",
    ":-",
    "!",
    "!cmd",
    " ",
    "\u{1}",
    "\u{e9}",
    "\"",
    "\\",
];

/// What the host answers: to each question a text of its own, around which is what must not be
/// read.
struct Host {
    before: &'static str,
    behind: &'static str,
}

impl Host {
    fn says(&self, question: &str, name: &str) -> String {
        let Host { before, behind } = self;
        let name: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{before}{question}{name}{behind}")
    }

    fn answers(&self, template: &Template) -> Answers {
        let needs = needs(template, Commands::Asked);
        let told = |question: &str, names: &BTreeSet<String>| {
            let answer = |name: &String| (name.clone(), self.says(question, name));
            names.iter().map(answer).collect::<BTreeMap<_, _>>()
        };
        let answer = |line: CommandLine| {
            let name = format!("{} {:?}", line.program(), line.args());
            (line, self.says("c", &name))
        };
        Answers {
            inputs: told("i", &needs.inputs),
            secrets: told("s", &needs.secrets),
            commands: needs.commands.into_iter().map(answer).collect(),
            ..Answers::default()
        }
    }
}

impl VariableLookup for Host {
    fn env(&self, name: &str) -> Option<String> {
        Some(self.says("e", name))
    }

    fn workspace_folder(&self) -> Option<String> {
        Some(self.says("w", ""))
    }

    fn user_home(&self) -> Option<String> {
        Some(self.says("h", ""))
    }
}

/// Texts that no input holds, and what could be read again.
const PLAIN: Host = Host { before: "\u{f0000}", behind: "\u{f0001}" };
const ODD: Host = Host { before: "${A}$B ${cmd:x} '\"\\ ", behind: " !y ${input:z:-" };

/// The server with that text as an argument and as a value of the environment.
fn template(text: &str) -> Option<Template> {
    let server = json!({ "command": "program", "args": ["-a", text], "env": { "E": text } });
    let file = json!({ "mcpServers": { "s": server } }).to_string();
    let options = ReadOptions { format: Some(Format::Trunkline), ..ReadOptions::default() };
    read(&file, "f.json", &options).ok()?.servers.pop()?.template.ok()
}

fn texts(spec: &ServerSpec) -> [Option<String>; 2] {
    let Transport::Stdio(stdio) = &spec.transport else { panic!("it is a program") };
    assert_eq!(stdio.args.len(), 2, "an argument is never split");
    [stdio.args.get(1).cloned(), stdio.env.get("E").cloned()]
}

/// SPEC 10.5, S-07.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if text.contains(['\u{f0000}', '\u{f0001}']) {
        return;
    }
    let Some(template) = template(text) else { return };
    for commands in [Commands::Refused, Commands::Asked] {
        let with = |host: &Host| expand(&template, host, commands, &host.answers(&template));
        let (plain, odd) = (with(&PLAIN), with(&ODD));
        let looked_up = look_up(&template, &PLAIN, commands);
        if plain.is_ok() {
            // What can run was shown before.
            assert!(looked_up.is_ok(), "{text}: {looked_up:?}");
        }
        let (Ok(plain), Ok(odd)) = (&plain, &odd) else {
            assert_eq!(plain.is_ok(), odd.is_ok(), "{text}: what is answered decides nothing");
            continue;
        };
        for (plain, odd) in texts(plain).into_iter().zip(texts(odd)) {
            // The answers stand where they were asked for, as they are.
            let expected = plain.map(|plain| {
                let text = plain.replace(PLAIN.before, ODD.before);
                text.replace(PLAIN.behind, ODD.behind)
            });
            assert_eq!(odd, expected, "{text}");
        }
        let is_command = commands == Commands::Asked && text.starts_with('!');
        if !is_command && !text.contains('$') {
            assert_eq!(texts(plain), [Some(text.to_owned()), Some(text.to_owned())]);
            assert!(takes(&template).is_empty(), "{text}");
        }
    }
}
