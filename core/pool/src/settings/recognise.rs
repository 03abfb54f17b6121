//! Whose file it is, by what is in it.
//!
//! The place of a file counts first, its content second, its name last. A field that two products
//! write is a mark of neither.

use super::format::{FORMATS, Format};
use super::syntax::{Syntax, SyntaxNode};

/// The format of a file whose name says nothing.
///
/// A container that one product alone has settles it; a `mcpServers` map is told by fields that
/// only one product writes.
pub(super) fn recognised(root: &SyntaxNode, syntax: Syntax) -> Format {
    let map = |name: &str| root.get(name).filter(|node| node.members().is_some());
    if map("mcp_servers").is_some() {
        return Format::Codex;
    }
    if map("context_servers").is_some() {
        return Format::Zed;
    }
    if root.get("mcpServers").is_some_and(|node| node.items().is_some()) {
        return if syntax == Syntax::Yaml { Format::Continue } else { Format::McpProxy };
    }
    if let Some(servers) = map("mcpServers") {
        return by_marks(root, servers);
    }
    if let Some(servers) = map("servers")
        && entries(servers).all(|entry| entry.members().is_some())
    {
        return Format::VsCode;
    }
    let is_goose =
        |entry: &SyntaxNode| ["cmd", "uri", "type"].iter().any(|name| entry.get(name).is_some());
    if map("extensions").is_some_and(|extensions| entries(extensions).any(is_goose)) {
        return Format::Goose;
    }
    let is_opencode = |entry: &SyntaxNode| {
        let kind = entry.get("type").and_then(SyntaxNode::text);
        matches!(kind, Some("local" | "remote"))
            || entry.get("command").is_some_and(|node| node.items().is_some())
    };
    if map("mcp").is_some_and(|mcp| mcp.get("servers").is_some() || entries(mcp).any(is_opencode)) {
        return Format::Opencode;
    }
    by_marks(root, root)
}

fn entries(servers: &SyntaxNode) -> impl Iterator<Item = &SyntaxNode> {
    servers.members().unwrap_or_default().iter().map(|member| &member.node)
}

/// The first product of the table that has a mark on some entry, or a member in the outermost
/// object.
fn by_marks(root: &SyntaxNode, servers: &SyntaxNode) -> Format {
    let is_marked = |format: &Format| {
        let row = format.row();
        let is_in_root = row.root.iter().any(|name| root.get(name).is_some());
        let is_mark = |entry: &SyntaxNode| row.marks.iter().any(|name| entry.get(name).is_some());
        let is_nested = |entry: &SyntaxNode| {
            *format == Format::Cline
                && entry.get("transport").is_some_and(|node| node.members().is_some())
        };
        is_in_root || entries(servers).any(|entry| is_mark(entry) || is_nested(entry))
    };
    FORMATS.iter().copied().find(is_marked).unwrap_or(Format::Trunkline)
}
