//! The page of the settings files that are read.

use std::fmt::Write as _;

use trunkline_pool::settings::{
    Container, FORMATS, FileRow, Format, FormatRow, KNOWN_FILES, Meaning, NullEnv, Platform, Root,
    Unit, Variables,
};

use super::ticked;

const ORIGIN: &str = "<!-- Written from the tables in core/pool/src/settings; do not edit. -->\n\n";

pub(super) fn page() -> String {
    let mut page = format!(
        "{ORIGIN}# Settings files\n\nWhose files are read, where their servers stand, and which of their fields are not as in \
         [the pool's own configuration](options.md#server), whose every field and spelling is understood in all of them. \
         `docs/guide/settings-files.md` says how they are read.\n\n## Formats\n\n\
         | Format | Product | Servers | Recognised by |\n|---|---|---|---|\n"
    );
    for format in FORMATS {
        let row = format.row();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            row.name,
            row.title,
            containers(row),
            recognised(*format)
        );
    }
    page.push_str("\n## Fields\n");
    for format in FORMATS {
        push_fields(&mut page, format.row());
    }
    page.push_str(
        "\n## Places\n\nIn the order of the products; `detect` lists those that exist.\n\n",
    );
    page.push_str("| Format | Source | Path | Platforms |\n|---|---|---|---|\n");
    for row in KNOWN_FILES {
        let _ = writeln!(
            page,
            "| `{}` | {} | `{}` | {} |",
            row.format.name(),
            row.scope.as_str(),
            path(row),
            platforms(row)
        );
    }
    page
}

fn containers(row: &FormatRow) -> String {
    let all = row.containers.iter().map(|container| match container {
        Container::Map(way) => format!("`{}`", way.join(".")),
        Container::List(way) => format!("the list `{}`", way.join(".")),
        _ => "the whole file".to_owned(),
    });
    all.collect::<Vec<_>>().join(", else ")
}

/// What a file without a telling name is recognised by.
fn recognised(format: Format) -> String {
    let row = format.row();
    let by_container = match format {
        Format::Trunkline => Some("nothing else"),
        Format::VsCode | Format::Codex | Format::Opencode | Format::Zed | Format::Goose => {
            Some("its container")
        }
        Format::Continue => Some("the list, in YAML"),
        Format::McpProxy => Some("the list"),
        _ => None,
    };
    match by_container {
        Some(words) => words.to_owned(),
        None if row.marks.is_empty() => "its place".to_owned(),
        None => ticked(row.marks),
    }
}

fn push_fields(page: &mut String, row: &FormatRow) {
    let mut notes = Vec::new();
    if let Some(transport) = row.bare_url {
        notes.push(format!("A bare address is `{transport}`."));
    }
    if row.null_env == NullEnv::Inherits {
        notes.push("`null` in `env` inherits the host's variable.".to_owned());
    }
    if row.number_env {
        notes.push("Numbers in `env` are texts, as they are written.".to_owned());
    }
    match row.variables {
        Variables::Braces => notes.push("`{env:NAME}` is `${env:NAME}`.".to_owned()),
        Variables::EnvWord => notes.push("`$env:NAME` is `${env:NAME}`.".to_owned()),
        Variables::Secrets => notes.push("`${{ secrets.NAME }}` is `${secret:NAME}`.".to_owned()),
        _ => {}
    }
    if !row.own_types.is_empty() {
        notes.push(format!(
            "Entries of the types {} are its own and are skipped.",
            ticked(row.own_types)
        ));
    }
    if row.fields.is_empty() && notes.is_empty() {
        return;
    }
    let _ = write!(page, "\n### {}\n\n", row.title);
    if !notes.is_empty() {
        let _ = write!(page, "{}\n\n", notes.join(" "));
    }
    if !row.fields.is_empty() {
        page.push_str("| Field | What becomes of it |\n|---|---|\n");
    }
    for field in row.fields {
        let _ = writeln!(page, "| `{}` | {} |", field.name, meaning(field.meaning));
    }
}

fn meaning(meaning: Meaning) -> String {
    let words = match meaning {
        Meaning::As(field) => return format!("is `{field}`"),
        Meaning::Time(field, unit) => {
            let unit = match unit {
                Unit::Milliseconds => "in milliseconds",
                Unit::Seconds => "in seconds",
                _ => "as a text such as `1m30s`",
            };
            return format!("is `{field}`, {unit}");
        }
        Meaning::Times => {
            "its `startup` is `connect_timeout_ms`, its `request` is `call_timeout_ms`; a plain number is the first; in milliseconds"
        }
        Meaning::CommandLine => "the program and its arguments in one list",
        Meaning::Nested => "an object whose members belong to the entry; its `path` is `command`",
        Meaning::RequestOptions => "its `headers` are `headers`; the rest is kept without effect",
        Meaning::Inherited => "names that join `inherit_env`",
        Meaning::SecretNames => {
            "names that join `env`, each with the value `${secret:NAME}`; of a remote server it takes the place of `$NAME` in `headers`"
        }
        Meaning::SocketAddress => {
            "is `url`; `unix:///path#/below` is `socket_path` and `http://localhost/below`"
        }
        Meaning::AlwaysLoad => "is `always_load`; `true` is every tool, `false` none",
        Meaning::HeaderVariables => "headers, each with the value of the variable that is named",
        Meaning::BearerVariable => "the header `Authorization: Bearer ${NAME}`",
        Meaning::Bearer => {
            "the header `Authorization: Bearer …`; `oauth` stands for a sign-in, and an object for `oauth`"
        }
        Meaning::EnvFile => "a file of variables, to be read after admission",
        Meaning::ToolsUnlessEmpty => "is `include`; an empty list is everything",
        Meaning::Approval => "recorded, never granted",
        Meaning::ToolModes => "each tool's `approval_mode` is recorded, never granted",
        Meaning::Quarantine => "`true` switches the server off",
        Meaning::Name => "the server's name",
        Meaning::NoEffect => "kept without effect, and reported",
        Meaning::Refused(sentence) => return format!("refused: {sentence}"),
        _ => "",
    };
    words.to_owned()
}

fn path(row: &FileRow) -> String {
    let root = match row.root {
        Root::Workspace => "<workspace>/",
        Root::Home => "~/",
        Root::Config => "<config>/",
        Root::Application => "<application>/",
        _ => "",
    };
    format!("{root}{}", row.path)
}

fn platforms(row: &FileRow) -> String {
    if row.platforms.len() == Platform::ALL.len() {
        return "all".to_owned();
    }
    let names = row.platforms.iter().map(|platform| match platform {
        Platform::Linux => "Linux",
        Platform::MacOs => "macOS",
        _ => "Windows",
    });
    names.collect::<Vec<_>>().join(", ")
}
