//! Entries that lead back to a pool: what `trunkline adopt` writes into the files of products (SPEC
//! 19.9).
//!
//! A pool that starts one would be a client of itself, or of another pool that may start it again.

use super::Transport;

/// The program, and its verb that connects to a served pool.
const PROGRAM: &str = "trunkline";
const VERB: &str = "connect";

/// What a person reads of such an entry.
pub const LEADS_BACK: &str = "trunkline connect";

/// Options of the program that stand before its verb and take the next word.
const OPTIONS_WITH_VALUE: [&str; 7] =
    ["-c", "--config", "-w", "--workspace", "-t", "--timeout", "--options"];

/// Whether a server is `trunkline connect`: by itself, behind a runner such as `npx` or `env`, or
/// in the line of a shell.
pub fn leads_back(transport: &Transport) -> bool {
    let Transport::Stdio(stdio) = transport else { return false };
    let words = std::iter::once(&stdio.command).chain(&stdio.args).map(String::as_str);
    let words: Vec<&str> = words.collect();
    let lines = words.windows(2).filter(|pair| takes_line(pair[0])).map(|pair| pair[1]);
    is_connect(&words) || lines.into_iter().any(is_line)
}

/// Whether the next word is a whole line of a shell.
fn takes_line(word: &str) -> bool {
    word.eq_ignore_ascii_case("/c") || (word.starts_with('-') && word.ends_with('c'))
}

fn is_line(line: &str) -> bool {
    let words = line.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    is_connect(&words.collect::<Vec<_>>())
}

/// Whether the words of a command line hold the program with its verb.
fn is_connect(words: &[&str]) -> bool {
    let starts = words.iter().enumerate().filter(|(_, word)| is_program(word));
    starts.into_iter().any(|(at, _)| verb(&words[at + 1..]) == Some(VERB))
}

/// The first word behind the program that is no option, nor the value of one.
fn verb<'a>(words: &[&'a str]) -> Option<&'a str> {
    let mut words = words.iter().copied();
    loop {
        match words.next()? {
            option if OPTIONS_WITH_VALUE.contains(&option) => drop(words.next()?),
            option if option.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

/// Whether a word names the program: by its path, or as a package of a version.
fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.split_once(['@', '=']).map_or(name, |(name, _)| name);
    let name = [".exe", ".cmd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    name == PROGRAM
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::config::ServerSpec;

    /// SPEC 19.9: each way that leads back is refused, and what only looks like one is not.
    #[test]
    fn what_leads_back_is_recognised() {
        for (command, args, is_refused) in [
            ("trunkline", json!(["connect", "github"]), true),
            ("trunkline", json!(["connect"]), true),
            ("/opt/bin/trunkline", json!(["connect", "github"]), true),
            ("C:\\bin\\trunkline.exe", json!(["connect", "github"]), true),
            ("trunkline", json!(["--json", "-w", "/srv", "connect", "github"]), true),
            ("npx", json!(["-y", "trunkline@1.2.0", "connect", "github"]), true),
            ("uvx", json!(["trunkline==1.2.0", "connect", "github"]), true),
            ("/usr/bin/env", json!(["A=b", "trunkline", "connect", "github"]), true),
            ("sh", json!(["-c", "exec '/opt/trunkline' connect github"]), true),
            ("cmd", json!(["/c", "trunkline.cmd connect github"]), true),
            ("python3", json!(["-m", "trunkline", "connect", "github"]), true),
            ("search", json!(["--about", "trunkline connect"]), false),
            ("trunkline", json!(["demo"]), false),
            ("trunkline", json!(["-w", "connect", "demo"]), false),
            ("trunkline-relay", json!(["connect", "github"]), false),
            ("connect", json!(["trunkline"]), false),
            ("npx", json!(["-y", "@modelcontextprotocol/server-everything"]), false),
        ] {
            let value: Value = json!({ "command": command, "args": args });
            let read = ServerSpec::from_value("github", &value);
            assert_eq!(read.is_err(), is_refused, "{value}");
            if let Err(error) = read {
                assert_eq!(error.detail()["path"], "command");
                assert!(error.message().contains("leads back"), "{error}");
                assert!(error.hint().is_some());
            }
        }
    }
}
