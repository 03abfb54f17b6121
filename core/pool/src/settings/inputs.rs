//! The inputs that a file declares, to be asked from the host.

use super::notes::{Finding, FindingKind};
use super::source::{Input, InputKind, Secrecy};
use super::syntax::{Content, Flaw, SyntaxNode};

/// The most inputs of one file; what follows is left out.
const INPUTS_MAX: usize = 1_000;

/// Reads `inputs`. One that cannot be read is left out and told: a server that names it finds it
/// undefined. To have `inputs` twice spoils the file.
pub(super) fn read(
    root: &SyntaxNode,
    inputs: &mut Vec<Input>,
    findings: &mut Vec<Finding>,
) -> Result<(), Flaw> {
    let Some(member) = root.sole("inputs")? else { return Ok(()) };
    let mut unreadable = |path: String, place| {
        findings.push(Finding { server: None, path, place, kind: FindingKind::Unreadable });
    };
    let Some(items) = member.node.items() else {
        unreadable("inputs".into(), member.place);
        return Ok(());
    };
    for (index, item) in items.iter().enumerate() {
        if inputs.len() == INPUTS_MAX {
            unreadable(format!("inputs[{index}]"), item.place);
            return Ok(());
        }
        let is_new = |input: &Input| inputs.iter().all(|known| known.id != input.id);
        match input(item).filter(is_new) {
            Some(input) => inputs.push(input),
            None => unreadable(format!("inputs[{index}]"), item.place),
        }
    }
    Ok(())
}

fn input(node: &SyntaxNode) -> Option<Input> {
    // As deep as it lies in the file.
    if node.flaw(2).is_some() {
        return None;
    }
    let text = |name| node.get(name).and_then(SyntaxNode::text).map(str::to_owned);
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
fn choices(node: &SyntaxNode) -> Option<Vec<String>> {
    let texts = node.items()?.iter().map(|item| item.get("value").unwrap_or(item).text());
    texts.map(|text| text.map(str::to_owned)).collect()
}
