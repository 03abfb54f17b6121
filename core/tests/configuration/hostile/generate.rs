//! Hostile settings: texts of one file each, made from a seed.

use std::path::Path;

use serde_json::{Value, json};

use super::containers::Container;

/// One settings file, and what it would run if somebody approved it.
pub struct Hostile {
    pub text: String,
    /// The name of its server, where it has a well-formed one.
    pub server: String,
    /// `None` where the text alone does not say it.
    pub argv: Option<Vec<String>>,
    /// What kind of file it is.
    pub container: Container,
    /// Whether nothing is wrong with it: it would run, if somebody let it.
    pub is_well_formed: bool,
}

/// What would be started, or dialled, if somebody let it.
pub struct Aim<'a> {
    /// A folder of programs that are there, `hostile-N` for each number.
    pub programs: &'a Path,
    /// A port of this machine where nobody listens.
    pub port: u16,
}

impl Hostile {
    /// One whose text does not say what would run.
    fn unclear(text: String, server: &str) -> Hostile {
        let (server, container) = (server.to_owned(), Container::Common);
        Hostile { text, server, argv: None, container, is_well_formed: false }
    }
}

/// Numbers from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % sides as u64) as usize
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())].clone()
    }
}

const NAMES: [&str; 12] = [
    "s",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "prototype",
    "S\u{202e}drawkcab",
    "na\u{200b}me",
    "../../etc/passwd",
    "a b\tc",
    "control",
    "\u{1b}[2Jcleared",
];

/// Arguments that are something else to a terminal, to a shell, or to somebody who reads them.
pub const ARGUMENTS: [&str; 20] = [
    "",
    " ",
    "--help",
    "-c",
    "; touch /tmp/owned #",
    "`id`",
    "a\nb",
    "a\r\u{1b}[2K\u{7}b",
    "\u{202e}gnp.exe",
    "\u{2066}hidden\u{2069}",
    "\u{200b}\u{feff}",
    "\"quoted\" 'twice'",
    "back\\slash\\",
    "../../../etc/shadow",
    "/proc/self/exe",
    "\\\\host\\share",
    "pa\u{0430}ypal",
    "\u{10ffff}\u{1f600}",
    "%n%s%x",
    "\u{1}\u{7f}\u{85}\u{2028}",
];

const FIELDS: [&str; 40] = [
    "command",
    "cmd",
    "args",
    "env",
    "envs",
    "env_keys",
    "env_vars",
    "env_file",
    "envFile",
    "inherit_env",
    "cwd",
    "url",
    "uri",
    "httpUrl",
    "serverUrl",
    "socket_path",
    "headers",
    "headersHelper",
    "http_headers",
    "bearer_token",
    "auth",
    "oauth",
    "type",
    "transport",
    "timeout",
    "include",
    "exclude",
    "tools",
    "disabled",
    "enabled",
    "required",
    "trust",
    "autoApprove",
    "alwaysAllow",
    "share",
    "start",
    "reconnect",
    "era",
    "lifecycle",
    "name",
];

/// What is put in place only in what may run, and asked or run only for that.
const VARIABLES: [&str; 10] = [
    "${input:asked}",
    "${secret:asked}",
    "${env:HOME}",
    "${HOME}",
    "${NONE:-/bin/sh}",
    "${workspaceFolder}/../x",
    "${cmd: id}",
    "!id",
    "$(id)",
    "${input:asked}${secret:asked}",
];

/// Members that change what runs, or that somebody could take for such.
const CASES: [&str; 7] = [
    "Command",
    "COMMAND",
    "command ",
    "c\u{043e}mmand",
    "__proto__",
    "constructor",
    "\u{200b}args",
];

const WRONG: usize = 12;

/// How long a long string is, in bytes.
const LONG: usize = 1 << 20;

/// How deep a deep text is nested.
const DEEP: usize = 10_000;

fn wrong(dice: &mut Dice) -> Value {
    match dice.roll(WRONG) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(1e308),
        4 => json!(u64::MAX),
        5 => json!([]),
        6 => json!({}),
        7 => json!([["nested"]]),
        8 => json!({ "__proto__": { "command": "/bin/sh" } }),
        9 => json!(["a", 1, null]),
        10 => json!(dice.pick(&ARGUMENTS)),
        _ => json!({ "constructor": { "prototype": {} } }),
    }
}

fn arguments(dice: &mut Dice) -> Vec<String> {
    (0..dice.roll(6)).map(|_| dice.pick(&ARGUMENTS).to_owned()).collect()
}

/// A server that would run `command`, if anybody let it.
fn entry(command: &str, port: u16, dice: &mut Dice) -> Value {
    if dice.roll(5) == 0 {
        let url = format!("http://127.0.0.1:{port}/hostile");
        return json!({ "url": url, "headers": { "x-secret": "canary" } });
    }
    json!({ "command": command, "args": arguments(dice), "env": { "CANARY": "value" } })
}

/// The `number`th hostile file.
pub fn hostile(number: usize, seed: u64, aim: &Aim) -> Hostile {
    let mut dice = Dice::new(seed.wrapping_add(number as u64));
    // The first throws of near seeds are near each other.
    for _ in 0..8 {
        dice.roll(2);
    }
    let dice = &mut dice;
    let server = dice.pick(&NAMES).to_owned();
    let container = Container::any(dice);
    let file = |server: &str, entry: &Value| container.text(server, entry);
    let command = aim.programs.join(format!("hostile-{number}"));
    let mut value = entry(command.to_str().unwrap(), aim.port, dice);
    let text = match number % 8 {
        1 => {
            value[dice.pick(&FIELDS)] = wrong(dice);
            file(&server, &value)
        }
        2 => {
            let (member, other) = (dice.pick(&FIELDS), wrong(dice));
            let once = value.to_string();
            let twice = format!("{{\"{member}\": {other}, {}", &once[1..]);
            let text = format!("{{\"mcpServers\": {{\"s\": {once}, \"s\": {twice}}}}}");
            return Hostile::unclear(text, "s");
        }
        3 => {
            value[dice.pick(&CASES)] = dice.pick(&[json!("/bin/sh"), json!(["-c", "id"])]);
            file(&server, &value)
        }
        4 => {
            let paths =
                ["./x", "..", "//x", "/proc/self/exe", "\\\\?\\c:\\x", "~/x", "x\u{0}y", "."];
            value[dice.pick(&["command", "cwd", "env_file"])] = json!(dice.pick(&paths));
            file(&server, &value)
        }
        5 if number % 80 == 5 => match lengthened(&mut value, dice) {
            Some(name) => {
                return Hostile { container, ..Hostile::unclear(file(&name, &value), &name) };
            }
            None => file(&server, &value),
        },
        6 if number % 16 == 6 => {
            let (open, close) = dice.pick(&[("[", "]"), ("{\"a\":", "}")]);
            let deep = format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
            let text =
                format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"x\", \"args\": {deep}}}}}}}");
            return Hostile::unclear(text, "s");
        }
        7 => {
            let text = broken(file(&server, &value), dice);
            return Hostile { container, ..Hostile::unclear(text, &server) };
        }
        6 => {
            put_variable(&mut value, aim.port, dice);
            return Hostile { container, ..Hostile::unclear(file(&server, &value), &server) };
        }
        5 if value["command"].is_string() => {
            value["args"] = json!(arguments(dice));
            file(&server, &value)
        }
        _ => file(&server, &value),
    };
    let is_whole = number.is_multiple_of(8) || number % 8 == 5 && number % 80 != 5;
    // Without a name that says so, a text is taken for JSON.
    let is_read = is_on_disk(number) || container != Container::Toml;
    let is_well_formed = is_whole && is_read && is_written_well(&server, &value);
    let argv = argv_of(&value);
    Hostile { text, server, argv, container, is_well_formed }
}

/// Makes something of it longer than anything may be; the name of its server, where that is what is
/// long.
fn lengthened(value: &mut Value, dice: &mut Dice) -> Option<String> {
    let piece = dice.pick(&["a", "\u{202e}", " ", "\n"]);
    let long = piece.repeat(LONG / piece.len());
    match dice.roll(4) {
        0 => value["command"] = json!(long),
        1 => value["args"] = json!([long]),
        2 => value["env"] = json!({ long: "x" }),
        _ => return Some(long),
    }
    None
}

/// Whether a file is put on the disk, or given as a text.
pub fn is_on_disk(number: usize) -> bool {
    number % 16 < 8
}

/// Whether no text of it has what no configuration may have.
fn is_written_well(server: &str, entry: &Value) -> bool {
    let args = entry["args"].as_array().into_iter().flatten();
    let mut texts = args.map(|text| text.as_str().unwrap()).chain([server]);
    let is_seen = !server.contains(['\u{200b}', '\u{202e}']);
    is_seen && texts.all(|text| !text.chars().any(|it| it.is_control() || it == '\u{feff}'))
}

/// Puts a variable into one of the fields that have them.
fn put_variable(value: &mut Value, port: u16, dice: &mut Dice) {
    let variable = dice.pick(&VARIABLES);
    match dice.roll(5) {
        0 => value["args"] = json!([variable]),
        1 => value["env"] = json!({ "A": variable }),
        2 => value["headers"] = json!({ "a": variable }),
        3 => value["cwd"] = json!(variable),
        _ => value["url"] = json!(format!("http://127.0.0.1:{port}/{variable}")),
    }
}

/// Cut off, or with something in it that no text has.
fn broken(mut text: String, dice: &mut Dice) -> String {
    let mut at = dice.roll(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    match dice.roll(2) {
        0 => text.truncate(at),
        _ => text.insert(at, dice.pick(&['\u{0}', '\u{202e}', '{', '"', ','])),
    }
    text
}

/// What an entry says that would run, by nothing but its two fields.
fn argv_of(entry: &Value) -> Option<Vec<String>> {
    let args = entry["args"].as_array().cloned().unwrap_or_default();
    let all = std::iter::once(entry["command"].clone()).chain(args);
    all.map(|text| text.as_str().map(str::to_owned)).collect()
}
