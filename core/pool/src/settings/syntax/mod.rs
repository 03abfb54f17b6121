//! Settings files as trees whose every part knows its place, whatever their syntax.

mod json;
mod number;
mod toml;
mod yaml;

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::place::Place;
use crate::json::{DEPTH_MAX, Step, dotted, joined};

/// The syntaxes of settings files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Syntax {
    /// JSON, with comments, trailing commas and what else JSON5 allows.
    Json,
    /// TOML.
    Toml,
    /// YAML, as far as it has one meaning: no merge keys, no tags of applications, one document.
    Yaml,
}

impl Syntax {
    /// The syntax that the end of a file's name says.
    pub(super) fn of_file(file: &str) -> Option<Syntax> {
        match file.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" | "jsonc" | "json5" => Some(Syntax::Json),
            "toml" => Some(Syntax::Toml),
            "yaml" | "yml" => Some(Syntax::Yaml),
            _ => None,
        }
    }

    pub(super) fn parse(self, text: &str) -> Result<Node, Malformed> {
        match self {
            Syntax::Json => json::parse(text),
            Syntax::Toml => toml::parse(text),
            Syntax::Yaml => yaml::parse(text),
        }
    }

    /// The word for a sentence.
    pub(super) fn name(self) -> &'static str {
        match self {
            Syntax::Json => "JSON",
            Syntax::Toml => "TOML",
            Syntax::Yaml => "YAML",
        }
    }
}

/// Why a text has no tree.
pub(super) struct Malformed {
    pub place: Place,
    pub message: String,
}

/// A value and its place.
#[derive(Clone)]
pub(super) struct Node {
    pub place: Place,
    pub content: Content,
}

/// What a value is.
#[derive(Clone)]
pub(super) enum Content {
    Null,
    Bool(bool),
    /// A number, and how it is written.
    Number(Number, Box<str>),
    Text(String),
    List(Vec<Node>),
    /// The members in the order of the text, those of one name too.
    Map(Vec<Member>),
    /// A value that must not be used; the rest of a sentence that begins with its path.
    Flawed(&'static str),
}

/// A member of an object.
#[derive(Clone)]
pub(super) struct Member {
    pub name: String,
    pub place: Place,
    pub node: Node,
}

/// What spoils whatever holds it (S-15).
pub(super) struct Flaw {
    pub path: String,
    pub place: Place,
    /// The rest of a sentence that begins with the path.
    pub sentence: &'static str,
}

/// What is said of a member that is there twice.
pub(super) const TWICE: &str = "is there twice";

impl Node {
    pub(super) fn new(place: Place, content: Content) -> Node {
        Node { place, content }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.content {
            Content::Map(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    /// The member of that name; the first, should there be two.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members()?.iter().find(|member| member.name == name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.member(name).map(|member| &member.node)
    }

    /// The plain value. What is flawed is null; whoever asks has looked for [`flaw`](Node::flaw).
    pub(super) fn value(&self) -> Value {
        match &self.content {
            Content::Null | Content::Flawed(_) => Value::Null,
            Content::Bool(value) => (*value).into(),
            Content::Number(number, _) => Value::Number(number.clone()),
            Content::Text(text) => text.as_str().into(),
            Content::List(items) => items.iter().map(Node::value).collect(),
            Content::Map(members) => {
                let mut out = Map::new();
                for member in members {
                    // `entry` keeps the first of two.
                    out.entry(&member.name).or_insert_with(|| member.node.value());
                }
                Value::Object(out)
            }
        }
    }

    /// The same tree without its values, for places alone.
    pub(super) fn outline(&self) -> Node {
        let content = match &self.content {
            Content::List(items) => Content::List(items.iter().map(Node::outline).collect()),
            Content::Map(members) => {
                let members = members.iter().map(|member| Member {
                    name: member.name.clone(),
                    place: member.place,
                    node: member.node.outline(),
                });
                Content::Map(members.collect())
            }
            Content::Null
            | Content::Bool(_)
            | Content::Number(..)
            | Content::Text(_)
            | Content::Flawed(_) => Content::Null,
        };
        Node::new(self.place, content)
    }

    /// The first part that two readers could understand differently. `depth` is how deep this node lies itself.
    pub(super) fn flaw(&self, depth: usize) -> Option<Flaw> {
        self.flaw_below(&mut Vec::new(), depth)
    }

    fn flaw_below(&self, path: &mut Vec<Step>, depth: usize) -> Option<Flaw> {
        let flaw = |path: &[Step], place, sentence| Flaw { path: dotted(path), place, sentence };
        match &self.content {
            Content::Flawed(sentence) => Some(flaw(path, self.place, sentence)),
            Content::List(_) | Content::Map(_) if depth >= DEPTH_MAX => {
                Some(flaw(path, self.place, "is nested too deep"))
            }
            Content::List(items) => items.iter().enumerate().find_map(|(index, item)| {
                path.push(Step::Index(index));
                let found = item.flaw_below(path, depth + 1);
                path.pop();
                found
            }),
            Content::Map(members) => {
                let mut names = HashSet::new();
                members.iter().find_map(|member| {
                    path.push(Step::Member(member.name.clone()));
                    let found = if names.insert(member.name.as_str()) {
                        member.node.flaw_below(path, depth + 1)
                    } else {
                        Some(flaw(path, member.place, TWICE))
                    };
                    path.pop();
                    found
                })
            }
            Content::Null | Content::Bool(_) | Content::Number(..) | Content::Text(_) => None,
        }
    }

    /// The place of the part with that path, or of the nearest part around it that is there.
    pub(super) fn find(&self, path: &str) -> Option<Place> {
        let mut best = None;
        self.find_below(path, "", &mut best);
        best
    }

    fn find_below(&self, wanted: &str, path: &str, best: &mut Option<Place>) {
        match &self.content {
            Content::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    if leads_to(&path, wanted) {
                        *best = Some(item.place);
                        return item.find_below(wanted, &path, best);
                    }
                }
            }
            Content::Map(members) => {
                for member in members {
                    let path = joined(path, &member.name);
                    if leads_to(&path, wanted) {
                        *best = Some(member.place);
                        return member.node.find_below(wanted, &path, best);
                    }
                }
            }
            Content::Null
            | Content::Bool(_)
            | Content::Number(..)
            | Content::Text(_)
            | Content::Flawed(_) => {}
        }
    }
}

/// Whether `path` is `wanted` or a way to it.
pub(super) fn leads_to(path: &str, wanted: &str) -> bool {
    wanted.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
