//! What operations take, besides their options.

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in Rust and Python; Node's is in camelCase, C's says the unit or the form besides.
    pub name: &'static str,
    /// What a value is.
    pub kind: ParameterKind,
    /// What it means; empty where the name says it.
    pub doc: &'static str,
}

/// What the value of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A text.
    Text,
    /// A text or nothing.
    OptionalText,
    /// An address: a text, or the object of a language.
    Address,
    /// The path of a file.
    Path,
    /// The configuration of one server.
    Config,
    /// The same, or nothing for a server that is known.
    OptionalConfig,
    /// Servers by name.
    Servers,
    /// The settings of a source, or nothing.
    Settings,
    /// The name of a source.
    Source,
    /// A list of folders.
    Roots,
    /// The lists of gates, which stand in the place of options.
    Gates,
    /// `true` or `false`.
    Flag,
    /// On or off.
    Switch,
    /// Of an entry, or of every.
    Index,
    /// How long, or for as long as it takes.
    Timeout,
    /// The id of a session, which Python and Node have among the options.
    SessionId,
    /// The arguments of a call, or none.
    Arguments,
    /// Arguments that are texts, or none.
    TextArguments,
    /// The parameters of a request, or none.
    OptionalParams,
    /// The parameters of a request.
    Params,
    /// The shape of a model API.
    Shape,
    /// Functions of the host, or what the languages have in their place.
    Functions,
}

impl ParameterKind {
    /// The words in the reference.
    pub fn name(self) -> &'static str {
        match self {
            ParameterKind::Text => "text",
            ParameterKind::OptionalText => "text, or none",
            ParameterKind::Address => "address",
            ParameterKind::Path => "path",
            ParameterKind::Config => "configuration of a server",
            ParameterKind::OptionalConfig => "configuration of a server, or none",
            ParameterKind::Servers => "servers by name",
            ParameterKind::Settings => "settings, or none",
            ParameterKind::Source => "name of a source",
            ParameterKind::Roots => "list of folders",
            ParameterKind::Gates => "lists of names",
            ParameterKind::Flag => "boolean",
            ParameterKind::Switch => "`on` or `off`",
            ParameterKind::Index => "index, or none",
            ParameterKind::Timeout => "duration, or none",
            ParameterKind::SessionId => "id of a session",
            ParameterKind::Arguments | ParameterKind::OptionalParams => "object, or none",
            ParameterKind::TextArguments => "texts by name, or none",
            ParameterKind::Params => "object",
            ParameterKind::Shape => "shape",
            ParameterKind::Functions => "functions",
        }
    }

    /// The name in C of a parameter of this kind.
    pub fn c_name(self, name: &str) -> String {
        match self {
            ParameterKind::Config
            | ParameterKind::OptionalConfig
            | ParameterKind::Servers
            | ParameterKind::Roots
            | ParameterKind::Gates
            | ParameterKind::Arguments
            | ParameterKind::TextArguments
            | ParameterKind::OptionalParams
            | ParameterKind::Params => format!("{name}_json"),
            ParameterKind::Index => format!("entry_{name}"),
            ParameterKind::Timeout => format!("{name}_ms"),
            ParameterKind::SessionId => format!("{name}_id"),
            ParameterKind::Switch => "on".to_owned(),
            _ => name.to_owned(),
        }
    }
}
