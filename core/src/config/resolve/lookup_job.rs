//! One thing to look up in the file system, and what was found: as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::approvals::Declared;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::expand::LookedUp;
use trunkline_pool::layers::SourceName;
use trunkline_pool::settings::Template;

use super::launch_preview::{Command, LaunchPreview};
use super::lookup_cell::SightBasis;
use crate::Result;

/// One thing to look up.
pub(crate) struct LookupJob {
    pub(crate) number: u64,
    /// Whose it is; nobody's are the decisions.
    pub(crate) of: Option<(Box<str>, Arc<SourceName>)>,
    pub(crate) need: LookupSubject,
}

pub(crate) enum LookupSubject {
    Sight(Arc<Template>, Declared, Box<LookedUp>),
    Variables(Arc<Template>, Box<str>),
    Claim(Arc<ServerSpec>),
    Book,
}

/// What was found.
pub(crate) struct LookupResult {
    pub(crate) number: u64,
    pub(crate) name: Box<str>,
    pub(crate) what: LookupValue,
}

pub(crate) enum LookupValue {
    Sight(Result<(LaunchPreview, Command)>),
    Variables(Result<BTreeMap<String, String>>),
    /// Nothing, of one that was lost.
    Claim(Option<LaunchPreview>),
    Book,
}

impl LookupJob {
    /// What was decided.
    pub(crate) fn of_book(number: u64) -> LookupJob {
        LookupJob { number, of: None, need: LookupSubject::Book }
    }

    /// What would run of an entry.
    pub(crate) fn of_sight(
        number: u64,
        (name, source): (&str, &Arc<SourceName>),
        (template, declared): (&Arc<Template>, &Declared),
        (looked_up, _): &SightBasis,
    ) -> LookupJob {
        let need = LookupSubject::Sight(template.clone(), declared.clone(), looked_up.clone());
        LookupJob { number, of: Some((name.into(), source.clone())), need }
    }

    /// What an entry's file of variables says.
    pub(crate) fn of_variables(
        number: u64,
        (name, source): (&str, &Arc<SourceName>),
        template: &Arc<Template>,
        path: &str,
    ) -> LookupJob {
        let need = LookupSubject::Variables(template.clone(), path.into());
        LookupJob { number, of: Some((name.into(), source.clone())), need }
    }

    /// What would run of a configuration that a session brought.
    pub(crate) fn of_claim(
        number: u64,
        (name, source): (&str, &Arc<SourceName>),
        spec: &Arc<ServerSpec>,
    ) -> LookupJob {
        LookupJob {
            number,
            of: Some((name.into(), source.clone())),
            need: LookupSubject::Claim(spec.clone()),
        }
    }

    /// Its source: looks of different ones do not wait for each other.
    pub(crate) fn source(&self) -> Option<&Arc<SourceName>> {
        self.of.as_ref().map(|(_, source)| source)
    }

    /// Whose it is.
    pub(crate) fn name(&self) -> Option<&str> {
        self.of.as_ref().map(|(name, _)| &**name)
    }
}
