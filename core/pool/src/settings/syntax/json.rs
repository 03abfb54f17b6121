//! JSON as people write it: with comments, trailing commas and the other freedoms of JSON5.

use jsonc_parser::ast::{ObjectProp, ObjectPropName, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::escapes::{self, Escape};
use super::node::{
    BACKSLASH, BACKSLASH_IN_NAME, Content, HALF, SyntaxFault, SyntaxMember, SyntaxNode,
};
use super::number;
use crate::settings::position::{Lines, Place};

/// Reads a whole text. Nesting is bounded by the parser, long before the stack is.
pub(super) fn parse(text: &str) -> Result<SyntaxNode, SyntaxFault> {
    let options = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    let lines = Lines::new(text);
    let (text, escapes) = escapes::mended(text);
    let parsed = parse_to_ast(&text, &CollectOptions::default(), &options).map_err(|error| {
        SyntaxFault { place: lines.place(error.range().start), message: reason(&error) }
    })?;
    match parsed.value {
        Some(value) => Ok(JsonReader { text: &text, lines, escapes }.node(&value)),
        None => Err(SyntaxFault { place: Place::START, message: "the file is empty".into() }),
    }
}

/// The parser's own words hold no part of the text, but for what it says of strings.
fn reason(error: &ParseError) -> String {
    if let ParseErrorKind::String(_) = error.kind() {
        return "a string that cannot be read".into();
    }
    let words = error.kind().to_string();
    let mut characters = words.chars();
    characters
        .next()
        .map(|first| first.to_lowercase().collect::<String>() + characters.as_str())
        .unwrap_or_default()
}

struct JsonReader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    /// The backslashes that were wrong, in ascending order.
    escapes: Vec<(usize, Escape)>,
}

impl JsonReader<'_> {
    fn node(&self, value: &Value<'_>) -> SyntaxNode {
        let (start, content) = match value {
            Value::StringLit(text) => self.string(text.range, &text.value),
            Value::NumberLit(written) => (written.range.start, number::loose(written.value)),
            Value::BooleanLit(value) => (value.range.start, Content::Bool(value.value)),
            Value::NullKeyword(value) => (value.range.start, Content::Null),
            Value::Array(array) => {
                let items = array.elements.iter().map(|item| self.node(item));
                (array.range.start, Content::List(items.collect()))
            }
            Value::Object(object) => {
                let members = object.properties.iter().map(|property| self.member(property));
                (object.range.start, Content::Map(members.collect()))
            }
        };
        SyntaxNode::new(self.lines.place(start), content)
    }

    fn member(&self, property: &ObjectProp<'_>) -> SyntaxMember {
        let (name, start) = match &property.name {
            ObjectPropName::String(name) => (name.value.to_string(), name.range.start),
            ObjectPropName::Word(name) => (name.value.to_owned(), name.range.start),
        };
        let mut node = self.node(&property.value);
        if self.holds_controls(property.name.range()) {
            node.content = Content::Flawed("has a name with a control character");
        }
        if let Some((place, _)) = self.wrong_escape(property.name.range()) {
            node = SyntaxNode::new(self.lines.place(place), Content::Flawed(BACKSLASH_IN_NAME));
        }
        SyntaxMember { name, place: self.lines.place(start), node }
    }

    /// What a string is, and where it or what is wrong in it begins.
    fn string(&self, range: Range, value: &str) -> (usize, Content) {
        if let Some((offset, escape)) = self.wrong_escape(range) {
            let sentence = match escape {
                Escape::Unknown => BACKSLASH,
                Escape::Half => HALF,
            };
            return (offset, Content::Flawed(sentence));
        }
        let content = match self.holds_controls(range) {
            true => Content::Flawed("holds a control character"),
            false => Content::Text(value.to_owned()),
        };
        (range.start, content)
    }

    /// The first backslash in a part of the text that has no meaning.
    fn wrong_escape(&self, range: Range) -> Option<(usize, Escape)> {
        let first = self.escapes.partition_point(|(offset, _)| *offset < range.start);
        self.escapes.get(first).copied().filter(|(offset, _)| *offset < range.end)
    }

    /// The parser lets control characters stand in strings as they are; no other reader of these
    /// files does. The one behind the letters is none to JSON.
    fn holds_controls(&self, range: Range) -> bool {
        let written = self.text.get(range.start..range.end).unwrap_or_default();
        // Nearly no text has any, and that is soon seen.
        if !written.bytes().any(|byte| byte < b' ' && byte != b'\t') {
            return false;
        }
        let mut escaped = false;
        written.chars().any(|character| {
            let is_continuation = escaped && matches!(character, '\n' | '\r');
            escaped = match character {
                '\\' => !escaped,
                // A continued line may end with both.
                '\r' => escaped,
                _ => false,
            };
            character < ' ' && character != '\t' && !is_continuation
        })
    }
}
