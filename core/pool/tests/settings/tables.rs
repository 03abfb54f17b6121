//! The tables themselves: of fields, and of files.

use trunkline_pool::interface::{OptionScope, options};
use trunkline_pool::settings::{
    FORMATS, FileScope, Folders, Format, KNOWN_FILES, KnownFile, Meaning, Platform, ReadOptions,
    Root, known_files, read,
};

/// What each product is documented to write in an entry, beside `command`, `args`, `env`, `cwd`,
/// `url` and `headers`.
const DOCUMENTED: &[(Format, &[&str])] = &[
    (Format::ClaudeCode, &["type", "headersHelper", "oauth", "alwaysLoad"]),
    (
        Format::VsCode,
        &["envFile", "type", "transport", "oauth", "sandboxEnabled", "dev", "version", "gallery"],
    ),
    (Format::Cursor, &["envFile", "auth"]),
    (Format::Windsurf, &["serverUrl", "disabledTools"]),
    (
        Format::Codex,
        &[
            "env_vars",
            "bearer_token_env_var",
            "http_headers",
            "env_http_headers",
            "startup_timeout_sec",
            "startup_timeout_ms",
            "tool_timeout_sec",
            "enabled",
            "required",
            "enabled_tools",
            "disabled_tools",
            "supports_parallel_tool_calls",
            "default_tools_approval_mode",
            "tools",
            "scopes",
            "oauth",
            "oauth_resource",
            "bearer_token",
        ],
    ),
    (
        Format::Gemini,
        &[
            "httpUrl",
            "tcp",
            "type",
            "timeout",
            "trust",
            "includeTools",
            "excludeTools",
            "oauth",
            "authProviderType",
            "targetAudience",
            "targetServiceAccount",
        ],
    ),
    (Format::Qwen, &["discoveryTimeoutMs", "alwaysLoadTools", "timeout", "trust", "includeTools"]),
    (
        Format::Cline,
        &[
            "type",
            "transportType",
            "transport",
            "autoApprove",
            "disabled",
            "timeout",
            "oauthClient",
            "metadata",
        ],
    ),
    (Format::Roo, &["alwaysAllow", "disabledTools", "watchPaths", "timeout"]),
    (Format::Kiro, &["autoApprove", "disabledTools", "oauth", "oauthScopes"]),
    (Format::Copilot, &["type", "tools"]),
    (
        Format::Opencode,
        &["type", "command", "environment", "enabled", "timeout", "disabled", "oauth"],
    ),
    (Format::Zed, &["enabled", "remote", "settings", "timeout"]),
    (Format::Goose, &["cmd", "envs", "env_keys", "uri", "available_tools", "timeout", "type"]),
    (Format::Continue, &["name", "apiKey", "requestOptions", "connectionTimeout"]),
    (
        Format::FastMcp,
        &["transport", "auth", "keep_alive", "timeout", "include_tags", "exclude_tags"],
    ),
    (
        Format::Mcporter,
        &["baseUrl", "serverUrl", "bearerTokenEnv", "lifecycle", "allowedTools", "blockedTools"],
    ),
    (Format::McpHub, &["dev", "disabled"]),
    (Format::McpProxy, &["protocol", "working_dir", "quarantined", "init_timeout"]),
];

/// SPEC 10.3: every documented field of every product is known: none is an unknown member.
#[test]
fn every_documented_field_is_known() {
    let ours: Vec<String> =
        options(OptionScope::Server).iter().flat_map(|row| row.spellings()).collect();
    let approvals = ["trust", "autoApprove", "alwaysAllow"];
    for (format, fields) in DOCUMENTED {
        for field in *fields {
            let is_row = format.row().fields.iter().any(|row| row.name == *field);
            let is_ours = ours.iter().any(|known| known == field) || approvals.contains(field);
            assert!(is_row || is_ours, "{format:?}: {field}");
        }
    }
    let without: Vec<_> =
        FORMATS.iter().filter(|format| DOCUMENTED.iter().all(|(one, _)| one != *format)).collect();
    assert_eq!(without, [&Format::Trunkline, &Format::ClaudeDesktop]);
}

/// SPEC 10.3: what a row renames is a field that the pool has.
#[test]
fn rows_lead_to_fields_of_the_pool() {
    for format in FORMATS {
        for row in format.row().fields {
            if let Meaning::As(field) | Meaning::Time(field, _) = row.meaning {
                assert!(
                    options(OptionScope::Server).iter().any(|one| one.name == field),
                    "{format:?}: {field}"
                );
            }
        }
    }
}

/// SPEC 10.3: what has no effect in a product's file is kept under its name, which must have none
/// in the pool's own form.
#[test]
fn a_field_without_effect_has_no_name_of_the_pools() {
    for format in FORMATS {
        let without = format.row().fields.iter().filter(|row| row.meaning == Meaning::NoEffect);
        for name in without.map(|row| row.name) {
            let rows = options(OptionScope::Server).iter();
            let spelled = rows.flat_map(|row| row.spellings()).find(|spelling| spelling == name);
            assert_eq!(spelled, None, "{format:?}");
        }
    }
}

/// SPEC 10.3: a file in its known place is known for its product's, on each platform and however
/// the path is written.
#[test]
fn known_places_say_the_product() {
    let folders = Folders {
        workspace: Some("/srv/project".into()),
        home: Some("/users/me/".into()),
        config: Some("/users/me/.config".into()),
        application: Some("C:\\Users\\me\\AppData\\Roaming".into()),
    };
    for platform in Platform::ALL {
        let files = known_files(platform, &folders);
        assert!(files.len() > 30, "{platform:?}");
        for KnownFile { path, format, .. } in &files {
            let text = if path.ends_with("toml") { "" } else { "{}" };
            let source = read(text, path, &ReadOptions::default()).unwrap();
            assert_eq!(source.format, *format, "{path}");
            assert_eq!(path.contains('/'), platform != Platform::Windows, "{path}");
        }
    }
}

/// SPEC 10.3: an address that two products write tells nobody's file, and the gates of a product
/// count beside it.
#[test]
fn an_address_of_several_products_is_no_mark() {
    let of = |fields: &str| {
        let text =
            format!(r#"{{"mcpServers": {{"a": {{"serverUrl": "https://h/mcp"{fields}}}}}}}"#);
        read(&text, "x/servers.json", &ReadOptions::default()).unwrap()
    };
    let source = of(r#", "blockedTools": ["drop"], "bearerTokenEnv": "T""#);
    assert_eq!(source.format, Format::Mcporter);
    assert!(source.findings.is_empty(), "{:?}", source.findings);
    let template = source.servers[0].template.as_ref().unwrap();
    assert_eq!(template.unexpanded().filter.exclude, ["drop"]);
    assert_eq!(of("").format, Format::Trunkline);
    assert_eq!(of(r#", "disabledTools": ["drop"]"#).findings, []);
}

/// SPEC 10.1: the source that a file belongs to follows from its place: `.mcp.json` alone is the
/// project's.
#[test]
fn the_scope_follows_from_the_place() {
    for row in KNOWN_FILES {
        let expected = match row.root {
            Root::Workspace if row.path == ".mcp.json" => FileScope::Project,
            Root::Workspace => FileScope::Workspace,
            Root::Absolute => FileScope::Managed,
            _ => FileScope::User,
        };
        assert_eq!(row.scope, expected, "{}", row.path);
    }
}

/// SPEC 10.3: every language shows the same document.
#[test]
fn files_have_one_form_in_json() {
    let folders = Folders { home: Some("/h".into()), ..Folders::default() };
    let files = known_files(Platform::Linux, &folders);
    let document = trunkline_pool::settings::files_to_json(&files[..1]);
    let file =
        serde_json::json!({ "path": "/h/.claude.json", "format": "claude-code", "scope": "user" });
    assert_eq!(document, serde_json::json!({ "v": 1, "files": [file] }));
}

/// SPEC 10.3: folders that are not known have no files, and the rest are there all the same.
#[test]
fn unknown_folders_have_no_files() {
    let folders = Folders { workspace: Some("/w".into()), ..Folders::default() };
    let files = known_files(Platform::Linux, &folders);
    assert!(
        files.iter().all(|file| file.path.starts_with("/w/") || file.path.starts_with("/etc/"))
    );
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for path in [
        "/w/.mcp.json",
        "/w/.vscode/mcp.json",
        "/w/opencode.jsonc",
        "/etc/claude-code/managed-mcp.json",
    ] {
        assert!(paths.contains(&path), "{path}");
    }
}
