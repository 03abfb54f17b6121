//! The tree of a settings file: every part of it knows its place.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use crate::json::{DEPTH_MAX, PathStep, dotted, joined};
use crate::settings::position::{Place, Shift};

/// Deeper than this a text is not read at all: whatever follows a tree down takes stack for each
/// level, and YAML's parser takes time in the square of the depth.
pub(super) const DEPTH_READ_MAX: usize = 128;

/// What is said of a text that is deeper.
pub(super) const TOO_DEEP: &str = "nested too deep";

/// Why a text has no tree.
pub(in crate::settings) struct SyntaxFault {
    pub place: Place,
    pub message: String,
}

/// A value and its place.
#[derive(Clone)]
pub(in crate::settings) struct SyntaxNode {
    pub place: Place,
    pub content: Content,
}

/// What a value is.
#[derive(Clone)]
pub(in crate::settings) enum Content {
    Null,
    Bool(bool),
    /// A number, and how it is written.
    Number(Number, Box<str>),
    Text(String),
    List(Vec<SyntaxNode>),
    /// The members in the order of the text, those of one name too.
    Map(Vec<SyntaxMember>),
    /// A value that must not be used; the rest of a sentence that begins with its path.
    Flawed(&'static str),
}

/// A member of an object.
#[derive(Clone)]
pub(in crate::settings) struct SyntaxMember {
    pub name: String,
    pub place: Place,
    pub node: SyntaxNode,
}

/// What spoils whatever holds it (S-15).
pub(in crate::settings) struct Flaw {
    pub path: String,
    pub place: Place,
    /// The rest of a sentence that begins with the path.
    pub sentence: Cow<'static, str>,
}

impl Flaw {
    /// Whether it is about a character of a text, and stands at that.
    pub(in crate::settings) fn is_of_escape(&self) -> bool {
        OF_ESCAPES.contains(&&*self.sentence)
    }

    /// The same of the part with that path.
    pub(in crate::settings) fn below(self, path: &str) -> Flaw {
        let end = self.path;
        let is_plain = !path.is_empty() && !end.is_empty() && !end.starts_with('[');
        Flaw { path: format!("{path}{}{end}", if is_plain { "." } else { "" }), ..self }
    }
}

impl SyntaxMember {
    /// What is wrong with its being there.
    fn flaw(&self, sentence: Cow<'static, str>) -> Flaw {
        Flaw { path: joined("", &self.name), place: self.place, sentence }
    }
}

/// What is said of a string with a backslash that stands for nothing.
pub(super) const BACKSLASH: &str =
    "has a backslash that stands for nothing in JSON; double each backslash of a path";

/// The same of a member's name.
pub(super) const BACKSLASH_IN_NAME: &str =
    "has a name with a backslash that stands for nothing in JSON; double each backslash of a path";

/// What is said of a string with a `\\u` that is no whole character.
pub(super) const HALF: &str = "has half of a character, a `\\u` without its other half";

/// What is said of strings that cannot be taken as they are written.
const OF_ESCAPES: [&str; 3] = [BACKSLASH, BACKSLASH_IN_NAME, HALF];

/// What is said of a member that is there twice.
const TWICE: &str = "is there twice";

impl SyntaxNode {
    pub(in crate::settings) fn new(place: Place, content: Content) -> SyntaxNode {
        SyntaxNode { place, content }
    }

    pub(in crate::settings) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(in crate::settings) fn members(&self) -> Option<&[SyntaxMember]> {
        match &self.content {
            Content::Map(members) => Some(members),
            _ => None,
        }
    }

    pub(in crate::settings) fn items(&self) -> Option<&[SyntaxNode]> {
        match &self.content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }

    /// The first string of a text, or name, that its reader could not take as it is written, but
    /// for the values that `is_apart` says. It is given the names on the way to a value; of an item
    /// of a list that is an empty one.
    pub(in crate::settings) fn damage(&self, is_apart: &dyn Fn(&[&str]) -> bool) -> Option<Flaw> {
        self.damage_below(&mut (Vec::new(), Vec::new()), is_apart)
    }

    fn damage_below<'n>(
        &'n self,
        way: &mut (Vec<&'n str>, Vec<PathStep>),
        is_apart: &dyn Fn(&[&str]) -> bool,
    ) -> Option<Flaw> {
        // The name of what is apart is not.
        let is_name =
            matches!(&self.content, Content::Flawed(sentence) if *sentence == BACKSLASH_IN_NAME);
        if way.1.len() > DEPTH_READ_MAX || is_apart(&way.0) && !is_name {
            return None;
        }
        let mut below = |name: &'n str, step: PathStep, node: &'n SyntaxNode| {
            way.0.push(name);
            way.1.push(step);
            let found = node.damage_below(way, is_apart);
            way.0.pop();
            way.1.pop();
            found
        };
        match &self.content {
            Content::Flawed(sentence) if OF_ESCAPES.contains(sentence) => {
                Some(Flaw { path: dotted(&way.1), place: self.place, sentence: (*sentence).into() })
            }
            Content::List(items) => items
                .iter()
                .enumerate()
                .find_map(|(index, item)| below("", PathStep::Index(index), item)),
            Content::Map(members) => members.iter().find_map(|member| {
                below(&member.name, PathStep::Member(member.name.clone()), &member.node)
            }),
            Content::Null
            | Content::Bool(_)
            | Content::Number(..)
            | Content::Text(_)
            | Content::Flawed(_) => None,
        }
    }

    /// How many levels lie below it.
    pub(super) fn height(&self) -> usize {
        let below = |nodes: &mut dyn Iterator<Item = &SyntaxNode>| {
            nodes.map(SyntaxNode::height).max().map_or(0, |height| height + 1)
        };
        match &self.content {
            Content::List(items) => below(&mut items.iter()),
            Content::Map(members) => below(&mut members.iter().map(|member| &member.node)),
            Content::Null
            | Content::Bool(_)
            | Content::Number(..)
            | Content::Text(_)
            | Content::Flawed(_) => 0,
        }
    }

    pub(in crate::settings) fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    /// The member of that name; the first, should there be two.
    pub(in crate::settings) fn member(&self, name: &str) -> Option<&SyntaxMember> {
        self.members()?.iter().find(|member| member.name == name)
    }

    /// The member of that name, as long as it is there once (S-15).
    pub(in crate::settings) fn once(&self, name: &str) -> Result<Option<&SyntaxMember>, Flaw> {
        let mut same = self.members().unwrap_or_default().iter().filter(|one| one.name == name);
        match (same.next(), same.next()) {
            (_, Some(second)) => Err(second.flaw(TWICE.into())),
            (first, None) => Ok(first),
        }
    }

    /// The member of that name, which is a word of ours, as long as no reader could take another
    /// for it (S-15).
    pub(in crate::settings) fn sole(&self, name: &str) -> Result<Option<&SyntaxMember>, Flaw> {
        let first = self.once(name)?;
        let mut members = self.members().unwrap_or_default().iter();
        match members.find(|member| is_miswritten(&member.name, name)) {
            Some(member) => Err(member.flaw(format!("must be written `{name}`").into())),
            None => Ok(first),
        }
    }

    pub(in crate::settings) fn get(&self, name: &str) -> Option<&SyntaxNode> {
        self.member(name).map(|member| &member.node)
    }

    /// The plain value. A flawed node is null: the caller has looked for
    /// [`flaw`](SyntaxNode::flaw).
    pub(in crate::settings) fn value(&self) -> Value {
        match &self.content {
            Content::Null | Content::Flawed(_) => Value::Null,
            Content::Bool(value) => (*value).into(),
            Content::Number(number, _) => Value::Number(number.clone()),
            Content::Text(text) => text.as_str().into(),
            Content::List(items) => items.iter().map(SyntaxNode::value).collect(),
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

    /// Whether it is that tree, every part of it moved by as much.
    pub(in crate::settings) fn is_moved(&self, by: Shift, to: &SyntaxNode) -> bool {
        if by.of(self.place) != to.place {
            return false;
        }
        match (&self.content, &to.content) {
            (Content::Null, Content::Null) => true,
            (Content::Bool(one), Content::Bool(other)) => one == other,
            (Content::Number(one, written), Content::Number(other, now)) => {
                one == other && written == now
            }
            (Content::Text(one), Content::Text(other)) => one == other,
            (Content::Flawed(one), Content::Flawed(other)) => one == other,
            (Content::List(some), Content::List(others)) => {
                let mut both = some.iter().zip(others);
                some.len() == others.len() && both.all(|(one, other)| one.is_moved(by, other))
            }
            (Content::Map(some), Content::Map(others)) => {
                let is_moved = |(one, other): (&SyntaxMember, &SyntaxMember)| {
                    one.name == other.name
                        && by.of(one.place) == other.place
                        && one.node.is_moved(by, &other.node)
                };
                some.len() == others.len() && some.iter().zip(others).all(is_moved)
            }
            (
                Content::Null
                | Content::Bool(_)
                | Content::Number(..)
                | Content::Text(_)
                | Content::Flawed(_)
                | Content::List(_)
                | Content::Map(_),
                _,
            ) => false,
        }
    }

    /// The first part that two readers could understand differently. `depth` is how deep this node
    /// lies itself.
    pub(in crate::settings) fn flaw(&self, depth: usize) -> Option<Flaw> {
        self.flaw_below(&mut Vec::new(), depth)
    }

    fn flaw_below(&self, path: &mut Vec<PathStep>, depth: usize) -> Option<Flaw> {
        let flaw = |path: &[PathStep], place, sentence: &'static str| Flaw {
            path: dotted(path),
            place,
            sentence: sentence.into(),
        };
        match &self.content {
            Content::Flawed(sentence) => Some(flaw(path, self.place, sentence)),
            Content::List(_) | Content::Map(_) if depth >= DEPTH_MAX => {
                Some(flaw(path, self.place, "is nested too deep"))
            }
            Content::List(items) => items.iter().enumerate().find_map(|(index, item)| {
                path.push(PathStep::Index(index));
                let found = item.flaw_below(path, depth + 1);
                path.pop();
                found
            }),
            Content::Map(members) => {
                let mut names = HashSet::new();
                members.iter().find_map(|member| {
                    path.push(PathStep::Member(member.name.clone()));
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
    pub(in crate::settings) fn find(&self, path: &str) -> Option<Place> {
        let (mut node, mut rest, mut best) = (self, path, None);
        loop {
            let (place, next, left) = match &node.content {
                Content::List(items) => {
                    let Some((index, left)) = leading_index(rest) else { return best };
                    let Some(item) = items.get(index) else { return best };
                    (item.place, item, left)
                }
                Content::Map(members) => {
                    // A dot stands between two names, and not before the first.
                    let names = rest.strip_prefix('.').filter(|_| best.is_some()).unwrap_or(rest);
                    let found = members.iter().find_map(|member| {
                        let left = names.strip_prefix(&joined("", &member.name))?;
                        is_end_of_step(left).then_some((member, left))
                    });
                    let Some((member, left)) = found else { return best };
                    (member.place, &member.node, left)
                }
                Content::Null
                | Content::Bool(_)
                | Content::Number(..)
                | Content::Text(_)
                | Content::Flawed(_) => return best,
            };
            (node, rest, best) = (next, left, Some(place));
        }
    }
}

/// The index that a path begins with, and what follows it.
fn leading_index(path: &str) -> Option<(usize, &str)> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

/// Whether a name is whole where this follows it in a path.
fn is_end_of_step(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '['])
}

/// Whether `path` is `wanted` or a way to it.
pub(in crate::settings) fn leads_to(path: &str, wanted: &str) -> bool {
    wanted.strip_prefix(path).is_some_and(is_end_of_step)
}

/// Whether a name differs from that one in its case alone.
pub(in crate::settings) fn is_miswritten(name: &str, known: &str) -> bool {
    name != known && name.eq_ignore_ascii_case(known)
}
