//! The places themselves, and who looks in them.

use super::files::{FileRow, FileScope, Folders, KnownFile, Platform, Root};
use super::format::Format;

const ALL: &[Platform] = &Platform::ALL;
const UNIX: &[Platform] = &[Platform::Linux, Platform::MacOs];
const LINUX: &[Platform] = &[Platform::Linux];
const MACOS: &[Platform] = &[Platform::MacOs];
const WINDOWS: &[Platform] = &[Platform::Windows];

const fn user(format: Format, root: Root, path: &'static str) -> FileRow {
    FileRow { format, scope: FileScope::User, root, path, platforms: ALL, holds_more: false }
}

const fn workspace(format: Format, path: &'static str) -> FileRow {
    let row = user(format, Root::Workspace, path);
    FileRow { scope: FileScope::Workspace, ..row }
}

const fn managed(format: Format, path: &'static str, platforms: &'static [Platform]) -> FileRow {
    let row = user(format, Root::Absolute, path);
    FileRow { scope: FileScope::Managed, platforms, ..row }
}

const fn on(platforms: &'static [Platform], row: FileRow) -> FileRow {
    FileRow { platforms, ..row }
}

const fn mixed(row: FileRow) -> FileRow {
    FileRow { holds_more: true, ..row }
}

/// Every place that is known, product by product, the least of its sources first.
pub const KNOWN_FILES: &[FileRow] = &[
    mixed(user(Format::ClaudeCode, Root::Home, ".claude.json")),
    mixed(user(Format::ClaudeCode, Root::Home, ".claude/settings.json")),
    FileRow { scope: FileScope::Project, ..workspace(Format::ClaudeCode, ".mcp.json") },
    mixed(workspace(Format::ClaudeCode, ".claude/settings.json")),
    mixed(workspace(Format::ClaudeCode, ".claude/settings.local.json")),
    managed(Format::ClaudeCode, "/etc/claude-code/managed-mcp.json", LINUX),
    managed(Format::ClaudeCode, "/Library/Application Support/ClaudeCode/managed-mcp.json", MACOS),
    managed(Format::ClaudeCode, "C:/Program Files/ClaudeCode/managed-mcp.json", WINDOWS),
    user(Format::ClaudeDesktop, Root::Application, "Claude/claude_desktop_config.json"),
    user(Format::VsCode, Root::Application, "Code/User/mcp.json"),
    workspace(Format::VsCode, ".vscode/mcp.json"),
    user(Format::Cursor, Root::Home, ".cursor/mcp.json"),
    workspace(Format::Cursor, ".cursor/mcp.json"),
    user(Format::Windsurf, Root::Home, ".codeium/windsurf/mcp_config.json"),
    user(Format::Codex, Root::Home, ".codex/config.toml"),
    workspace(Format::Codex, ".codex/config.toml"),
    user(Format::Gemini, Root::Home, ".gemini/settings.json"),
    workspace(Format::Gemini, ".gemini/settings.json"),
    managed(Format::Gemini, "/etc/gemini-cli/settings.json", LINUX),
    managed(Format::Gemini, "/Library/Application Support/GeminiCli/settings.json", MACOS),
    managed(Format::Gemini, "C:/ProgramData/gemini-cli/settings.json", WINDOWS),
    user(Format::Qwen, Root::Home, ".qwen/settings.json"),
    workspace(Format::Qwen, ".qwen/settings.json"),
    managed(Format::Qwen, "/etc/qwen-code/settings.json", LINUX),
    managed(Format::Qwen, "/Library/Application Support/QwenCode/settings.json", MACOS),
    managed(Format::Qwen, "C:/ProgramData/qwen-code/settings.json", WINDOWS),
    user(
        Format::Cline,
        Root::Application,
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
    user(
        Format::Roo,
        Root::Application,
        "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    ),
    workspace(Format::Roo, ".roo/mcp.json"),
    user(Format::Kiro, Root::Home, ".kiro/settings/mcp.json"),
    workspace(Format::Kiro, ".kiro/settings/mcp.json"),
    user(Format::Copilot, Root::Home, ".copilot/mcp-config.json"),
    workspace(Format::Copilot, ".github/mcp.json"),
    user(Format::Opencode, Root::Config, "opencode/opencode.json"),
    user(Format::Opencode, Root::Config, "opencode/opencode.jsonc"),
    workspace(Format::Opencode, "opencode.json"),
    workspace(Format::Opencode, "opencode.jsonc"),
    workspace(Format::Opencode, ".opencode/opencode.json"),
    workspace(Format::Opencode, ".opencode/opencode.jsonc"),
    on(UNIX, user(Format::Zed, Root::Config, "zed/settings.json")),
    on(WINDOWS, user(Format::Zed, Root::Application, "Zed/settings.json")),
    workspace(Format::Zed, ".zed/settings.json"),
    on(UNIX, user(Format::Goose, Root::Config, "goose/config.yaml")),
    on(WINDOWS, user(Format::Goose, Root::Application, "Block/goose/config/config.yaml")),
    user(Format::Continue, Root::Home, ".continue/config.yaml"),
    user(Format::Mcporter, Root::Home, ".mcporter/mcporter.json"),
    user(Format::Mcporter, Root::Home, ".mcporter/mcporter.jsonc"),
    workspace(Format::Mcporter, "config/mcporter.json"),
    user(Format::McpHub, Root::Config, "mcphub/servers.json"),
    user(Format::McpProxy, Root::Home, ".mcpproxy/mcp_config.json"),
];

/// Names of files that say whose they are in any folder.
const TELLING_NAMES: &[(&str, Format)] = &[
    ("claude_desktop_config.json", Format::ClaudeDesktop),
    ("cline_mcp_settings.json", Format::Cline),
    ("mcp_settings.json", Format::Roo),
    ("opencode.json", Format::Opencode),
    ("opencode.jsonc", Format::Opencode),
    ("mcporter.json", Format::Mcporter),
    ("mcporter.jsonc", Format::Mcporter),
];

/// The files that products would read for a user and a workspace, whether they are there or not, in
/// the order of the table.
pub fn known_files(platform: Platform, folders: &Folders) -> Vec<KnownFile> {
    let rows = KNOWN_FILES.iter().filter(|row| row.platforms.contains(&platform));
    rows.filter_map(|row| {
        let folder = folders.of(row.root)?;
        let path = match row.root {
            Root::Absolute => row.path.to_owned(),
            _ => format!("{}/{}", folder.trim_end_matches(['/', '\\']), row.path),
        };
        let path = if platform == Platform::Windows { path.replace('/', "\\") } else { path };
        Some(KnownFile { path, format: row.format, scope: row.scope })
    })
    .collect()
}

/// The row that a path ends with; of several the longest.
pub(super) fn known_file(file: &str) -> Option<&'static FileRow> {
    let file = file.replace('\\', "/");
    let ends = |row: &&FileRow| {
        let tail = row.path.trim_start_matches('/');
        file.strip_suffix(tail).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    KNOWN_FILES.iter().filter(ends).max_by_key(|row| row.path.len())
}

/// The product whose files alone have this name, wherever they are.
pub(super) fn format_of_name(file: &str) -> Option<Format> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    TELLING_NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
}
