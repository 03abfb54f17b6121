//! What a server says of itself, in the status: for a person and a terminal to read (S-40, S-49).

use serde_json::{Map, Value};
use trunkline_pool::text::escaped;

use crate::client::Introduction;

/// Characters of a name or a version that are shown: more than any has, and nothing beside the rest
/// of a status.
const WORD_CHARACTERS_MAX: usize = 200;

/// Characters of instructions that are shown.
const INSTRUCTIONS_CHARACTERS_MAX: usize = 2000;

/// Values of an object of the server's that are shown in all, and how deep one may lie.
const VALUES_MAX: usize = 200;
const DEPTH_MAX: usize = 8;

/// What a server calls itself.
pub(crate) fn own_word(text: &str) -> String {
    shown(text, WORD_CHARACTERS_MAX)
}

/// What it said of itself.
#[derive(Default)]
pub(crate) struct IntroductionParts {
    /// Who it says that it is.
    pub server_info: Value,
    /// What it says that it offers.
    pub capabilities: Value,
    /// How it says that it is to be used.
    pub instructions: Option<String>,
}

impl IntroductionParts {
    pub(crate) fn of(said: &Introduction) -> IntroductionParts {
        let mut members = said.members();
        let mut object = |name: &str| match members.remove(name) {
            Some(Value::Object(members)) => bounded(members),
            _ => Value::Object(Map::new()),
        };
        let (server_info, capabilities) = (object("server_info"), object("capabilities"));
        let instructions = members.get("instructions").and_then(Value::as_str);
        let instructions = instructions.map(|text| shown(text, INSTRUCTIONS_CHARACTERS_MAX));
        IntroductionParts { server_info, capabilities, instructions }
    }
}

fn shown(text: &str, most: usize) -> String {
    let shown: String = text.chars().take(most).collect();
    let is_whole = shown.len() == text.len();
    escaped(&shown) + if is_whole { "" } else { "…" }
}

fn bounded(members: Map<String, Value>) -> Value {
    let mut left = VALUES_MAX;
    within(&members.into(), &mut left, 0).unwrap_or_default()
}

/// A value as it is shown; nothing of what is too much.
fn within(value: &Value, left: &mut usize, depth: usize) -> Option<Value> {
    *left = left.checked_sub(1).filter(|_| depth <= DEPTH_MAX)?;
    Some(match value {
        Value::String(text) => own_word(text).into(),
        Value::Array(items) => {
            items.iter().map_while(|item| within(item, left, depth + 1)).collect()
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                Some((own_word(name), within(value, left, depth + 1)?))
            };
            members.iter().map_while(member).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// S-40, S-49: what a server says of itself moves no cursor and fills no status.
    #[test]
    fn what_a_server_says_is_shown_escaped_and_bounded() {
        let said =
            json!({ "name": "a\u{1b}[2J", "n\u{7}": [1, { "x": "y".repeat(300) }], "z": true });
        let Value::Object(said) = said else { unreachable!() };
        let expected = json!({ "name": "a\\u{1b}[2J", "n\\u{7}": [1, { "x": "y".repeat(200) + "…" }], "z": true });
        assert_eq!(bounded(said), expected);
        let many = (0..1000).map(|number| (number.to_string(), number.into()));
        assert_eq!(bounded(many.collect()).as_object().map(Map::len), Some(VALUES_MAX - 1));
        let deep = (0..1000).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert!(bounded(json!({ "a": deep }).as_object().unwrap().clone()).to_string().len() < 100);
    }
}
