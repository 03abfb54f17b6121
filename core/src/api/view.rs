//! What a session sees: the catalogs of the servers that it holds, filtered and named.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::explain::Reason;
use trunkline_pool::naming::{NameMap, ToolName};
use trunkline_pool::view::{Marks, View};

use super::explain::{tool_among, tool_quarantined};
use super::held::Held;
use super::session::SessionCore;
use super::told::Sight;
use crate::Result;

/// A listed tool, prompt, resource or resource template.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// Tools: the exposed name. Others: the server's own name, or URI.
    pub name: Arc<str>,
    /// The server.
    pub server: Arc<str>,
    /// The server's own name, or URI.
    pub own_name: Arc<str>,
    /// The definition, as the server sent it.
    pub definition: Arc<str>,
    /// Whether the session trusts the server; its own mark, which no other session sees (SPEC 6.2).
    pub trust: bool,
    /// Tools: whether the session wants it loaded whatever else is deferred; its own mark.
    pub always_load: bool,
}

impl Listed {
    /// `{"name", "server", "own_name", "trust", "always_load", "definition"}` as JSON text, the definition unchanged.
    pub fn to_json(&self) -> String {
        let [name, server, own_name] =
            [&self.name, &self.server, &self.own_name].map(|text| Value::from(&**text).to_string());
        let Listed { definition, trust, always_load, .. } = self;
        format!(
            r#"{{"name":{name},"server":{server},"own_name":{own_name},"trust":{trust},"always_load":{always_load},"definition":{definition}}}"#
        )
    }
}

/// A session's view of all its servers, made from catalogs that were published together with their states.
pub(crate) struct Lists {
    /// As long as all are the same, so is the view.
    made_of: Vec<Sight>,
    /// By exposed name.
    pub tools: Arc<[Listed]>,
    /// By name.
    pub prompts: Arc<[Listed]>,
    /// By URI.
    pub resources: Arc<[Listed]>,
    /// By URI template.
    pub resource_templates: Arc<[Listed]>,
    names: NameMap,
    /// The names that tools would have which are held back.
    held_names: NameMap,
    seen: Vec<Arc<Held>>,
}

impl Lists {
    /// Whether it is still what these holds show.
    pub(super) fn is_current(&self, held: &[Arc<Held>]) -> bool {
        let mut before = self.made_of.iter();
        let mut now = held.iter().map(|held| Sight::of(held)).filter(|sight| sight.shows);
        now.all(|now| before.next().is_some_and(|before| before.is_same(&now)))
            && before.next().is_none()
    }

    /// The view of a session with these holds, in the order of their servers' names.
    pub(super) fn new(session: &SessionCore, held: &[Arc<Held>]) -> Lists {
        let seen: Vec<(&Arc<str>, Sight)> = held
            .iter()
            .map(|held| (&held.server, Sight::of(held)))
            .filter(|(_, sight)| sight.shows)
            .collect();
        let tool = |server: &Arc<str>, item: &Item| ToolName {
            server: server.clone(),
            tool: item.name.clone(),
        };
        let own = |(server, view, item): Row<'_>| listed(server, view, item, item.name.clone());
        let all = |list: fn(&Catalog) -> &[Item]| {
            seen.iter().flat_map(move |(server, seen)| {
                list(&seen.catalog).iter().map(move |item| (*server, &*seen.view, item))
            })
        };
        let visible = |list: fn(&Catalog) -> &[Item]| {
            all(list).filter(|(_, view, item)| view.admits(&item.name))
        };
        let names = NameMap::new(
            visible(|catalog| &catalog.tools).map(|(server, _, item)| tool(server, item)),
            &session.driver.reserved_names,
        );
        let held_back = seen.iter().flat_map(|(server, seen)| {
            let tools = seen.held_back.tools().iter().map(|held| &held.item);
            tools.filter(|item| seen.view.admits(&item.name)).map(|item| tool(server, item))
        });
        let held_names = NameMap::new(held_back, &session.driver.reserved_names);
        let definitions: HashMap<ToolName, Row<'_>> =
            visible(|catalog| &catalog.tools).map(|row| (tool(row.0, row.2), row)).collect();
        let tools = names.iter().filter_map(|(exposed, name)| {
            let (server, view, item) = *definitions.get(name)?;
            Some(listed(server, view, item, exposed.clone()))
        });
        Lists {
            tools: tools.collect(),
            prompts: sorted(visible(|catalog| &catalog.prompts).map(own)),
            resources: sorted(all(|catalog| &catalog.resources).map(own)),
            resource_templates: sorted(all(|catalog| &catalog.resource_templates).map(own)),
            made_of: seen.iter().map(|(_, seen)| seen.clone()).collect(),
            names,
            held_names,
            seen: held.to_vec(),
        }
    }

    /// The hold and the server's own name of an exposed tool: looked up, never parsed (SPEC 14.3).
    ///
    /// # Errors
    /// `tool_not_found`, with the server that the name would belong to, and why it is not there.
    pub(super) fn resolve(
        &self,
        session: &SessionCore,
        exposed: &str,
    ) -> Result<(&Arc<Held>, &str)> {
        if let Some(held_back) = self.held_names.resolve(exposed) {
            return Err(tool_quarantined(&held_back.tool).with_server(&*held_back.server));
        }
        let name = self.names.resolve(exposed);
        let found = name.and_then(|name| {
            let held = self.seen.iter().find(|held| held.server == name.server)?;
            Some((held, &*name.tool))
        });
        found.ok_or_else(|| session.no_such_tool(self, exposed))
    }

    /// The server of a tool that is there, or held back.
    pub(super) fn server_of(&self, exposed: &str) -> Option<Arc<str>> {
        let named = self.names.resolve(exposed).or_else(|| self.held_names.resolve(exposed));
        named.map(|name| name.server.clone())
    }

    /// The servers of which it shows something.
    pub(super) fn servers(&self) -> impl Iterator<Item = &str> {
        self.made_of.iter().map(|sight| &*sight.cell.server)
    }

    /// Why a tool of a server that it shows is not there.
    pub(super) fn why_no_tool(
        &self,
        server: &str,
        name: (&str, &BTreeSet<String>),
    ) -> (Option<Reason>, Option<String>) {
        let sights = self.made_of.iter().filter(|sight| &*sight.cell.server == server);
        let mut whys = sights
            .map(|sight| tool_among(server, (&sight.catalog, &sight.held_back), &sight.view, name));
        whys.next().unwrap_or((Some(Reason::Unknown), None))
    }
}

/// One item of a list, of which server, and what the session makes of it.
type Row<'a> = (&'a Arc<str>, &'a View, &'a Item);

fn listed(server: &Arc<str>, view: &View, item: &Item, name: Arc<str>) -> Listed {
    let Marks { trust, always_load } = view.marks(&item.name);
    let (own_name, definition) = (item.name.clone(), item.definition.clone());
    Listed { name, server: server.clone(), own_name, definition, trust, always_load }
}

fn sorted(items: impl Iterator<Item = Listed>) -> Arc<[Listed]> {
    let mut items: Vec<_> = items.collect();
    items.sort_by(|a, b| (&a.name, &a.server).cmp(&(&b.name, &b.server)));
    items.into()
}
