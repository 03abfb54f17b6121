//! The four lists, which can change while the server runs.

use crate::fixtures::Fixtures;
use crate::flags::{Cursors, Flags, Hints};
use crate::tools::{TOOLS, Tool};
use crate::wire::quote;

/// One tool, prompt, resource or resource template: its key and its definition as JSON text.
pub struct Item {
    /// The name, or the URI of a resource.
    pub key: String,
    pub definition: String,
}

/// Which of the four lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl Kind {
    /// The member of a list result that holds the items.
    pub fn member(self) -> &'static str {
        match self {
            Kind::Tools => "tools",
            Kind::Prompts => "prompts",
            Kind::Resources => "resources",
            Kind::Templates => "resourceTemplates",
        }
    }
}

/// What the server lists at the moment.
pub struct Lists {
    pub tools: Vec<Item>,
    pub prompts: Vec<Item>,
    pub resources: Vec<Item>,
    pub templates: Vec<Item>,
    page_size: usize,
    /// Changes between two pages: those so far, and all.
    page_changes: (usize, usize),
    repeat_cursor: bool,
    cursors: Cursors,
    label: String,
    /// The caching hints of each page, as JSON text.
    hints: String,
}

impl Lists {
    /// The lists that the flags ask for, at the `starts`th start.
    pub fn new(flags: &Flags, starts: usize) -> Lists {
        let label = flags.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
        let mut lists = Lists {
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            page_size: if flags.page_size == 0 { usize::MAX } else { flags.page_size },
            page_changes: (0, flags.page_changes),
            repeat_cursor: flags.repeat_cursor,
            cursors: flags.cursors,
            label,
            hints: cache_hints(flags),
        };
        if flags.fixtures {
            Fixtures::read().list(&mut lists);
        }
        if !flags.no_tools {
            let drifted = match (flags.drift, flags.drift_once) {
                (true, _) => Some(starts),
                (false, true) => Some(starts.min(2)),
                (false, false) => None,
            };
            let drift = drifted.map_or_else(String::new, |start| format!(" (start {start})"));
            let gone = if flags.shrink { starts.saturating_sub(1) } else { 0 };
            lists.add_tools(flags, flags.tools.saturating_sub(gone), &drift);
        }
        if !flags.no_prompts {
            lists.add(Kind::Prompts, "greet", "");
            lists.add(Kind::Prompts, "summary", "");
        }
        if !flags.no_resources {
            lists.add(Kind::Resources, "test://one", "");
            lists.add(Kind::Resources, "test://two", "");
            lists.add(Kind::Templates, "test://item/{id}", "");
        }
        lists
    }

    fn add_tools(&mut self, flags: &Flags, generated: usize, drift: &str) {
        let fixed: &[Tool] = if flags.generated_only { &[] } else { TOOLS };
        for tool in fixed {
            let definition = format!(
                r#"{{"name":"{}","description":{},"inputSchema":{}{}}}"#,
                tool.name,
                quote(&format!("{}{}", tool.description, self.label)),
                tool.schema,
                match flags.hints {
                    Hints::True => tool.annotations,
                    Hints::All => r#","annotations":{"readOnlyHint":true}"#,
                    Hints::None => "",
                },
            );
            self.tools.push(Item { key: tool.name.to_string(), definition });
        }
        for number in 1..=generated {
            self.add(Kind::Tools, &format!("tool_{number}"), drift);
        }
        if flags.malformed_tools {
            self.tools.extend(MALFORMED.iter().map(|definition| Item {
                key: String::new(),
                definition: (*definition).to_string(),
            }));
        }
    }

    /// Adds an item, or replaces the one with that key; `suffix` ends its description.
    pub fn add(&mut self, kind: Kind, key: &str, suffix: &str) {
        let description = quote(&format!("{key}{}{suffix}", self.label));
        let name = quote(key);
        let definition = match kind {
            Kind::Tools => format!(
                r#"{{"name":{name},"description":{description},"inputSchema":{{"type":"object"}}}}"#
            ),
            Kind::Prompts => format!(
                r#"{{"name":{name},"description":{description},"arguments":[{{"name":"who","required":false}}]}}"#
            ),
            Kind::Resources => format!(
                r#"{{"uri":{name},"name":{name},"description":{description},"mimeType":"text/plain"}}"#
            ),
            Kind::Templates => {
                format!(r#"{{"uriTemplate":{name},"name":{name},"description":{description}}}"#)
            }
        };
        let items = self.items_mut(kind);
        match items.iter_mut().find(|item| item.key == key) {
            Some(item) => item.definition = definition,
            None => items.push(Item { key: key.to_string(), definition }),
        }
    }

    /// Adds an item whose whole definition is given, or replaces the one with its key.
    pub fn define(&mut self, kind: Kind, definition: &serde_json::Value) {
        let member = if kind == Kind::Resources { "uri" } else { "name" };
        let key = definition[member].as_str().unwrap_or_default().to_string();
        let item = Item { key, definition: definition.to_string() };
        let items = self.items_mut(kind);
        match items.iter_mut().find(|other| other.key == item.key) {
            Some(other) => *other = item,
            None => items.push(item),
        }
    }

    /// Removes the item with that key, if it is there.
    pub fn remove(&mut self, kind: Kind, key: &str) {
        self.items_mut(kind).retain(|item| item.key != key);
    }

    /// Puts a tool `between_N` at the head, which a reader of a later page has passed; whether
    /// there was one to come.
    pub fn change_between_pages(&mut self) -> bool {
        let (so_far, all) = self.page_changes;
        if so_far == all {
            return false;
        }
        self.page_changes.0 += 1;
        self.add(Kind::Tools, &format!("between_{}", so_far + 1), "");
        self.tools.rotate_right(1);
        true
    }

    /// Whether an item with that key is listed.
    pub fn has(&self, kind: Kind, key: &str) -> bool {
        self.items(kind).iter().any(|item| item.key == key)
    }

    /// The schema of that tool, where it allows no arguments but those that it names.
    pub fn closed_schema(&self, tool: &str) -> Option<serde_json::Value> {
        let item = self.tools.iter().find(|item| item.key == tool)?;
        let mut definition: serde_json::Value = serde_json::from_str(&item.definition).ok()?;
        let schema = definition["inputSchema"].take();
        (schema["additionalProperties"] == false).then_some(schema)
    }

    /// One page as the JSON text of a list result, or nothing when the cursor is not ours.
    pub fn page(&mut self, kind: Kind, cursor: Option<&str>) -> Option<String> {
        match self.cursors {
            Cursors::Refused if cursor.is_some() => return None,
            Cursors::RefusedOnce if cursor.is_some() => {
                self.cursors = Cursors::Plain;
                self.tools.remove(0);
                return None;
            }
            _ => {}
        }
        let items = self.items(kind);
        let start: usize = match (cursor, self.cursors) {
            (None, _) => 0,
            (Some(""), Cursors::Empty) => self.page_size,
            (Some(""), Cursors::EmptyEnd) => 0,
            (Some(_), _) if self.repeat_cursor => 0,
            (Some(cursor), _) => cursor.strip_prefix("from ")?.parse().ok()?,
        };
        let end = start.saturating_add(self.page_size).min(items.len());
        let page: Vec<&str> =
            items.get(start..end)?.iter().map(|item| item.definition.as_str()).collect();
        let next = match (end < items.len(), self.cursors) {
            _ if self.repeat_cursor => Some("again".to_string()),
            (true, Cursors::Empty) if start == 0 => Some(String::new()),
            (true, _) => Some(format!("from {end}")),
            (false, Cursors::EmptyEnd) => Some(String::new()),
            (false, _) => None,
        };
        let next = next.map(|next| format!(r#","nextCursor":"{next}""#)).unwrap_or_default();
        Some(format!(r#"{{"{}":[{}]{next}{}}}"#, kind.member(), page.join(","), self.hints))
    }

    fn items(&self, kind: Kind) -> &Vec<Item> {
        match kind {
            Kind::Tools => &self.tools,
            Kind::Prompts => &self.prompts,
            Kind::Resources => &self.resources,
            Kind::Templates => &self.templates,
        }
    }

    fn items_mut(&mut self, kind: Kind) -> &mut Vec<Item> {
        match kind {
            Kind::Tools => &mut self.tools,
            Kind::Prompts => &mut self.prompts,
            Kind::Resources => &mut self.resources,
            Kind::Templates => &mut self.templates,
        }
    }
}

fn cache_hints(flags: &Flags) -> String {
    let ttl = flags.ttl_ms.map(|ttl| format!(r#","ttlMs":{ttl}"#)).unwrap_or_default();
    let scope = flags.cache_scope.as_ref();
    ttl + &scope.map(|scope| format!(r#","cacheScope":{}"#, quote(scope))).unwrap_or_default()
}

/// No schema, a number for a name, no name, a schema of the wrong type.
const MALFORMED: [&str; 4] = [
    r#"{"name":"no_schema"}"#,
    r#"{"name":7,"inputSchema":{"type":"object"}}"#,
    r#"{"inputSchema":{"type":"object"}}"#,
    r#"{"name":"text_schema","inputSchema":"object"}"#,
];

#[cfg(test)]
mod tests {
    use super::{Kind, Lists};
    use crate::flags::Flags;

    #[test]
    fn every_definition_is_json_and_pages_cover_each_tool_once() {
        let flags = Flags { tools: 5, page_size: 3, ..Flags::default() };
        let mut lists = Lists::new(&flags, 1);
        let (mut names, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let page = lists.page(Kind::Tools, cursor.as_deref()).unwrap();
            let page: serde_json::Value = serde_json::from_str(&page).unwrap();
            for tool in page["tools"].as_array().unwrap() {
                assert_eq!(tool["inputSchema"]["type"], "object");
                names.push(tool["name"].as_str().unwrap().to_string());
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_string()),
                None => break,
            }
        }
        let expected: Vec<_> = lists.tools.iter().map(|item| item.key.clone()).collect();
        assert_eq!(names, expected);
        assert!(lists.page(Kind::Tools, Some("elsewhere")).is_none());
    }

    #[test]
    fn a_tool_that_comes_between_two_pages_is_where_the_first_one_was() {
        let flags = Flags {
            tools: 2,
            generated_only: true,
            page_size: 1,
            page_changes: 1,
            ..Flags::default()
        };
        let mut lists = Lists::new(&flags, 1);
        let first = lists.page(Kind::Tools, None).unwrap();
        assert!(first.contains("tool_1") && first.contains("from 1"), "{first}");
        assert!(lists.change_between_pages());
        assert!(!lists.change_between_pages());
        let names: Vec<_> = lists.tools.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(names, ["between_1", "tool_1", "tool_2"]);
    }

    #[test]
    fn generated_tools_can_be_the_only_ones() {
        let lists = Lists::new(&Flags { tools: 2, generated_only: true, ..Flags::default() }, 1);
        let names: Vec<_> = lists.tools.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(names, ["tool_1", "tool_2"]);
    }

    #[test]
    fn an_item_is_added_changed_and_removed() {
        let mut lists = Lists::new(&Flags { no_prompts: true, ..Flags::default() }, 1);
        lists.add(Kind::Prompts, "x", "");
        let before = lists.page(Kind::Prompts, None);
        lists.add(Kind::Prompts, "x", " changed");
        assert_ne!(lists.page(Kind::Prompts, None), before);
        assert_eq!(lists.prompts.len(), 1);
        lists.remove(Kind::Prompts, "x");
        assert_eq!(lists.page(Kind::Prompts, None).unwrap(), r#"{"prompts":[]}"#);
    }
}
