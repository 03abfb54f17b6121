//! TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::node::{Content, DEPTH_READ_MAX, SyntaxFault, SyntaxMember, SyntaxNode, TOO_DEEP};
use super::number;
use crate::settings::position::{Lines, Place};

/// Reads a whole text. A key that is there twice is no TOML.
pub(super) fn parse(text: &str) -> Result<SyntaxNode, SyntaxFault> {
    let lines = Lines::new(text);
    if let Some(offset) = too_deep(text) {
        return Err(SyntaxFault { place: lines.place(offset), message: TOO_DEEP.into() });
    }
    match DeTable::parse(text) {
        Ok(table) => Ok(SyntaxNode::new(Place::START, TomlReader { lines }.table(table.get_ref()))),
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            Err(SyntaxFault { place: lines.place(offset), message: error.message().to_owned() })
        }
    }
}

/// A bracket that is open.
struct TomlBracket {
    /// What closes it.
    close: TokenKind,
    /// How deep it lies.
    depth: usize,
    /// Dots of the longest key in it so far.
    dots_max: usize,
}

/// Where a text gets too deep. The parser bounds the brackets and the names of each key, but not
/// both together. Its tree takes stack for each level as it is dropped, also within the parser. So
/// this is found before, from the same tokens, and holds of what is no TOML too: a bracket that
/// another kind follows stays open, and the longest key of a bracket counts for all that it holds.
/// So does the longest header for all that is in tables, twice: each of its names may be that of a
/// list.
fn too_deep(text: &str) -> Option<usize> {
    let mut open = vec![TomlBracket { close: TokenKind::Eof, depth: 0, dots_max: 0 }];
    let (mut dots, mut headers, mut is_header) = (0, 0, true);
    for token in Source::new(text).lex() {
        let is_inside = open.len() > 1;
        let around = open.last_mut()?;
        match token.kind() {
            TokenKind::Dot => {
                dots += 1;
                around.dots_max = around.dots_max.max(dots);
                if is_header && is_inside {
                    headers = headers.max(2 * (dots + 1));
                }
                if headers + around.depth + dots > DEPTH_READ_MAX {
                    return Some(token.span().start());
                }
            }
            TokenKind::Equals => (dots, is_header) = (0, false),
            TokenKind::Newline => (dots, is_header) = (0, true),
            TokenKind::Comma => dots = 0,
            kind @ (TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket) => {
                let depth = around.depth + around.dots_max + 1;
                if headers + depth > DEPTH_READ_MAX {
                    return Some(token.span().start());
                }
                let close = match kind {
                    TokenKind::LeftSquareBracket => TokenKind::RightSquareBracket,
                    _ => TokenKind::RightCurlyBracket,
                };
                open.push(TomlBracket { close, depth, dots_max: 0 });
            }
            kind if kind == around.close => drop(open.pop()),
            _ => {}
        }
    }
    None
}

struct TomlReader<'a> {
    lines: Lines<'a>,
}

impl TomlReader<'_> {
    fn node(&self, value: &Spanned<DeValue<'_>>) -> SyntaxNode {
        let content = match value.get_ref() {
            DeValue::String(text) => Content::Text(text.to_string()),
            DeValue::Integer(integer) => {
                let written = integer.to_string();
                number::whole(integer.as_str(), integer.radix(), &written)
            }
            DeValue::Float(float) => number::decimal(float.as_str()),
            DeValue::Boolean(value) => Content::Bool(*value),
            DeValue::Datetime(time) => Content::Text(time.to_string()),
            DeValue::Array(items) => {
                Content::List(items.iter().map(|item| self.node(item)).collect())
            }
            DeValue::Table(table) => self.table(table),
        };
        SyntaxNode::new(self.lines.place(value.span().start), content)
    }

    /// The members in the order of the text, which the table has lost.
    fn table(&self, table: &DeTable<'_>) -> Content {
        let mut members: Vec<SyntaxMember> = table
            .iter()
            .map(|(name, value)| SyntaxMember {
                name: name.get_ref().to_string(),
                place: self.lines.place(name.span().start),
                node: self.node(value),
            })
            .collect();
        members.sort_by_key(|member| member.place);
        Content::Map(members)
    }
}
