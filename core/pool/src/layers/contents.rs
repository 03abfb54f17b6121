//! What one source says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::config::{ServerSpec, Share};
use crate::error::{Error, Result};
use crate::settings::{Format, Input, Lists, Place, Source, Template};

/// What one source says: its servers, its lists, and the inputs that it declares.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Contents {
    /// Its servers.
    pub servers: BTreeMap<Box<str>, Arc<Defined>>,
    /// Which servers it lets in.
    pub lists: Lists,
    /// The inputs that its servers may name.
    pub inputs: Vec<Input>,
    /// By whose rules it was read; nothing for what was given as values.
    pub format: Option<Format>,
}

/// What a source says of one server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Defined {
    /// It.
    pub entry: SourceEntry,
    /// Where it stands in the file.
    pub place: Option<Place>,
}

/// One server of a source.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SourceEntry {
    /// As a settings file has it: its variables are to be expanded.
    Template(Arc<Template>),
    /// As the host gave it: its values are taken literally.
    Literal(Arc<ServerSpec>),
    /// It is wrong.
    Invalid(Error),
}

impl SourceEntry {
    /// Whether its own configuration switches it off.
    pub fn is_disabled(&self) -> bool {
        match self {
            SourceEntry::Template(template) => template.unexpanded().disabled,
            SourceEntry::Literal(spec) => spec.disabled,
            SourceEntry::Invalid(_) => false,
        }
    }
}

impl Contents {
    /// What a host gave as values.
    pub fn literal<K: Into<Box<str>>>(
        servers: impl IntoIterator<Item = (K, Result<ServerSpec>)>,
    ) -> Contents {
        let define = |spec: Result<ServerSpec>| {
            let entry = match spec {
                Ok(spec) => SourceEntry::Literal(Arc::new(spec)),
                Err(error) => SourceEntry::Invalid(error),
            };
            Arc::new(Defined { entry, place: None })
        };
        let servers = servers.into_iter().map(|(name, spec)| (name.into(), define(spec))).collect();
        Contents { servers, ..Contents::default() }
    }

    /// What a settings file says.
    pub fn of_settings(source: Source) -> Contents {
        let Source { servers, lists, inputs, format, .. } = source;
        let servers = servers.into_iter().map(|server| {
            let entry = match server.template {
                Ok(template) => SourceEntry::Template(Arc::new(template)),
                Err(error) => SourceEntry::Invalid(error),
            };
            let defined = Defined { entry, place: Some(server.place) };
            (server.name.into_boxed_str(), Arc::new(defined))
        });
        Contents { servers: servers.collect(), lists, inputs, format: Some(format) }
    }

    /// What a server was read as that a settings file has.
    pub fn template(&self, server: &str) -> Option<Template> {
        match &self.servers.get(server)?.entry {
            SourceEntry::Template(template) => Some(Template::clone(template)),
            SourceEntry::Literal(_) | SourceEntry::Invalid(_) => None,
        }
    }

    /// Whether it says the same, wherever and in whatever order it stands (SPEC 13.3, 13.5).
    pub fn means(&self, other: &Contents) -> bool {
        let Contents { servers, lists, inputs, format: _ } = self;
        let told = |input: &Input| {
            let Input { id, place: _, kind, description, default, secrecy } = input;
            (id.clone(), kind.clone(), description.clone(), default.clone(), *secrecy)
        };
        let set = |list: &[String]| list.iter().cloned().collect::<BTreeSet<String>>();
        servers.keys().eq(other.servers.keys())
            && servers
                .values()
                .zip(other.servers.values())
                .all(|(one, other)| one.entry == other.entry)
            && lists.allowed.as_deref().map(set) == other.lists.allowed.as_deref().map(set)
            && set(&lists.excluded) == set(&other.lists.excluded)
            && inputs.iter().map(told).eq(other.inputs.iter().map(told))
    }

    /// Takes over from what was before what is equal.
    pub(super) fn keep_equals_of(&mut self, before: &Contents) {
        for (name, defined) in &mut self.servers {
            if let Some(old) = before.servers.get(name).filter(|old| **old == *defined) {
                *defined = old.clone();
            }
        }
    }
}

/// What a configuration would grant itself (SPEC 2.1, 11.4, 11.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SelfGrant {
    /// The trust mark of its tools.
    Trust,
    /// That sessions share its connection.
    Share,
}

impl SelfGrant {
    /// The field.
    pub fn as_str(self) -> &'static str {
        match self {
            SelfGrant::Trust => "trust",
            SelfGrant::Share => "share",
        }
    }

    /// What this configuration would grant itself.
    pub fn of(spec: &ServerSpec) -> Vec<SelfGrant> {
        let trust = spec.trust.then_some(SelfGrant::Trust);
        let share = (spec.share == Some(Share::Pool)).then_some(SelfGrant::Share);
        trust.into_iter().chain(share).collect()
    }

    /// Takes it away.
    pub fn revoke(self, spec: &mut ServerSpec) {
        match self {
            SelfGrant::Trust => spec.trust = false,
            SelfGrant::Share => spec.share = None,
        }
    }
}
