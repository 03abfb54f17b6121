//! Where products keep their settings, on each platform.

use serde_json::{Value, json};

use super::format::Format;

/// A platform, as far as places of files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Platform {
    /// Linux, and what is like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// Every platform.
    pub const ALL: [Platform; 3] = [Platform::Linux, Platform::MacOs, Platform::Windows];

    /// The platform that this library was built for.
    pub fn current() -> Platform {
        if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::MacOs
        } else {
            Platform::Linux
        }
    }
}

/// Which source of the pool a file belongs to, by its place (SPEC 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileScope {
    /// The settings of the user.
    User,
    /// The project's `.mcp.json`.
    Project,
    /// Settings that the workspace holds.
    Workspace,
    /// Settings of the system, which somebody else manages.
    Managed,
}

impl FileScope {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            FileScope::User => "user",
            FileScope::Project => "project",
            FileScope::Workspace => "workspace",
            FileScope::Managed => "managed",
        }
    }
}

/// One place where a product looks for settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRow {
    /// The product.
    pub format: Format,
    /// Which source it belongs to.
    pub scope: FileScope,
    /// The folder that the path begins in.
    pub root: Root,
    /// The path from there, with `/`.
    pub path: &'static str,
    /// The platforms that have it.
    pub platforms: &'static [Platform],
    /// Whether it holds settings of other kinds, though other files of the product do not.
    pub holds_more: bool,
}

/// The folders that paths begin in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Root {
    /// The workspace.
    Workspace,
    /// The user's home.
    Home,
    /// `$XDG_CONFIG_HOME`, or `.config` in the home.
    Config,
    /// Where programs keep what they know: `$XDG_CONFIG_HOME` or `.config` on Linux,
    /// `Library/Application Support` on macOS, `%APPDATA%` on Windows.
    Application,
    /// None: the path is the whole of it.
    Absolute,
}

/// The folders of a user and a workspace. One that is not known has no files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// [`Root::Workspace`].
    pub workspace: Option<String>,
    /// [`Root::Home`].
    pub home: Option<String>,
    /// [`Root::Config`].
    pub config: Option<String>,
    /// [`Root::Application`].
    pub application: Option<String>,
}

impl Folders {
    pub(super) fn of(&self, root: Root) -> Option<&str> {
        match root {
            Root::Workspace => self.workspace.as_deref(),
            Root::Home => self.home.as_deref(),
            Root::Config => self.config.as_deref(),
            Root::Application => self.application.as_deref(),
            Root::Absolute => Some(""),
        }
    }
}

/// A file that a product would read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownFile {
    /// Its path.
    pub path: String,
    /// The product.
    pub format: Format,
    /// Which source it belongs to.
    pub scope: FileScope,
}

impl KnownFile {
    fn to_json(&self) -> Value {
        json!({ "path": self.path, "format": self.format.name(), "scope": self.scope.as_str() })
    }
}

/// Files in the form in which every language shows them: `{v, files: [{path, format, scope}]}`.
pub fn files_to_json(files: &[KnownFile]) -> Value {
    json!({ "v": 1, "files": files.iter().map(KnownFile::to_json).collect::<Vec<_>>() })
}
