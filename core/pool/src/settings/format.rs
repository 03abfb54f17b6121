//! The products whose settings files are read, as a table: where their servers stand and what each
//! field means.

use super::syntax::Syntax;

/// A product whose settings files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The form that the pool itself takes, and whatever `mcpServers` map no product can be told
    /// from.
    Trunkline,
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Visual Studio Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// Windsurf.
    Windsurf,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// Cline.
    Cline,
    /// Roo Code.
    Roo,
    /// Kiro.
    Kiro,
    /// Copilot CLI.
    Copilot,
    /// opencode.
    Opencode,
    /// Zed.
    Zed,
    /// Goose.
    Goose,
    /// Continue.
    Continue,
    /// FastMCP.
    FastMcp,
    /// mcporter.
    Mcporter,
    /// MCP Hub.
    McpHub,
    /// MCPProxy.
    McpProxy,
}

/// Every format, in the order of the documentation.
pub const FORMATS: &[Format] = &[
    Format::Trunkline,
    Format::ClaudeCode,
    Format::ClaudeDesktop,
    Format::VsCode,
    Format::Cursor,
    Format::Windsurf,
    Format::Codex,
    Format::Gemini,
    Format::Qwen,
    Format::Cline,
    Format::Roo,
    Format::Kiro,
    Format::Copilot,
    Format::Opencode,
    Format::Zed,
    Format::Goose,
    Format::Continue,
    Format::FastMcp,
    Format::Mcporter,
    Format::McpHub,
    Format::McpProxy,
];

/// What is known of one product's files.
#[derive(Debug)]
#[non_exhaustive]
pub struct FormatRow {
    /// Its word.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The syntax of its files, where a file's name does not say it.
    pub syntax: Syntax,
    /// Where its servers stand; the first that is there counts.
    pub containers: &'static [Container],
    /// The fields that mean something else here than in the pool's own configuration, or that it
    /// does not have.
    pub fields: &'static [FieldRow],
    /// Members of the outermost object that are its own, beside the containers.
    pub root: &'static [&'static str],
    /// Whether its files hold settings of other kinds, so that an unknown member of the outermost
    /// object is no news.
    pub holds_more: bool,
    /// Members of an entry that no other product writes, by which a `mcpServers` map of an unknown
    /// file is told.
    pub marks: &'static [&'static str],
    /// Words of `type` for what is part of the product itself and no server that anybody else could
    /// connect to.
    pub own_types: &'static [&'static str],
    /// What its values write instead of `${…}`.
    pub variables: Variables,
    /// What a bare address means; `None` where it is tried.
    pub bare_url: Option<&'static str>,
    /// What null in an environment means.
    pub null_env: NullEnv,
    /// Whether numbers may stand in an environment.
    pub number_env: bool,
}

/// Where servers stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Container {
    /// An object of servers by name, at the end of this way.
    Map(&'static [&'static str]),
    /// An array of servers that hold their `name`, at the end of this way.
    List(&'static [&'static str]),
    /// The outermost object is the map of servers itself.
    Bare,
}

/// How values name variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variables {
    /// As the pool's own configuration does, or not at all.
    Dollar,
    /// `{env:NAME}`.
    Braces,
    /// `${{ secrets.NAME }}`.
    Secrets,
    /// As the pool's own configuration does, or `$env:NAME`.
    EnvWord,
}

/// What null in an environment means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullEnv {
    /// The server does not get the variable.
    Unsets,
    /// The server gets the host's.
    Inherits,
}

/// One field of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldRow {
    /// Its name in the file.
    pub name: &'static str,
    /// What becomes of it.
    pub meaning: Meaning,
}

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// It is this field of the pool's own configuration.
    As(&'static str),
    /// It is this time, in this unit.
    Time(&'static str, Unit),
    /// An object of `startup` and `request`, in milliseconds; a plain number is the first.
    Times,
    /// An array: the program and its arguments.
    CommandLine,
    /// An object whose members belong to the entry; a `path` in it is the program.
    Nested,
    /// An object whose `headers` are the server's.
    RequestOptions,
    /// Names of host variables that the server inherits: strings, or objects with a `name`.
    Inherited,
    /// Names of variables whose values the host keeps as secrets.
    SecretNames,
    /// An address, or `unix://` and the path of a socket, behind which the path of the address may
    /// follow as a fragment.
    SocketAddress,
    /// `true` is all tools and `false` none; else patterns of them.
    AlwaysLoad,
    /// Headers whose values are names of variables.
    HeaderVariables,
    /// The name of the variable that holds a bearer token.
    BearerVariable,
    /// A bearer token; the word `oauth` instead of one means a sign-in.
    Bearer,
    /// A file of variables that join the environment, to be read after admission.
    EnvFile,
    /// The tools that are seen; an empty list is all of them.
    ToolsUnlessEmpty,
    /// Lets tools run unasked: noted, and never granted by the file.
    Approval,
    /// Says tool by tool, in `approval_mode`, which run unasked: noted, and never granted by the
    /// file.
    ToolModes,
    /// `true` keeps the server out until somebody has looked at it.
    Quarantine,
    /// The name of the server, where servers stand in a list.
    Name,
    /// It means something to the product alone: kept and reported.
    NoEffect,
    /// It must not be there; the rest of a sentence that begins with its path.
    Refused(&'static str),
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds, whole or not.
    Seconds,
    /// A text such as `1m30s`.
    DurationText,
}

/// Fields that let tools run unasked wherever they stand.
pub(super) const APPROVALS: &[&str] = &["trust", "autoApprove", "alwaysAllow"];

impl FormatRow {
    /// What becomes of the field of exactly that name, if it is not as in the pool's own
    /// configuration.
    pub(super) fn meaning(&self, name: &str) -> Option<Meaning> {
        let row = self.fields.iter().find(|row| row.name == name).map(|row| row.meaning);
        row.or_else(|| APPROVALS.contains(&name).then_some(Meaning::Approval))
    }

    /// The field that differs from that name in its case alone.
    pub(super) fn miswritten(&self, name: &str) -> Option<&'static str> {
        let names = self.fields.iter().map(|row| row.name).chain(APPROVALS.iter().copied());
        names.into_iter().find(|known| *known != name && known.eq_ignore_ascii_case(name))
    }
}
