//! What becomes of the answer to one method, in place of the answer.

use std::time::Duration;

use serde_json::{Value, json};

use crate::family;
use crate::frames::Wire;

/// A trouble, the method whose answer it spoils, and the first of its requests that it spoils.
#[derive(Clone, Debug, PartialEq)]
pub struct At {
    pub method: String,
    pub trouble: Trouble,
    pub from: u32,
}

/// What comes in place of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// The end of the process, with a status of its own.
    Die,
    /// Nothing; other requests are answered.
    Hang,
    /// Nothing, and nothing is read any more.
    Deaf,
    /// The end of standard output, and not of the process.
    Shut,
    /// The first half of the answer, and nothing any more.
    Half,
    /// The first half of the answer, and the end of the process.
    Cut,
    /// Words that are no message, and then the answer.
    Noise,
    /// An object with its id that cannot be read.
    Unreadable,
    /// An object without an id that cannot be read.
    Nameless,
    /// An error of the protocol.
    Error,
    /// An error that is none.
    BadError,
    /// The answer for an id that nobody asked with.
    WrongId,
    /// The answer for no id.
    NullId,
    /// The answer for its id, written as a text.
    TextId,
    /// The answer, two times.
    Twice,
    /// Neither a result nor an error.
    Nothing,
    /// A result and an error.
    Both,
    /// The answer as the one element of an array.
    Batch,
    /// The answer, byte by byte.
    Slow,
    /// A line longer than any limit.
    Endless,
    /// The answer, with a member that is nested too deeply for anybody.
    Deep,
    /// Answers that nobody waits for, and then the answer.
    Storm,
    /// Notifications, and then the answer.
    Flood,
    /// Requests of the server's own, and then the answer.
    Asks,
    /// This text as the result.
    Result(String),
}

const TROUBLES: [(&str, Trouble); 24] = [
    ("die", Trouble::Die),
    ("hang", Trouble::Hang),
    ("deaf", Trouble::Deaf),
    ("shut", Trouble::Shut),
    ("half", Trouble::Half),
    ("cut", Trouble::Cut),
    ("noise", Trouble::Noise),
    ("unreadable", Trouble::Unreadable),
    ("nameless", Trouble::Nameless),
    ("error", Trouble::Error),
    ("bad-error", Trouble::BadError),
    ("wrong-id", Trouble::WrongId),
    ("null-id", Trouble::NullId),
    ("text-id", Trouble::TextId),
    ("twice", Trouble::Twice),
    ("nothing", Trouble::Nothing),
    ("both", Trouble::Both),
    ("batch", Trouble::Batch),
    ("slow", Trouble::Slow),
    ("endless", Trouble::Endless),
    ("deep", Trouble::Deep),
    ("storm", Trouble::Storm),
    ("flood", Trouble::Flood),
    ("asks", Trouble::Asks),
];

impl At {
    /// Reads `METHOD=TROUBLE`, `METHOD=JSON`, and either with `@N` behind the method.
    pub fn named(text: &str) -> Option<At> {
        let (place, trouble) = text.split_once('=')?;
        let (method, from) = place.split_once('@').unwrap_or((place, "1"));
        let known = TROUBLES.iter().find(|(name, _)| *name == trouble);
        let trouble = match known {
            Some((_, trouble)) => trouble.clone(),
            // No name of a trouble: values begin so, and `null`.
            None if trouble == "null" || !trouble.starts_with(char::is_alphabetic) => {
                Trouble::Result(trouble.to_owned())
            }
            None => return None,
        };
        Some(At { method: method.to_owned(), trouble, from: from.parse().ok()? })
    }

    /// What is spoiled by the rows that hold in that era.
    #[cfg(test)]
    pub fn of_era(rows: &[Value], is_modern: bool) -> Vec<At> {
        let holds = |row: &&Value| row["eras"] == "both" || (row["modern"] == true) == is_modern;
        let at = |row: &Value| At::named(row["at"].as_str().unwrap()).unwrap();
        rows.iter().filter(holds).map(at).collect()
    }
}

impl Trouble {
    pub fn names() -> Vec<&'static str> {
        TROUBLES.iter().map(|(name, _)| *name).collect()
    }

    /// Does to the answer what is to be done.
    pub fn spoil(&self, id: &Value, result: &Value, wire: &mut Wire) {
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let text = answer.to_string();
        match self {
            Trouble::Die => {
                eprintln!("dying as told");
                std::process::exit(3);
            }
            Trouble::Hang => {}
            Trouble::Deaf => family::wait_for_a_signal(),
            Trouble::Shut => family::shut_output(),
            Trouble::Half => {
                wire.write(&text.as_bytes()[..text.len() / 2]);
                wire.fall_silent();
            }
            Trouble::Cut => {
                wire.write(&text.as_bytes()[..text.len() / 2]);
                std::process::exit(3);
            }
            Trouble::Unreadable => {
                wire.line(
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":nope}}}}"#).as_bytes(),
                );
            }
            Trouble::Nameless => wire.line(br#"{"jsonrpc":"2.0",nope}"#),
            Trouble::Slow => text.bytes().chain(*b"\n").for_each(|byte| {
                wire.write(&[byte]);
                std::thread::sleep(BETWEEN_BYTES);
            }),
            Trouble::Endless => loop {
                wire.write(&[b'{'; CHUNK_BYTES]);
            },
            Trouble::Deep => {
                let deep = ["[".repeat(DEPTH), "]".repeat(DEPTH)].concat();
                let rest = text.strip_suffix("}}").unwrap_or(&text);
                wire.line(format!(r#"{rest},"deep":{deep}}}}}"#).as_bytes());
            }
            Trouble::Noise | Trouble::Storm | Trouble::Flood | Trouble::Asks => {
                (0..MANY).for_each(|number| self.before(number, wire));
                wire.send(&answer);
            }
            Trouble::Twice => (0..2).for_each(|_| wire.send(&answer)),
            Trouble::Batch => wire.send(&json!([answer])),
            Trouble::Result(result) => {
                wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes());
            }
            _ => wire.send(&self.instead(id, result)),
        }
    }

    /// The message in place of the answer, of those that are one.
    fn instead(&self, id: &Value, result: &Value) -> Value {
        let error = json!({ "code": -32000, "message": "as told" });
        match self {
            Trouble::Error => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            Trouble::BadError => json!({ "jsonrpc": "2.0", "id": id, "error": "no" }),
            Trouble::WrongId => json!({ "jsonrpc": "2.0", "id": 987_654_321, "result": result }),
            Trouble::NullId => json!({ "jsonrpc": "2.0", "id": null, "result": result }),
            Trouble::TextId => json!({ "jsonrpc": "2.0", "id": id.to_string(), "result": result }),
            Trouble::Both => {
                json!({ "jsonrpc": "2.0", "id": id, "result": result, "error": error })
            }
            _ => json!({ "jsonrpc": "2.0", "id": id }),
        }
    }

    /// One of the many messages before the answer.
    fn before(&self, number: u64, wire: &mut Wire) {
        let id = format!("none-{number}");
        match (self, number % 2) {
            (Trouble::Noise, 0) => wire.line(b"one moment please"),
            (Trouble::Noise, _) => wire.line(b"[1, \xff"),
            (Trouble::Storm, 0) => wire.text(&json!(id), "nobody's"),
            (Trouble::Storm, _) => wire.text(&json!(1_000_000 + number), "nobody's"),
            (Trouble::Flood, 0) => {
                let params = json!({ "progressToken": id, "progress": number });
                wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
            }
            (Trouble::Flood, _) => {
                wire.send(
                    &json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
                );
            }
            (_, 0) => wire.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })),
            (_, _) => wire.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "sing/along" })),
        }
    }
}

/// How many messages come before an answer: what they and the answers to them are written in is
/// more than a pipe holds.
const MANY: u64 = 2_000;

const CHUNK_BYTES: usize = 16 << 10;

/// How deep the deep answer is nested.
const DEPTH: usize = 200_000;

const BETWEEN_BYTES: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::{At, Trouble};
    use serde_json::Value;

    /// Where a connection and its calls can be spoiled, and whether the era has that.
    const PLACES: [(&str, bool); 7] = [
        ("server/discover", false),
        ("initialize", false),
        ("tools/list", false),
        ("tools/call", false),
        ("server/discover", true),
        ("tools/list", true),
        ("tools/call", true),
    ];

    #[test]
    fn every_trouble_has_its_outcomes_written_down() {
        let written: Value = serde_json::from_str(include_str!("behaviours.json")).unwrap();
        let rows = written["answers"].as_array().unwrap();
        for (method, is_modern) in PLACES {
            let there = At::of_era(rows, is_modern);
            for name in Trouble::names() {
                let trouble = At::named(&format!("x={name}")).unwrap().trouble;
                let is_there = |it: &At| it.method == method && it.trouble == trouble;
                assert!(there.iter().any(is_there), "{name} at {method}, modern: {is_modern}");
            }
        }
    }

    #[test]
    fn a_result_stands_for_itself() {
        let at = At::named(r#"tools/list@2={"tools":[]}"#).unwrap();
        assert_eq!((at.from, at.trouble), (2, Trouble::Result(r#"{"tools":[]}"#.to_owned())));
        assert_eq!(At::named("tools/list=nope"), None);
    }
}
