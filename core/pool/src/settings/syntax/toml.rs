//! TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Content, Malformed, Member, Node, number};
use crate::settings::place::{Lines, Place};

/// Reads a whole text. Nesting is bounded by the parser; a key that is there twice is no TOML.
pub(super) fn parse(text: &str) -> Result<Node, Malformed> {
    let lines = Lines::new(text);
    match DeTable::parse(text) {
        Ok(table) => Ok(Node::new(Place::START, Reader { lines }.table(table.get_ref()))),
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            Err(Malformed { place: lines.place(offset), message: error.message().to_owned() })
        }
    }
}

struct Reader<'a> {
    lines: Lines<'a>,
}

impl Reader<'_> {
    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
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
        Node::new(self.lines.place(value.span().start), content)
    }

    /// The members in the order of the text, which the table has lost.
    fn table(&self, table: &DeTable<'_>) -> Content {
        let mut members: Vec<Member> = table
            .iter()
            .map(|(name, value)| Member {
                name: name.get_ref().to_string(),
                place: self.lines.place(name.span().start),
                node: self.node(value),
            })
            .collect();
        members.sort_by_key(|member| member.place);
        Content::Map(members)
    }
}
