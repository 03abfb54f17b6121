//! From the text of a file to what it says.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::entry;
use super::format::{Container, Format, FormatRow};
use super::inputs;
use super::known::{format_of_name, known_file};
use super::lists;
use super::notes::{Finding, FindingKind};
use super::origin::{WrittenEntry, located};
use super::position::Place;
use super::recognise::recognised;
use super::source::{FINDINGS_MAX, Lists, Server, Skipped, Source};
use super::syntax::{Content, Flaw, Syntax, SyntaxFault, SyntaxNode};
use super::template::Template;
use crate::base::text::escaped;
use crate::config::{LEADS_BACK, leads_back};
use crate::error::{Error, ErrorCode, Result};
use crate::json::joined;

/// How a file is read. The default finds everything out.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// By whose rules, instead of those that the file's name and content imply.
    pub format: Option<Format>,
    /// The workspace folder, for files that hold servers by project.
    pub workspace: Option<String>,
    /// The folder of the project that the file belongs to, where that is not the workspace: its
    /// programs start there.
    pub project: Option<String>,
}

/// More than any settings written by a person, in bytes; what is longer is not read to its end.
pub const FILE_BYTES_MAX: usize = 16 << 20;

/// More servers than one file can sensibly hold.
const SERVERS_MAX: usize = 10_000;

/// Reads a settings file, given its text and its name.
///
/// The name says the syntax, and together with the content whose file it is. Nothing is expanded,
/// looked up or granted. A byte order mark at the start is dropped.
///
/// # Errors
/// `invalid_config` when the file as a whole cannot be read, with `detail.source`, `path`, `line`
/// and `column`. A bad entry is not such an error: it is in [`Server::template`].
pub fn read(text: &str, file: &str, options: &ReadOptions) -> Result<Source> {
    read_again(text, file, options, &|_| None)
}

/// [`read`] of a file that may have been read before: it comes to the same, whatever was read then.
///
/// `before` gives what was read for a server of that name. An entry that is written the same is not
/// read anew, so that what a file with many servers costs is as much as changed.
///
/// # Errors
/// Those of [`read`].
pub fn read_again(
    text: &str,
    file: &str,
    options: &ReadOptions,
    before: &dyn Fn(&str) -> Option<Template>,
) -> Result<Source> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file_error = |place, path: &str, message: &str| {
        located(ErrorCode::InvalidConfig, file, place, path, message)
    };
    if text.len() > FILE_BYTES_MAX {
        let message = format!("the file is longer than {FILE_BYTES_MAX} bytes");
        return Err(file_error(Place::START, "", &message));
    }
    let known = known_file(file);
    let by_name = options.format.or(known.map(|known| known.format));
    let syntax =
        Syntax::of_file(file).or(by_name.map(|format| format.row().syntax)).unwrap_or(Syntax::Json);
    let root = syntax.parse(text).map_err(|SyntaxFault { place, message }| {
        file_error(place, "", &format!("the file is no {}: {}", syntax.name(), escaped(&message)))
    })?;
    if root.members().is_none() {
        return Err(file_error(root.place, "", "the file must hold an object"));
    }
    let format = by_name.unwrap_or_else(|| match recognised(&root, syntax) {
        Format::Trunkline => format_of_name(file).unwrap_or(Format::Trunkline),
        format => format,
    });
    let holds_more = format.row().holds_more || known.is_some_and(|known| known.holds_more);
    let mut reader = SettingsReader {
        file,
        project: options.project.as_deref(),
        format,
        before,
        source: Source {
            format,
            syntax,
            servers: Vec::new(),
            skipped: Vec::new(),
            inputs: Vec::new(),
            lists: Lists::default(),
            approvals: Vec::new(),
            findings: Vec::new(),
        },
    };
    reader.root(&root, holds_more, options.workspace.as_deref())?;
    Ok(reader.source)
}

/// The whole document as a plain value, for one who compares two of them; nothing where it cannot
/// be read. A member that is there again has a name of its own in it, so that it counts too.
#[doc(hidden)]
pub fn plain_document(text: &str, syntax: Syntax) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    syntax.parse(text).ok().map(|root| plain(&root))
}

fn plain(node: &SyntaxNode) -> Value {
    match &node.content {
        Content::List(items) => items.iter().map(plain).collect(),
        Content::Map(members) => {
            let mut out = Map::new();
            for member in members {
                let mut name = member.name.clone();
                while out.contains_key(&name) {
                    name.push('\0');
                }
                out.insert(name, plain(&member.node));
            }
            Value::Object(out)
        }
        _ => node.value(),
    }
}

struct SettingsReader<'a> {
    file: &'a str,
    project: Option<&'a str>,
    format: Format,
    before: &'a dyn Fn(&str) -> Option<Template>,
    source: Source,
}

impl SettingsReader<'_> {
    fn error(&self, place: Place, path: &str, message: &str) -> Error {
        located(ErrorCode::InvalidConfig, self.file, place, path, message)
    }

    fn root(&mut self, root: &SyntaxNode, holds_more: bool, workspace: Option<&str>) -> Result<()> {
        let container = self.container(root)?;
        if let Some(flaw) = root.damage(&|way| self.is_entry(way, container)) {
            return Err(self.spoilt(&flaw));
        }
        if container != Some(Container::Bare) {
            self.unknown(root, container, holds_more);
        }
        if let Some(container) = container {
            self.servers(root, container)?;
        }
        self.lists(root)?;
        if self.format == Format::VsCode {
            let read = inputs::read(root, &mut self.source.inputs, &mut self.source.findings);
            read.map_err(|flaw| self.spoilt(&flaw))?;
        }
        if self.format == Format::ClaudeCode
            && let Some(workspace) = workspace
            && let Some(projects) = self.end_of(root, &["projects"])?
        {
            // The name of a folder is no word of ours, and another case is another folder.
            let project = projects.once(workspace);
            if let Some(project) = project.map_err(|flaw| self.spoilt(&flaw.below("projects")))? {
                self.project(&project.node)?;
            }
        }
        self.source.findings.truncate(FINDINGS_MAX);
        Ok(())
    }

    /// Whether a value is the entry of a server, by the names on the way to it: what is damaged
    /// there costs that server alone.
    fn is_entry(&self, way: &[&str], container: Option<Container>) -> bool {
        let is_of = |container: &Container, way: &[&str]| match container {
            Container::Map(names) | Container::List(names) => {
                way.len() == names.len() + 1 && way.starts_with(names)
            }
            Container::Bare => way.len() == 1,
        };
        if container.is_some_and(|container| is_of(&container, way)) {
            return true;
        }
        match way {
            ["projects", _, way @ ..] if self.format == Format::ClaudeCode => {
                self.format.row().containers.iter().any(|container| is_of(container, way))
            }
            _ => false,
        }
    }

    /// The servers of one project in a file of the user. They stand above the user's own of the
    /// same name.
    fn project(&mut self, project: &SyntaxNode) -> Result<()> {
        let others = std::mem::take(&mut self.source.servers);
        if let Some(container) = self.container(project)? {
            self.servers(project, container)?;
        }
        let ours = &mut self.source.servers;
        let names: HashSet<&str> = ours.iter().map(|one| one.name.as_str()).collect();
        let others = others.into_iter().filter(|other| !names.contains(other.name.as_str()));
        let others: Vec<Server> = others.collect();
        ours.splice(0..0, others);
        self.lists(project)?;
        // Of others' servers of that name it says nothing.
        let off = lists::switched_off(project).map_err(|flaw| self.spoilt(&flaw))?;
        let Source { servers, lists, .. } = &mut self.source;
        let is_ours = |name: &String| servers.iter().any(|server| server.name == *name);
        lists.excluded.extend(off.into_iter().filter(is_ours));
        Ok(())
    }

    fn lists(&mut self, node: &SyntaxNode) -> Result<()> {
        let read =
            lists::read(self.format, node, &mut self.source.lists, &mut self.source.approvals);
        read.map_err(|flaw| self.spoilt(&flaw))
    }

    fn spoilt(&self, flaw: &Flaw) -> Error {
        self.error(flaw.place, &flaw.path, &format!("`{}` {}", flaw.path, flaw.sentence))
    }

    /// The first of the format's containers that is there. One that is no container spoils the
    /// file, and so does one whose name is there twice or miswritten.
    fn container(&self, root: &SyntaxNode) -> Result<Option<Container>> {
        let mut misfit = None;
        for container in self.format.row().containers {
            let (Container::Map(way) | Container::List(way)) = container else {
                let mut members = root.members().unwrap_or_default().iter();
                let is_emptied = members.any(|member| {
                    member.node.is_null() && is_container(self.format.row(), &member.name)
                });
                let bare = (!is_emptied).then_some(Container::Bare);
                return misfit.map_or(Ok(bare), Err);
            };
            let Some(end) = self.end_of(root, way)? else { continue };
            if fits(end, *container) {
                return Ok(Some(*container));
            }
            let path = path_of(way);
            let kind = if matches!(container, Container::List(_)) { "array" } else { "object" };
            let message = format!("`{path}` must be an {kind} of servers");
            misfit.get_or_insert_with(|| self.error(end.place, &path, &message));
        }
        misfit.map_or(Ok(None), Err)
    }

    /// What stands at the end of a way, if it is there.
    fn end_of<'n>(&self, root: &'n SyntaxNode, way: &[&str]) -> Result<Option<&'n SyntaxNode>> {
        let (mut node, mut path) = (root, String::new());
        for step in way {
            let member = node.sole(step).map_err(|flaw| self.spoilt(&flaw.below(&path)))?;
            path = joined(&path, step);
            match member {
                Some(member) if !member.node.is_null() => node = &member.node,
                Some(_) | None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    /// Members of the outermost object that nobody knows.
    fn unknown(&mut self, root: &SyntaxNode, container: Option<Container>, holds_more: bool) {
        let row = self.format.row();
        // One that is null holds no servers, and is no news.
        let holds_servers = |name: &str, node: &SyntaxNode| match container {
            Some(Container::Map(way) | Container::List(way)) => way.first() == Some(&name),
            Some(Container::Bare) => false,
            None => node.is_null() && is_container(row, name),
        };
        for member in root.members().unwrap_or_default() {
            let name = member.name.as_str();
            if holds_more
                || holds_servers(name, &member.node)
                || row.root.contains(&name)
                || name == "$schema"
            {
                continue;
            }
            let path = joined("", name);
            let (place, kind) = (member.place, FindingKind::Unknown);
            self.source.findings.push(Finding { server: None, path, place, kind });
        }
    }

    fn servers(&mut self, root: &SyntaxNode, container: Container) -> Result<()> {
        let (Container::Map(way) | Container::List(way)) = container else {
            return self.entries(root, "", 1);
        };
        match self.end_of(root, way)? {
            Some(end) => self.entries(end, &path_of(way), way.len() + 1),
            None => Ok(()),
        }
    }

    /// The servers of a container that lies that deep.
    fn entries(&mut self, end: &SyntaxNode, path: &str, depth: usize) -> Result<()> {
        let (members, items) = (end.members().unwrap_or_default(), end.items().unwrap_or_default());
        if members.len() + items.len() > SERVERS_MAX {
            let message = format!("`{path}` has more than {SERVERS_MAX} servers");
            return Err(self.error(end.place, path, &message));
        }
        let mut entries: Vec<(&str, Place, &SyntaxNode)> = Vec::new();
        for member in members {
            entries.push((&member.name, member.place, &member.node));
        }
        for (index, item) in items.iter().enumerate() {
            let name = item.get("name").and_then(SyntaxNode::text);
            // A block of the hub has the name of its server there.
            let block = item.get("uses").filter(|_| self.format == Format::Continue);
            match name.or(block.and_then(SyntaxNode::text)) {
                Some(name) => entries.push((name, item.place, item)),
                None => self.nameless(format!("{path}[{index}]"), item.place),
            }
        }
        let mut count: HashMap<&str, usize> = HashMap::new();
        for (name, ..) in &entries {
            *count.entry(name).or_default() += 1;
        }
        let mut told = HashSet::new();
        for (name, place, node) in &entries {
            // A server that is there twice is neither of the two.
            match count.get(name) {
                Some(1) | None => self.server(name, *place, node, depth),
                Some(_) if told.insert(*name) => {
                    let error = self.error(*place, "", "the server is there twice");
                    self.spoiled(name, *place, error);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// An entry of a list that nobody could name.
    fn nameless(&mut self, path: String, place: Place) {
        let error = self.error(place, &path, "a server of a list must have a `name`");
        self.spoiled(&path, place, error);
    }

    fn spoiled(&mut self, name: &str, place: Place, error: Error) {
        let template = Err(error.with_server(name));
        self.source.servers.push(Server { name: name.to_owned(), place, template });
    }

    fn server(&mut self, name: &str, place: Place, node: &SyntaxNode, depth: usize) {
        let (format, file, project) = (self.format, self.file, self.project);
        let written = WrittenEntry { format, file, project, server: name, node, depth };
        let before = (self.before)(name).and_then(|before| before.again(&written));
        if before.is_none()
            && let Some(what) = entry::own_type(format.row(), node)
            && node.flaw(depth).is_none()
        {
            self.source.skipped.push(Skipped { name: name.to_owned(), place, what });
            return;
        }
        let template = before.map_or_else(|| entry::read(&written), Ok);
        if let Ok(template) = &template {
            // A pool that started it would be a client of a pool (SPEC 19.9).
            if leads_back(&template.unexpanded().transport) {
                let (name, what) = (name.to_owned(), LEADS_BACK.to_owned());
                self.source.skipped.push(Skipped { name, place, what });
                return;
            }
            self.source.approvals.extend_from_slice(&template.notes().approvals);
            self.source.findings.extend_from_slice(&template.notes().findings);
        }
        self.source.servers.push(Server { name: name.to_owned(), place, template });
    }
}

/// Whether servers stand in the member of the outermost object of that name.
fn is_container(row: &FormatRow, name: &str) -> bool {
    row.containers.iter().any(|container| match container {
        Container::Map(way) | Container::List(way) => way.first() == Some(&name),
        Container::Bare => false,
    })
}

fn path_of(way: &[&str]) -> String {
    way.iter().fold(String::new(), |path, step| joined(&path, step))
}

/// Whether servers can stand in it. What has the fields of a server is one itself.
fn fits(end: &SyntaxNode, container: Container) -> bool {
    match container {
        Container::List(_) => end.items().is_some(),
        Container::Map(way) => {
            let is_server = ["type", "command", "url"]
                .iter()
                .any(|name| end.get(name).is_some_and(|node| node.members().is_none()));
            end.members().is_some() && !(way.len() > 1 && is_server)
        }
        Container::Bare => true,
    }
}
