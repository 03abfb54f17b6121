//! Which servers a file lets in, by the members that products have for it.

use super::format::Format;
use super::notes::{Approval, Approved};
use super::source::Lists;
use super::syntax::{Content, Flaw, SyntaxNode};
use crate::json::joined;

/// Reads the lists that stand in an object of the file. What cannot be read as a list spoils the
/// file: a gate that is misread must not stand open.
pub(super) fn read(
    format: Format,
    node: &SyntaxNode,
    lists: &mut Lists,
    approvals: &mut Vec<Approval>,
) -> Result<(), Flaw> {
    match format {
        Format::Gemini | Format::Qwen => {
            if let Some(allowed) = names(node, &["mcp", "allowed"])? {
                lists.allowed = Some(allowed);
            }
            lists.excluded.extend(names(node, &["mcp", "excluded"])?.unwrap_or_default());
        }
        Format::ClaudeCode => {
            lists.excluded.extend(names(node, &["disabledMcpjsonServers"])?.unwrap_or_default());
            claims(node, approvals)?;
        }
        _ => {}
    }
    Ok(())
}

/// Servers of its user that Claude Code was told to leave out in a project.
pub(super) fn switched_off(project: &SyntaxNode) -> Result<Vec<String>, Flaw> {
    Ok(names(project, &["disabledMcpServers"])?.unwrap_or_default())
}

/// Servers that Claude Code was told to approve. The record of this library alone counts.
fn claims(node: &SyntaxNode, approvals: &mut Vec<Approval>) -> Result<(), Flaw> {
    let mut claim = |name: &str, what| {
        if let Some(member) = node.member(name) {
            let path = name.to_owned();
            approvals.push(Approval { server: None, path, place: member.place, what });
        }
    };
    if let Some(names) = names(node, &["enabledMcpjsonServers"])?.filter(|names| !names.is_empty())
    {
        claim("enabledMcpjsonServers", Approved::Names(names));
    }
    let all = node.get("enableAllProjectMcpServers");
    if all.is_some_and(|all| matches!(all.content, Content::Bool(true))) {
        claim("enableAllProjectMcpServers", Approved::Everything);
    }
    Ok(())
}

/// The array of strings at the end of a way, if it is there. Null is absent.
fn names(node: &SyntaxNode, way: &[&str]) -> Result<Option<Vec<String>>, Flaw> {
    let (mut node, mut path) = (node, String::new());
    for (index, step) in way.iter().enumerate() {
        let member = node.sole(step).map_err(|flaw| flaw.below(&path))?;
        path = joined(&path, step);
        match member {
            Some(member) if !member.node.is_null() => node = &member.node,
            Some(_) | None => return Ok(None),
        }
        if index + 1 < way.len() && node.members().is_none() {
            return Err(Flaw { path, place: node.place, sentence: "must be an object".into() });
        }
    }
    let texts = node.items().map(|items| {
        items.iter().map(|item| item.text().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    match texts.flatten() {
        Some(names) => Ok(Some(names)),
        None => {
            let sentence = "must be an array of strings".into();
            Err(Flaw { path, place: node.place, sentence })
        }
    }
}
