//! A server as a file describes it, before its variables are expanded.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::format::Variables;
use super::notes::Notes;
use super::origin::{TemplateOrigin, WrittenEntry};
use super::placeholders;
use super::position::Place;
use crate::config::ServerSpec;
use crate::error::{Error, ErrorCode, Result};

/// A server as a file describes it: in the pool's own terms, with its variables as they are
/// written.
///
/// Two templates are equal when they mean the same, wherever and however they are written. `Debug`
/// prints no value.
#[derive(Clone)]
pub struct Template {
    meaning: Arc<TemplateMeaning>,
    told: Arc<Told>,
}

/// What it does.
struct TemplateMeaning {
    configuration: Map<String, Value>,
    spec: ServerSpec,
    env_file: Option<String>,
    /// Whether `${file:…}` takes the text of a file; elsewhere it is an unknown variable.
    reads_files: bool,
}

/// Where it stands, and how it is written.
#[derive(Clone)]
struct Told {
    provenance: Vec<Provenance>,
    notes: Notes,
    origin: TemplateOrigin,
}

impl Template {
    /// The template of what an entry was translated to.
    ///
    /// # Errors
    /// `invalid_config`, in the terms of the file.
    pub(super) fn new(
        configuration: Map<String, Value>,
        env_file: Option<String>,
        provenance: Vec<Provenance>,
        (origin, notes): (TemplateOrigin, Notes),
    ) -> Result<Template> {
        let spec = placeholders::parse(&origin.server, &configuration)
            .map_err(|error| origin.retold(&error))?;
        let reads_files = origin.format.row().variables == Variables::Braces;
        let meaning = Arc::new(TemplateMeaning { configuration, spec, env_file, reads_files });
        Ok(Template { meaning, told: Arc::new(Told { provenance, notes, origin }) })
    }

    /// What that entry would be read as, where it is written as the one that this was read from,
    /// wherever it stands now.
    pub(super) fn again(&self, entry: &WrittenEntry<'_>) -> Option<Template> {
        let shift = self.told.origin.moved_to(entry)?;
        if shift.is_none() {
            return Some(self.clone());
        }
        let mut told = Told::clone(&self.told);
        told.origin.node = entry.node.clone();
        let Notes { approvals, findings } = &mut told.notes;
        let provenance = told.provenance.iter_mut().map(|one| &mut one.place);
        let approvals = approvals.iter_mut().map(|one| &mut one.place);
        let findings = findings.iter_mut().map(|one| &mut one.place);
        provenance.chain(approvals).chain(findings).for_each(|place| *place = shift.of(*place));
        Some(Template { meaning: self.meaning.clone(), told: Arc::new(told) })
    }

    /// What the entry says without effect, or of what may run unasked.
    pub(super) fn notes(&self) -> &Notes {
        &self.told.notes
    }

    /// The configuration in the pool's own form, variables and all. Its values may be secrets.
    pub fn configuration(&self) -> &Map<String, Value> {
        &self.meaning.configuration
    }

    /// The same, parsed. Its texts still hold variables, so that it must not be connected to.
    pub fn unexpanded(&self) -> &ServerSpec {
        &self.meaning.spec
    }

    /// The file of variables that join the environment, below what the entry itself sets; not read
    /// yet.
    pub fn env_file(&self) -> Option<&str> {
        self.meaning.env_file.as_deref()
    }

    /// Whether its texts may be what files say, as its product has it.
    pub(crate) fn reads_files(&self) -> bool {
        self.meaning.reads_files
    }

    /// This, in which texts may be what files say where they may in another: it is what became of
    /// that one.
    #[must_use]
    pub fn made_of(self, other: &Template) -> Template {
        let Template { meaning, told } = self;
        let TemplateMeaning { configuration, spec, env_file, reads_files } = &*meaning;
        let meaning = TemplateMeaning {
            configuration: configuration.clone(),
            spec: spec.clone(),
            env_file: env_file.clone(),
            reads_files: *reads_files || other.reads_files(),
        };
        Template { meaning: Arc::new(meaning), told }
    }

    /// What it does. Where it stands and how it is written is apart: taken apart without `..`, so
    /// that a new field has to be put on one side or the other.
    pub(crate) fn behaviour(&self) -> (&ServerSpec, Option<&str>) {
        // The specification is all of the configuration, parsed; where files are read, their paths
        // are in it.
        let Template { meaning, told: _ } = self;
        let TemplateMeaning { configuration: _, spec, env_file, reads_files: _ } = &**meaning;
        (spec, env_file.as_deref())
    }

    /// The fields that were read other than the pool's own configuration would read them.
    pub fn provenance(&self) -> &[Provenance] {
        &self.told.provenance
    }

    /// The server from this template's configuration with its variables expanded.
    ///
    /// # Errors
    /// `invalid_config` in the terms of the file, with `detail.source`, `path`, `line` and
    /// `column`.
    pub fn spec_of(&self, expanded: &Map<String, Value>) -> Result<ServerSpec> {
        let parsed =
            ServerSpec::from_value(&self.told.origin.server, &Value::Object(expanded.clone()));
        parsed.map_err(|error| self.told.origin.retold(&error))
    }

    /// The server from this template's configuration with only some of its variables expanded; it
    /// must not be connected to.
    ///
    /// # Errors
    /// As those of [`spec_of`](Template::spec_of), as far as the variables that are left let it be
    /// told.
    pub(crate) fn looked_up(&self, looked_up: &Map<String, Value>) -> Result<ServerSpec> {
        let parsed = placeholders::parse(&self.told.origin.server, looked_up);
        parsed.map_err(|error| self.told.origin.retold(&error))
    }

    /// An error about a field of the configuration, such as `env.TOKEN`, in the terms of the file.
    pub fn error(&self, code: ErrorCode, path: &str, message: &str) -> Error {
        self.told.origin.retold(&Error::new(code, message).with_detail("path", path))
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Template) -> bool {
        // What was read once is often the same.
        Arc::ptr_eq(&self.meaning, &other.meaning) || self.behaviour() == other.behaviour()
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template")
            .field("spec", self.unexpanded())
            .field("provenance", &self.provenance())
            .finish_non_exhaustive()
    }
}

/// A field that was read by the rule of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provenance {
    /// The path in the pool's own configuration.
    pub field: String,
    /// The path in the entry of the file.
    pub path: String,
    /// Where it stands.
    pub place: Place,
    /// How it was read.
    pub rule: Rule,
}

/// How a field was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Its name is the product's.
    Renamed,
    /// A time in milliseconds, as the product has it.
    Milliseconds,
    /// A time in milliseconds, since nothing says whose file it is.
    AssumedMilliseconds,
    /// A time in seconds.
    Seconds,
    /// A time as a text.
    DurationText,
    /// The first item is the program, the rest are its arguments.
    CommandLine,
    /// An address whose protocol is found out.
    BareAddress,
    /// An address whose protocol the product settles.
    ProductsAddress,
    /// A variable without a value is taken away.
    NullUnsets,
    /// A variable without a value is the host's.
    NullInherits,
    /// A number as a text.
    NumberAsText,
    /// A header made of a variable or a token.
    Header,
    /// A variable that the host keeps.
    SecretName,
    /// The product's way to write variables.
    Variables,
    /// An empty list is everything.
    EmptyIsEverything,
}

impl Rule {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Renamed => "renamed",
            Rule::Milliseconds => "milliseconds",
            Rule::AssumedMilliseconds => "assumed_milliseconds",
            Rule::Seconds => "seconds",
            Rule::DurationText => "duration_text",
            Rule::CommandLine => "command_line",
            Rule::BareAddress => "bare_address",
            Rule::ProductsAddress => "products_address",
            Rule::NullUnsets => "null_unsets",
            Rule::NullInherits => "null_inherits",
            Rule::NumberAsText => "number_as_text",
            Rule::Header => "header",
            Rule::SecretName => "secret_name",
            Rule::Variables => "variables",
            Rule::EmptyIsEverything => "empty_is_everything",
        }
    }
}
