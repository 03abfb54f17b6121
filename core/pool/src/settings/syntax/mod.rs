//! Settings files as trees whose every part knows its place, whatever their syntax.

mod escapes;
mod json;
mod node;
mod number;
mod toml;
mod yaml;

pub(super) use node::{Content, Flaw, SyntaxFault, SyntaxMember, SyntaxNode, leads_to};

/// The syntaxes of settings files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Syntax {
    /// JSON, with comments, trailing commas and what else JSON5 allows.
    Json,
    /// TOML.
    Toml,
    /// YAML, as far as it has one meaning: no merge keys, no tags of applications, one document.
    Yaml,
}

impl Syntax {
    /// The syntax that the end of a file's name says.
    pub(super) fn of_file(file: &str) -> Option<Syntax> {
        match file.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "json" | "jsonc" | "json5" => Some(Syntax::Json),
            "toml" => Some(Syntax::Toml),
            "yaml" | "yml" => Some(Syntax::Yaml),
            _ => None,
        }
    }

    pub(super) fn parse(self, text: &str) -> Result<SyntaxNode, SyntaxFault> {
        match self {
            Syntax::Json => json::parse(text),
            Syntax::Toml => toml::parse(text),
            Syntax::Yaml => yaml::parse(text),
        }
    }

    /// The word for a sentence.
    pub(super) fn name(self) -> &'static str {
        match self {
            Syntax::Json => "JSON",
            Syntax::Toml => "TOML",
            Syntax::Yaml => "YAML",
        }
    }
}
