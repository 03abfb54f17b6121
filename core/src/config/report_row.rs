//! What a pass meant to one server, as a row of its report. A server that could run and is kept out
//! is reported as any other refusal (SPEC 13.2, 13.4).

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};
use trunkline_pool::layers::SourceName;
use trunkline_pool::view::View;

use super::types::{ConfigStatus, PendingOn, ServerRecord};
use crate::Error;
use crate::driver::server_config::ResolvedServer;

/// What a pass meant to one server, as a row of the report.
#[derive(Clone, Debug)]
pub(crate) struct ReconcileRow {
    pub(crate) applied: Applied,
    source: Option<Arc<SourceName>>,
    pub(crate) reason: Option<&'static str>,
    error: Option<Error>,
    /// Whether it is other than before.
    pub(crate) is_news: bool,
}

/// What a pass meant to one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// Nothing.
    Unchanged,
    /// Another view of the same connection.
    Reviewed,
    /// It is new.
    Added,
    /// It is another connection from here on.
    Replaced,
    /// It is gone.
    Removed,
    /// It is wrong.
    Invalid,
    /// It may not run.
    Refused,
    /// The host is asked for something of it.
    Waiting,
}

/// How much the rows of a report say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowDetail {
    /// What happened, and what is wrong.
    Plain,
    /// The source as well.
    Sourced,
}

impl Applied {
    fn between(old: Option<&Arc<ResolvedServer>>, new: &Arc<ResolvedServer>) -> Applied {
        match old {
            None => Applied::Added,
            Some(old) if Arc::ptr_eq(old, new) => Applied::Unchanged,
            Some(old) if !old.is_same_connection(new) => Applied::Replaced,
            Some(old) if View::of(old.spec()) != View::of(new.spec()) => Applied::Reviewed,
            Some(_) => Applied::Unchanged,
        }
    }

    /// The word in a report.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Applied::Unchanged => "unchanged",
            Applied::Reviewed => "reviewed",
            Applied::Added => "added",
            Applied::Replaced => "replaced",
            Applied::Removed => "removed",
            Applied::Invalid => "invalid",
            Applied::Refused => "refused",
            Applied::Waiting => "waiting",
        }
    }
}

impl ReconcileRow {
    pub(crate) fn of(applied: Applied) -> ReconcileRow {
        let is_news = applied != Applied::Unchanged;
        ReconcileRow { applied, source: None, reason: None, error: None, is_news }
    }

    /// From what a name had to what it has.
    pub(crate) fn between(
        (earlier, old): (Option<&ServerRecord>, Option<&Arc<ResolvedServer>>),
        (named, new): (&ServerRecord, Option<&Arc<ResolvedServer>>),
    ) -> ReconcileRow {
        // What ends what ran is news, though the entry stands as it stood.
        let is_lost = old.is_some() && new.is_none();
        let is_news =
            is_lost || earlier.is_none_or(|earlier| !earlier.standing.is(&named.standing));
        let row = match (&named.standing, new) {
            (ConfigStatus::Runs, Some(new)) => {
                let row = ReconcileRow::of(Applied::between(old, new));
                // One that waited, or was wrong, is as it was: those who heard of that hear of the
                // end.
                ReconcileRow { is_news: row.is_news || is_news, ..row }
            }
            (ConfigStatus::Runs, None) => ReconcileRow::of(Applied::Removed),
            (ConfigStatus::Shut(reason), _) => ReconcileRow {
                reason: Some(reason.as_str()),
                is_news,
                ..ReconcileRow::of(Applied::Refused)
            },
            (ConfigStatus::Invalid(error), _) => ReconcileRow {
                error: Some(error.clone()),
                is_news,
                ..ReconcileRow::of(Applied::Invalid)
            },
            (ConfigStatus::Waiting(PendingOn::Host), _) => {
                ReconcileRow { is_news, ..ReconcileRow::of(Applied::Waiting) }
            }
            (ConfigStatus::Waiting(PendingOn::Files), _) => {
                ReconcileRow { is_news: is_lost, ..ReconcileRow::of(Applied::Waiting) }
            }
        };
        ReconcileRow { source: Some(named.origin.source.clone()), ..row }
    }

    /// As JSON: `{action, source?, reason?, error?}`.
    pub(crate) fn to_json(&self, detail: RowDetail) -> Value {
        let mut out = Map::new();
        out.insert("action".into(), self.applied.as_str().into());
        let source = self
            .source
            .as_ref()
            .filter(|_| detail == RowDetail::Sourced)
            .map(|source| source.to_string().into());
        let reason = self.reason.map(Value::from);
        let error = self.error.as_ref().map(|error| error.to_json());
        let rest = [("source", source), ("reason", reason), ("error", error)];
        out.extend(rest.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        out.into()
    }

    /// From what a name had to what it has, as far as that may run.
    pub(crate) fn of_change(
        (earlier, old): (Option<&ServerRecord>, Option<&Arc<ResolvedServer>>),
        (named, new): (&ServerRecord, Option<&Arc<ResolvedServer>>),
    ) -> ReconcileRow {
        let old = earlier.map_or(old, |earlier| earlier.let_in(old));
        let new = named.let_in(new);
        let earlier = earlier.map(ServerRecord::told);
        let mut row = ReconcileRow::between((earlier.as_deref(), old), (&named.told(), new));
        row.is_news |= old.is_some() != new.is_some();
        row
    }
}

impl ServerRecord {
    /// It, as it is told.
    fn told(&self) -> Cow<'_, ServerRecord> {
        match (self.kept_out, &self.standing) {
            (Some(reason), ConfigStatus::Runs) => {
                Cow::Owned(ServerRecord { standing: ConfigStatus::Shut(reason), ..self.clone() })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// What it has, unless that is kept out.
    fn let_in<'a>(&self, has: Option<&'a Arc<ResolvedServer>>) -> Option<&'a Arc<ResolvedServer>> {
        has.filter(|_| self.kept_out.is_none())
    }
}
