//! What the pool tells of settings that were kept without effect, or left out (SPEC 2.1, 10.3,
//! 11.7).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use trunkline_pool::layers::{Contents, Scope, SelfGrant, SourceName};
use trunkline_pool::settings::{FINDINGS_MAX, FindingKind, Place, ReadOptions, Source, read_again};

use crate::{Result, ServerSpec};

/// What a text says that is a source, or becomes one.
#[derive(Default)]
pub(crate) struct ParsedSource {
    pub(crate) contents: Contents,
    pub(crate) findings: Findings,
}

impl ParsedSource {
    /// What a text says as a source of that scope. What the source said before saves the reading of
    /// what is written the same.
    ///
    /// # Errors
    /// `invalid_config` for a text that cannot be read as a whole.
    pub(crate) fn read(
        text: &str,
        file: &str,
        options: &ReadOptions,
        (scope, before): (Scope, Option<&Contents>),
    ) -> Result<ParsedSource> {
        let source = read_again(text, file, options, &|server| before?.template(server))?;
        let findings = Findings::of(&source, scope);
        Ok(ParsedSource { contents: Contents::of_settings(source), findings })
    }
}

/// What a text says without effect, at most as many as are kept of one file.
#[derive(Clone, Default)]
pub(crate) struct Findings(Vec<Finding>);

/// One of them.
#[derive(Clone)]
struct Finding {
    /// One of those of reading, [`APPROVAL`] or [`SKIPPED`].
    kind: &'static str,
    server: Option<String>,
    path: String,
    place: Place,
    /// What it is instead of a server.
    what: Option<String>,
}

/// All of a finding but its place.
type FindingParts<'a> = (&'a str, Option<&'a str>, &'a str, Option<&'a str>);

/// The kind of a word that something may run unasked.
const APPROVAL: &str = "approval";

/// The kind of an entry that is part of the product itself.
const SKIPPED: &str = "skipped";

/// The longest text of a finding, in characters: more than a name that is meant. Of a longer one
/// the beginning is shown, since events of many changes may wait to be read.
const SHOWN_MAX: usize = 512;

impl Findings {
    fn of(source: &Source, scope: Scope) -> Findings {
        let found = source.findings.iter().map(|one| {
            Finding::new(one.kind.as_str(), one.server.as_deref(), &one.path, one.place)
        });
        let approvals = source
            .approvals
            .iter()
            .map(|one| Finding::new(APPROVAL, one.server.as_deref(), &one.path, one.place));
        let servers = source.servers.iter().filter(|_| scope.is_gated());
        let granted = servers.flat_map(|server| {
            let template = server.template.as_ref().ok();
            let granted = template.map(|template| SelfGrant::of(template.unexpanded()));
            granted.into_iter().flatten().map(|granted| {
                let kind = FindingKind::NoEffect.as_str();
                Finding::new(kind, Some(&server.name), granted.as_str(), server.place)
            })
        });
        let skipped = source.skipped.iter().map(|one| Finding {
            what: Some(cut(&one.what)),
            ..Finding::new(SKIPPED, Some(&one.name), "", one.place)
        });
        // What concerns approval comes first, then whole entries: of very many the rest is left
        // out.
        let all = approvals.chain(granted).chain(skipped).chain(found);
        Findings(all.take(FINDINGS_MAX).collect())
    }

    /// Whether they are the same, wherever they stand.
    pub(crate) fn means(&self, other: &Findings) -> bool {
        self.told() == other.told()
    }

    fn told(&self) -> BTreeSet<FindingParts<'_>> {
        self.0.iter().map(Finding::told).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `[{kind, path, line, column, server?, what?}]`.
    pub(crate) fn to_json(&self) -> Value {
        self.0.iter().map(Finding::to_json).collect()
    }

    /// The same, each with its source.
    pub(crate) fn rows_of(&self, source: &SourceName) -> Vec<Value> {
        let row = |finding: &Finding| {
            let mut row = finding.to_json();
            row["source"] = source.to_string().into();
            row
        };
        self.0.iter().map(row).collect()
    }
}

impl Finding {
    fn new(kind: &'static str, server: Option<&str>, path: &str, place: Place) -> Finding {
        Finding { kind, server: server.map(cut), path: cut(path), place, what: None }
    }

    /// All of it but its place.
    fn told(&self) -> FindingParts<'_> {
        let Finding { kind, server, path, place: _, what } = self;
        (kind, server.as_deref(), path, what.as_deref())
    }

    fn to_json(&self) -> Value {
        let Finding { kind, server, path, place, what } = self;
        let mut row =
            json!({ "kind": kind, "path": path, "line": place.line, "column": place.column });
        for (member, value) in [("server", server), ("what", what)] {
            if let Some(value) = value {
                row[member] = value.as_str().into();
            }
        }
        row
    }
}

/// The members without effect of servers that the host itself configures:
/// `[{kind, server, path, nearest?}]`, at most as many as are kept of a file.
pub(crate) fn unknown_of<'a>(
    servers: impl IntoIterator<Item = (&'a str, &'a ServerSpec)>,
) -> Vec<Value> {
    let of = |(server, spec): (&'a str, &'a ServerSpec)| {
        spec.unknown_members().map(move |(path, nearest)| {
            let kind = FindingKind::Unknown.as_str();
            let mut row = json!({ "kind": kind, "server": cut(server), "path": cut(path) });
            if let Some(nearest) = nearest {
                row["nearest"] = nearest.into();
            }
            row
        })
    };
    servers.into_iter().flat_map(of).take(FINDINGS_MAX).collect()
}

/// A text, or the beginning of a longer one.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
