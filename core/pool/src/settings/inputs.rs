//! The inputs that a file declares, to be asked from the host.

use super::notes::{Finding, FindingKind};
use super::source::{Input, InputKind, Secrecy};
use super::syntax::{Content, Node};

/// The most inputs of one file; what follows is left out.
const INPUTS_MAX: usize = 1_000;

/// Reads `inputs`. One that cannot be read is left out and told: a server that names it finds it undefined.
pub(super) fn read(root: &Node, inputs: &mut Vec<Input>, findings: &mut Vec<Finding>) {
    let Some(member) = root.member("inputs") else { return };
    let mut unreadable = |path: String, place| {
        findings.push(Finding { server: None, path, place, kind: FindingKind::Unreadable });
    };
    let Some(items) = member.node.items() else {
        return unreadable("inputs".into(), member.place);
    };
    for (index, item) in items.iter().enumerate() {
        if inputs.len() == INPUTS_MAX {
            return unreadable(format!("inputs[{index}]"), item.place);
        }
        let is_new = |input: &Input| inputs.iter().all(|known| known.id != input.id);
        match input(item).filter(is_new) {
            Some(input) => inputs.push(input),
            None => unreadable(format!("inputs[{index}]"), item.place),
        }
    }
}

fn input(node: &Node) -> Option<Input> {
    // As deep as it lies in the file.
    if node.flaw(2).is_some() {
        return None;
    }
    let text = |name| node.get(name).and_then(Node::text).map(str::to_owned);
    let kind = match text("type")?.as_str() {
        "promptString" => InputKind::Text,
        "pickString" => InputKind::Choice(choices(node.get("options")?)?),
        "command" => InputKind::Command(text("command")?),
        _ => return None,
    };
    let is_secret =
        matches!(node.get("password").map(|node| &node.content), Some(Content::Bool(true)));
    Some(Input {
        id: text("id").filter(|id| !id.is_empty())?,
        place: node.place,
        kind,
        description: text("description"),
        default: text("default"),
        secrecy: if is_secret { Secrecy::Secret } else { Secrecy::Open },
    })
}

/// Texts, or objects with a `value`.
fn choices(node: &Node) -> Option<Vec<String>> {
    let texts = node.items()?.iter().map(|item| item.get("value").unwrap_or(item).text());
    texts.map(|text| text.map(str::to_owned)).collect()
}
