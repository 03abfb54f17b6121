//! YAML, as far as it has one meaning.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag};

use super::node::{Content, DEPTH_READ_MAX, SyntaxFault, SyntaxMember, SyntaxNode, TOO_DEEP};
use super::number;
use crate::settings::position::{Lines, Place};

/// Reads a whole text. An empty one is an empty map, as it is for the products that write YAML.
pub(super) fn parse(text: &str) -> Result<SyntaxNode, SyntaxFault> {
    let mut reader = YamlReader {
        events: Parser::new_from_str(text),
        end: Lines::new(text).place(text.len()),
        anchors: HashMap::new(),
        nodes: 0,
        kept: 0,
    };
    let mut root = None;
    loop {
        let (event, place) = reader.next()?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            _ if root.is_some() => return Err(malformed(place, "a second document")),
            event => root = Some(reader.node(event, place, 0)?),
        }
    }
    match root {
        Some(SyntaxNode { place, content: Content::Null }) => {
            Ok(SyntaxNode::new(place, Content::Map(Vec::new())))
        }
        Some(root) => Ok(root),
        None => Ok(SyntaxNode::new(Place::START, Content::Map(Vec::new()))),
    }
}

/// Nodes in all, copies for aliases included: a few bytes of aliases can stand for more than any
/// memory holds. A long text weighs as much as several nodes.
const NODES_MAX: usize = 1 << 20;

/// Bytes of a text that weigh as much as one node, which is about what a node without a text takes.
const NODE_BYTES: usize = 64;

struct YamlReader<'a> {
    events: Parser<'a, StrInput<'a>>,
    /// Of the text: the parser has what is not there stand beyond it.
    end: Place,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    /// Nodes of all anchors.
    kept: usize,
}

/// What an anchor names.
struct Anchored {
    node: SyntaxNode,
    /// What it weighs in nodes.
    nodes: usize,
    /// How deep it is itself.
    height: usize,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Place), SyntaxFault> {
        match self.events.next_event() {
            Some(Ok((event, span))) => Ok((event, self.place(&span.start))),
            Some(Err(error)) => Err(malformed(self.place(error.marker()), error.info())),
            None => Ok((Event::StreamEnd, Place::START)),
        }
    }

    fn place(&self, mark: &Marker) -> Place {
        let place = Place::new(mark.line().max(1), mark.col() + 1);
        if place.line > self.end.line { self.end } else { place }
    }

    fn node(
        &mut self,
        event: Event<'a>,
        place: Place,
        depth: usize,
    ) -> Result<SyntaxNode, SyntaxFault> {
        if depth > DEPTH_READ_MAX {
            return Err(malformed(place, TOO_DEEP));
        }
        let before = self.nodes;
        self.nodes = bounded(self.nodes + weight(&event), place)?;
        let (anchor, content) = match event {
            Event::Alias(anchor) => return self.alias(anchor, place, depth),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, scalar(&text, style, tag.as_deref()))
            }
            Event::SequenceStart(anchor, tag) => {
                (anchor, of_core(self.items(depth)?, tag.as_deref()))
            }
            Event::MappingStart(anchor, tag) => {
                (anchor, of_core(self.members(depth)?, tag.as_deref()))
            }
            _ => return Err(malformed(place, "a value is missing")),
        };
        let node = SyntaxNode::new(place, content);
        if anchor != 0 {
            let nodes = self.nodes - before;
            self.kept = bounded(self.kept + nodes, place)?;
            let height = node.height();
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes, height });
        }
        Ok(node)
    }

    fn items(&mut self, depth: usize) -> Result<Content, SyntaxFault> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Content::List(items)),
                (event, place) => items.push(self.node(event, place, depth + 1)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Content, SyntaxFault> {
        let mut members = Vec::new();
        loop {
            let (event, place) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(Content::Map(members)),
                Event::Scalar(name, ..) => name.into_owned(),
                _ => return Err(malformed(place, "a name that is not a plain text")),
            };
            self.nodes = bounded(self.nodes + name.len() / NODE_BYTES, place)?;
            let (event, value_place) = self.next()?;
            let mut node = self.node(event, value_place, depth + 1)?;
            if name == "<<" {
                node.content = Content::Flawed("is a merge key, which is not read");
            }
            members.push(SyntaxMember { name, place, node });
        }
    }

    /// A copy of what the anchor names, at the alias's own place. It lies as deep as the alias
    /// does, and all that it holds below that.
    fn alias(
        &mut self,
        anchor: usize,
        place: Place,
        depth: usize,
    ) -> Result<SyntaxNode, SyntaxFault> {
        let Some(Anchored { node, nodes, height }) = self.anchors.get(&anchor) else {
            return Err(malformed(place, "an alias of what holds it"));
        };
        if depth + height > DEPTH_READ_MAX {
            return Err(malformed(place, TOO_DEEP));
        }
        self.nodes = bounded(self.nodes + nodes, place)?;
        Ok(SyntaxNode::new(place, node.content.clone()))
    }
}

fn weight(event: &Event<'_>) -> usize {
    match event {
        Event::Scalar(text, ..) => 1 + text.len() / NODE_BYTES,
        _ => 1,
    }
}

fn bounded(nodes: usize, place: Place) -> Result<usize, SyntaxFault> {
    match nodes <= NODES_MAX {
        true => Ok(nodes),
        false => Err(malformed(place, "more than a million values, or as much in long texts")),
    }
}

fn malformed(place: Place, message: &str) -> SyntaxFault {
    SyntaxFault { place, message: message.to_owned() }
}

/// What is said of a tag that an application would have to know.
const FOREIGN_TAG: &str = "has a tag that is not read";

fn of_core(content: Content, tag: Option<&Tag>) -> Content {
    if tag.is_none_or(Tag::is_yaml_core_schema) { content } else { Content::Flawed(FOREIGN_TAG) }
}

/// A scalar by the core schema of YAML 1.2: `yes` and `on` are texts.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Content {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema() => return Content::Flawed(FOREIGN_TAG),
        Some(tag) if tag.suffix == "str" => return Content::Text(text.to_owned()),
        Some(_) | None => {}
    }
    if style != ScalarStyle::Plain {
        return Content::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Bool(true),
        "false" | "False" | "FALSE" => Content::Bool(false),
        text => plain_number(text).unwrap_or_else(|| Content::Text(text.to_owned())),
    }
}

fn plain_number(text: &str) -> Option<Content> {
    if let Some(digits) =
        text.strip_prefix("0x").filter(|digits| all(digits, |b| b.is_ascii_hexdigit()))
    {
        return Some(number::whole(digits, 16, text));
    }
    if let Some(digits) =
        text.strip_prefix("0o").filter(|digits| all(digits, |b| (b'0'..b'8').contains(b)))
    {
        return Some(number::whole(digits, 8, text));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_infinite =
        matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    if is_infinite {
        return Some(number::decimal("inf"));
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let digits = mantissa.replacen('.', "", 1);
    let is_number = all(&digits, u8::is_ascii_digit) && all(exponent, u8::is_ascii_digit);
    is_number.then(|| number::decimal(text))
}

fn all(text: &str, is_part: impl Fn(&u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(|byte| is_part(&byte))
}
