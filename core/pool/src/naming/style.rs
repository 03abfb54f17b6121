//! The styles of exposed names.

use super::made::PREFIX;

/// How exposed names are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// `mcp__<server>__<tool>`.
    #[default]
    McpServerTool,
    /// `<server>__<tool>`.
    ServerTool,
    /// `<tool>`, where it is one server's alone in its session; else as
    /// [`ServerTool`](Self::ServerTool), with a hash.
    Bare,
}

impl NameStyle {
    /// All of them.
    pub const ALL: [NameStyle; 3] =
        [NameStyle::McpServerTool, NameStyle::ServerTool, NameStyle::Bare];

    /// The word in the option `name_style`.
    pub fn as_str(self) -> &'static str {
        match self {
            NameStyle::McpServerTool => "mcp__server__tool",
            NameStyle::ServerTool => "server__tool",
            NameStyle::Bare => "none",
        }
    }

    /// The style of that word.
    pub fn from_word(word: &str) -> Option<NameStyle> {
        NameStyle::ALL.into_iter().find(|style| style.as_str() == word)
    }

    pub(super) fn prefix(self) -> &'static str {
        match self {
            NameStyle::McpServerTool => PREFIX,
            NameStyle::ServerTool | NameStyle::Bare => "",
        }
    }
}
