//! What a report says of settings that were kept without effect (SPEC 2.1, 10.3, 11.7).

use serde_json::{Map, Value};
use trunkline_pool::layers::{Granted, Scope};
use trunkline_pool::settings::{FINDINGS_MAX, FindingKind, Place, Source};

/// The findings of a text that becomes a source of that scope: `[{kind, path, line, column, server?}]`, at most as many as are kept of one file.
/// Kinds are those of reading, and `approval` for a word that something may run unasked.
pub(super) fn findings(source: &Source, scope: Scope) -> Vec<Value> {
    let found = source.findings.iter().map(|finding| {
        row(finding.kind.as_str(), finding.server.as_deref(), &finding.path, finding.place)
    });
    let approvals = source
        .approvals
        .iter()
        .map(|approval| row(APPROVAL, approval.server.as_deref(), &approval.path, approval.place));
    let servers = source.servers.iter().filter(|_| scope.is_gated());
    let granted = servers.flat_map(|server| {
        let template = server.template.as_ref().ok();
        let granted = template.map(|template| Granted::of(template.unexpanded()));
        granted.into_iter().flatten().map(|granted| {
            let kind = FindingKind::NoEffect.as_str();
            row(kind, Some(&server.name), granted.as_str(), server.place)
        })
    });
    // What concerns approval comes first: of very many the rest is left out.
    approvals.chain(granted).chain(found).take(FINDINGS_MAX).collect()
}

/// A report with what was found.
pub(super) fn with_findings(mut report: Value, findings: Vec<Value>) -> Value {
    report["findings"] = findings.into();
    report
}

/// The kind of a word that something may run unasked.
const APPROVAL: &str = "approval";

fn row(kind: &str, server: Option<&str>, path: &str, place: Place) -> Value {
    let mut row = Map::new();
    row.insert("kind".into(), kind.into());
    row.insert("path".into(), path.into());
    row.insert("line".into(), place.line.into());
    row.insert("column".into(), place.column.into());
    row.extend(server.map(|server| ("server".to_owned(), server.into())));
    row.into()
}
