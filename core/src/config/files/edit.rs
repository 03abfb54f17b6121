//! Edits of sources by the host: each is one change, and its report.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::config::{ServerSpec, check_name};
use trunkline_pool::gates::GateLists;
use trunkline_pool::layers::{Contents, Scope, SourceEntry, SourceName, Switch};
use trunkline_pool::settings::ReadOptions;

use super::findings::{Findings, ParsedSource, unknown_of};
use crate::config::Config;
use crate::config::desired::{Desired, TrustUpdate};
use crate::config::pass::ReconcileReport;
use crate::config::report_row::RowDetail;
use crate::config::types::RefreshScope;
use crate::driver::server_config::Servers;
use crate::{Error, ErrorCode, Result};

impl Config {
    /// Replaces a source by the text of settings, or removes it; the report.
    ///
    /// # Errors
    /// `invalid_config` for a text that cannot be read, `invalid_argument` for the source
    /// `runtime`.
    pub(crate) fn set_source(
        self: &Arc<Self>,
        source: &SourceName,
        settings: Option<&str>,
    ) -> Result<Value> {
        if source.scope() == Scope::Runtime {
            let message =
                "the source `runtime` is set by `reconcile`, `add_server` and `remove_server`";
            return Err(
                Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "source")
            );
        }
        let workspace = self.driver.workspace.to_str().map(str::to_owned);
        let read = settings.map(|text| {
            let options = ReadOptions { workspace, ..ReadOptions::default() };
            let file = match source.part() {
                "" => source.scope().as_str(),
                part => part,
            };
            ParsedSource::read(
                text,
                file,
                &options,
                (source.scope(), self.says_now(source).as_deref()),
            )
        });
        Ok(self.put_source(source, read.transpose()?))
    }

    /// Switches a source off, or on again; the report.
    pub(crate) fn switch_source(self: &Arc<Self>, source: &SourceName, to: Switch) -> Value {
        let passed = self.change(|desired| {
            desired.layers.switch(source, to);
        });
        report(Some(source), &passed)
    }

    /// Puts a server into the run-time source; the report.
    ///
    /// # Errors
    /// `invalid_config` for a name that no server can have.
    pub(crate) fn add_server(self: &Arc<Self>, server: &str, spec: &ServerSpec) -> Result<Value> {
        check_name(server)?;
        let passed = self.change_with(RefreshScope::No, |desired| {
            let entry = SourceEntry::Literal(Arc::new(spec.clone()));
            desired.layers.set(&SourceName::of_scope(Scope::Runtime), server, Some(entry));
            BTreeSet::from([server.into()])
        });
        let (result, reason) = passed.result(server);
        let mut report = json!({ "v": 1, "server": server, "result": result });
        if let Some(reason) = reason {
            report["reason"] = reason.into();
        }
        Ok(with_unknown(report, [(server, spec)]))
    }

    /// Takes a server out of the run-time source; the report.
    pub(crate) fn remove_server(self: &Arc<Self>, server: &str) -> Value {
        let mut was_there = false;
        self.change(|desired| {
            was_there = desired.layers.set(&SourceName::of_scope(Scope::Runtime), server, None);
        });
        let result = if was_there { "removed" } else { "not_present" };
        json!({ "v": 1, "server": server, "result": result })
    }

    /// Sets the trust in the workspace, unless a newer word did; the report.
    ///
    /// # Errors
    /// `internal` when the process ends.
    pub(crate) async fn set_trusted(self: &Arc<Self>, word: TrustUpdate) -> Result<Value> {
        Ok(report(None, &self.set_trust(word).await?))
    }

    /// Replaces the run-time source. Subscribers of the pool hear of it, unless it changed nothing.
    pub(crate) async fn reconcile(self: &Arc<Self>, servers: Servers) -> Result<Value> {
        let valid =
            servers.0.iter().filter_map(|(name, spec)| Some((&**name, spec.as_ref().ok()?)));
        let mut report = with_unknown(json!({ "v": 1 }), valid);
        let replace = |desired: &mut Desired| {
            let now = Contents::literal(servers.0);
            let name = SourceName::of_scope(Scope::Runtime);
            let names = |contents: &Contents| contents.servers.keys().cloned().collect::<Vec<_>>();
            let mut mentioned: BTreeSet<Box<str>> = names(&now).into_iter().collect();
            let before = desired.layers.put(name, now);
            mentioned.extend(before.iter().flat_map(|before| names(before)));
            mentioned
        };
        let passed = self.change_apart(RefreshScope::No, replace).await?;
        report["servers"] = passed.rows_to_json(RowDetail::Plain);
        Ok(report)
    }

    /// Sets the host's lists.
    pub(crate) fn set_host_lists(self: &Arc<Self>, lists: GateLists) {
        self.change(|desired| desired.host_lists = lists);
    }

    /// What a source says by what was read of it last.
    pub(crate) fn says_now(&self, source: &SourceName) -> Option<Arc<Contents>> {
        self.desired().layers.contents(source).cloned()
    }

    /// Replaces a source, or removes it; the report.
    fn put_source(self: &Arc<Self>, source: &SourceName, said: Option<ParsedSource>) -> Value {
        let findings = said.as_ref().map(|said| said.findings.clone()).unwrap_or_default();
        let mut was_file = false;
        let begun = self.begin(RefreshScope::No, |desired| {
            let mentioned = names(said.as_ref().map(|said| &said.contents));
            was_file = said.is_none() && desired.files.contains_key(source);
            desired.put(source, said);
            mentioned
        });
        if was_file {
            self.watch_files();
        }
        report_with_findings(source, &begun.here(), &findings)
    }
}

pub(crate) fn names(contents: Option<&Contents>) -> BTreeSet<Box<str>> {
    contents.into_iter().flat_map(|contents| contents.servers.keys().cloned()).collect()
}

/// The report, with `findings` where members of these servers have no effect.
fn with_unknown<'a>(
    mut report: Value,
    servers: impl IntoIterator<Item = (&'a str, &'a ServerSpec)>,
) -> Value {
    let findings = unknown_of(servers);
    if !findings.is_empty() {
        report["findings"] = findings.into();
    }
    report
}

/// `{v, source, servers, findings}`.
pub(crate) fn report_with_findings(
    source: &SourceName,
    passed: &ReconcileReport,
    findings: &Findings,
) -> Value {
    let mut report = report(Some(source), passed);
    report["findings"] = findings.to_json();
    report
}

/// `{v, source?, servers}`.
fn report(source: Option<&SourceName>, passed: &ReconcileReport) -> Value {
    let mut report = json!({ "v": 1 });
    if let Some(source) = source {
        report["source"] = source.to_string().into();
    }
    report["servers"] = passed.rows_to_json(RowDetail::Sourced);
    report
}
