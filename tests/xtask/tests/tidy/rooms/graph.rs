//! What the files of a crate import of one another. A re-exported name leads to the file that
//! defines it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::source::Source;

/// How one file names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Its code needs a name that the other defines.
    Need,
    /// It only passes names on, or opens itself: `pub use`, `use x::*`, `pub(in crate::x)`.
    Door,
}

/// By the two files: how the one names the other, and the path that says so.
pub type Arrows<'a> = BTreeMap<(&'a str, &'a str), (Kind, String)>;

enum Name<'a> {
    In(&'a str),
    Alias(Vec<&'a str>, Kind),
}

#[derive(Clone, Copy)]
struct Want {
    /// For a door a module's own files count.
    kind: Kind,
    is_known: bool,
}

#[derive(Default)]
struct Module<'a> {
    /// Two where a feature or a system chooses between them.
    files: Vec<&'a str>,
    parent: usize,
    children: HashMap<&'a str, usize>,
    names: HashMap<&'a str, Vec<Name<'a>>>,
    globs: Vec<Vec<&'a str>>,
}

pub struct TypeName<'a> {
    pub name: &'a str,
    pub file: &'a str,
    pub is_public: bool,
}

pub struct Graph<'a> {
    sources: HashMap<&'a str, &'a Source>,
    /// The first is the crate's root.
    modules: Vec<Module<'a>>,
    mentions: HashSet<(&'a str, usize, Kind, Vec<&'a str>)>,
    pub types: Vec<TypeName<'a>>,
}

/// The words and signs of the code outside tests, without comments and texts.
pub fn tokens(source: &Source) -> Vec<&str> {
    let mut found = Vec::new();
    for (_, text) in source.product_lines() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = match first {
                _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            found.push(&rest[..end]);
            rest = rest[end..].trim_start();
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(token: Option<&&str>) -> bool {
    token.is_some_and(|token| token.starts_with(is_word))
}

impl<'a> Graph<'a> {
    /// The graph of the crate whose root is that file.
    pub fn new(sources: &[&'a Source], root: &str) -> Graph<'a> {
        let by_path = sources.iter().map(|file| (file.path.as_str(), *file)).collect();
        let mut graph = Graph {
            sources: by_path,
            modules: vec![Module::default()],
            mentions: HashSet::new(),
            types: Vec::new(),
        };
        let root = graph.sources[root];
        graph.read(root, 0);
        graph
    }

    /// Every file that a `mod` leads to.
    pub fn files(&self) -> impl Iterator<Item = &'a str> {
        self.modules.iter().flat_map(|module| module.files.iter().copied())
    }

    pub fn arrows(&self) -> Arrows<'a> {
        let mut arrows = Arrows::new();
        for (from, module, kind, path) in &self.mentions {
            let want = Want { kind: *kind, is_known: false };
            let files = self.resolve(*module, path, want, 0);
            // A name of its own is its own, also where its module has another file with that name.
            for to in files.iter().copied().filter(|_| !files.contains(from)) {
                let by = (*kind, path.join("::"));
                let rank = |by: &(Kind, String)| (by.0, Reverse(by.1.len()));
                let known = arrows.entry((*from, to)).or_insert_with(|| by.clone());
                if rank(&by) < rank(known) {
                    *known = by;
                }
            }
        }
        arrows
    }

    /// Each name that a module has from several files, between which a feature or a system chooses,
    /// with those files.
    pub fn twins(&self) -> Vec<(&'a str, BTreeSet<&'a str>)> {
        let known = Want { kind: Kind::Need, is_known: true };
        let mut twins = Vec::new();
        for (at, module) in self.modules.iter().enumerate() {
            for (name, chosen) in &module.names {
                let files = chosen.iter().flat_map(|one| match one {
                    Name::In(file) => vec![*file],
                    Name::Alias(path, Kind::Door) => self.resolve(at, path, known, 0),
                    // A body may bring in what another one calls by the same name.
                    Name::Alias(_, Kind::Need) => Vec::new(),
                });
                twins.push((*name, files.collect::<BTreeSet<_>>()));
            }
        }
        twins.retain(|(_, files)| files.len() > 1);
        twins
    }

    fn read(&mut self, file: &'a Source, module: usize) {
        self.modules[module].files.push(&file.path);
        let tokens = tokens(file);
        // The module that is being read, and how many braces are open around its items.
        let mut inside = vec![(module, 0)];
        let mut depth = 0usize;
        let mut path = None;
        let mut at = 0;
        while let Some(word) = tokens.get(at).copied() {
            let (module, floor) = inside[inside.len() - 1];
            let (before, more) = (&tokens[..at], &tokens[at..]);
            at += 1;
            match more {
                ["{", ..] => depth += 1,
                ["}", ..] => {
                    depth = depth.saturating_sub(1);
                    if depth < floor {
                        inside.pop();
                    }
                }
                [";", ..] => path = None,
                ["path", "=", ..] if matches!(before, [.., "[" | ","]) => {
                    path = Some((literal(file, more[1]), before.ends_with(&[","])));
                }
                ["use", next, ..] if *next != "<" => at = self.read_use(&tokens, at, file, module),
                ["mod", name, ";", ..] => self.enter(file, module, name, path.take()),
                ["mod", name, "{", ..] => {
                    depth += 1;
                    inside.push((self.child(module, name), depth));
                    at += 2;
                }
                _ if is_name(Some(&word)) => {
                    if depth == floor {
                        self.define(more, is_public(before), file, module);
                    }
                    at = chain_end(&tokens, at);
                    let chain = &more[..at - before.len()];
                    if is_path(before, chain, tokens.get(at)) {
                        let opens = before.ends_with(&["(", "in"]);
                        let kind = if opens { Kind::Door } else { Kind::Need };
                        let parts = chain.iter().copied().filter(|part| *part != "::");
                        self.mention(file, module, kind, parts.collect());
                    }
                }
                _ => {}
            }
        }
    }

    fn mention(&mut self, file: &'a Source, module: usize, kind: Kind, path: Vec<&'a str>) {
        self.mentions.insert((&file.path, module, kind, path));
    }

    fn child(&mut self, module: usize, name: &'a str) -> usize {
        if let Some(known) = self.modules[module].children.get(name) {
            return *known;
        }
        self.modules.push(Module { parent: module, ..Module::default() });
        let child = self.modules.len() - 1;
        self.modules[module].children.insert(name, child);
        child
    }

    /// Reads the files of `mod name;`: the one that `path` gives, and the usual one where there is
    /// no `path`, or one on a condition.
    fn enter(
        &mut self,
        file: &'a Source,
        module: usize,
        name: &'a str,
        path: Option<(&str, bool)>,
    ) {
        let (folder, own) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let inner = match own {
            "mod.rs" | "lib.rs" => folder,
            _ => file.path.trim_end_matches(".rs"),
        };
        let mut places: Vec<_> = path.iter().map(|(path, _)| format!("{folder}/{path}")).collect();
        if path.is_none_or(|(_, is_conditional)| is_conditional) {
            places.extend([format!("{inner}/{name}.rs"), format!("{inner}/{name}/mod.rs")]);
        }
        for place in places {
            if let Some(source) = self.sources.get(place.as_str()).copied() {
                let child = self.child(module, name);
                self.read(source, child);
            }
        }
    }

    /// Notes the item whose keyword stands first, if it is one.
    fn define(&mut self, tokens: &[&'a str], is_public: bool, file: &'a Source, module: usize) {
        let name = match tokens {
            ["macro_rules", "!", name, ..] | ["static", "mut", name, ..] => *name,
            ["const", "fn" | "unsafe" | "async" | "extern", ..] => return,
            ["fn" | "const" | "static", name, ..] => *name,
            ["struct" | "enum" | "union" | "trait" | "type", name, ..] if is_name(Some(name)) => {
                self.types.push(TypeName { name, file: &file.path, is_public });
                *name
            }
            _ => return,
        };
        self.modules[module].names.entry(name).or_default().push(Name::In(&file.path));
    }

    /// Notes what a `use` brings in, and returns where it ends.
    fn read_use(
        &mut self,
        tokens: &[&'a str],
        at: usize,
        file: &'a Source,
        module: usize,
    ) -> usize {
        let kind = if is_public(&tokens[..at - 1]) { Kind::Door } else { Kind::Need };
        let mut leaves = Vec::new();
        let end = use_leaves(tokens, at, &[], &mut leaves);
        for (path, name) in leaves {
            if name == "*" {
                self.modules[module].globs.push(path.clone());
                self.mention(file, module, Kind::Door, path);
            } else {
                let names = self.modules[module].names.entry(name).or_default();
                names.push(Name::Alias(path.clone(), kind));
                self.mention(file, module, kind, path);
            }
        }
        end
    }

    /// The files that define what the path leads to from that module. A name that a macro makes
    /// is in the file of its module, unless only what is known is wanted.
    fn resolve(&self, from: usize, path: &[&'a str], want: Want, depth: usize) -> Vec<&'a str> {
        let (mut at, mut rest, mut own) = (from, path, &[] as &[&'a str]);
        while let [first, more @ ..] = rest {
            let next = match *first {
                "crate" => Some(0),
                "super" => Some(self.modules[at].parent),
                "self" => Some(at),
                name => self.modules[at].children.get(name).filter(|_| !more.is_empty()).copied(),
            };
            let Some(next) = next else { break };
            (at, rest, own) = (next, more, &self.modules[next].files);
        }
        let module = &self.modules[at];
        let files_of = |at: usize| match want.kind {
            Kind::Door => self.modules[at].files.clone(),
            Kind::Need => Vec::new(),
        };
        let [name, more @ ..] = rest else { return files_of(at) };
        if depth > 16 {
            return Vec::new();
        }
        if let Some(names) = module.names.get(name) {
            let files = names.iter().flat_map(|known| match known {
                Name::In(file) => vec![*file],
                Name::Alias(path, _) => {
                    self.resolve(at, &[path.as_slice(), more].concat(), want, depth + 1)
                }
            });
            return files.collect();
        }
        if let Some(child) = module.children.get(name) {
            return files_of(*child);
        }
        let known = Want { is_known: true, ..want };
        let through = module.globs.iter().map(|glob| [glob.as_slice(), rest].concat());
        let mut found = through.map(|path| self.resolve(at, &path, known, depth + 1));
        let own = if want.is_known { Vec::new() } else { own.to_vec() };
        found.find(|files| !files.is_empty()).unwrap_or(own)
    }
}

/// Whether the item behind these tokens begins with `pub` or `pub(..)`.
fn is_public(before: &[&str]) -> bool {
    match before {
        [.., "pub"] => true,
        [rest @ .., ")"] => {
            let open = rest.iter().rposition(|token| *token == "(");
            open.is_some_and(|open| open > 0 && rest[open - 1] == "pub")
        }
        _ => false,
    }
}

/// Whether that is a path from the module's scope, and no field, method, lifetime or local value.
fn is_path(before: &[&str], chain: &[&str], next: Option<&&str>) -> bool {
    let is_part = match before {
        [.., ".", "."] => false,
        [.., "$"] => chain[0] != "crate",
        [.., last] => matches!(*last, "::" | "'" | "." | "fn"),
        [] => false,
    };
    let names_an_item = chain.len() > 1
        || chain[0].starts_with(|c: char| c.is_ascii_uppercase())
        || matches!(next, Some(&"(" | &"!"));
    !is_part && names_an_item
}

/// Where a path ends, with `at` behind its first part.
fn chain_end(tokens: &[&str], mut at: usize) -> usize {
    while tokens.get(at) == Some(&"::") && is_name(tokens.get(at + 1)) {
        at += 2;
    }
    at
}

/// The text behind that token, which stands in the code as blanks.
fn literal<'a>(file: &'a Source, token: &str) -> &'a str {
    let offset = token.as_ptr() as usize - file.code.as_ptr() as usize;
    file.text[offset..].split('"').nth(1).unwrap_or_default()
}

/// The paths of one tree of a `use`, each with the name that it gets.
fn use_leaves<'a>(
    tokens: &[&'a str],
    mut at: usize,
    prefix: &[&'a str],
    leaves: &mut Vec<(Vec<&'a str>, &'a str)>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at).copied() {
        at += 1;
        match token {
            "::" => {}
            "{" => {
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = use_leaves(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "*" | "as" => {
                let name = if token == "*" { token } else { tokens[at] };
                leaves.push((path, name));
                return at + usize::from(token == "as");
            }
            "," | "}" | ";" => {
                let name = path.last().copied().unwrap_or_default();
                leaves.push((path, name));
                return at - 1;
            }
            "self" if !path.is_empty() => {}
            word => path.push(word),
        }
    }
    at
}
