//! `import`: the servers of one settings file, as another product writes them.

mod conversion;
mod dialect;
pub(super) mod entry;
mod files;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde_json::json;
use trunkline::bounded;
use trunkline::settings::{FILE_BYTES_MAX, Format, ReadOptions, Source, Template};
use trunkline_pool::text::escaped;

use self::conversion::{Made, gates, is_shut, made};
pub(super) use self::entry::program;
pub(super) use self::files::{main_container, text_of};
use crate::console::arguments::{Common, text};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let file = text(given, "file").unwrap_or_default();
    let content = bounded::text(file.as_ref(), FILE_BYTES_MAX)
        .map_err(|error| Failure::new(Exit::Settings, format!("{}: {error}", escaped(file))))?;
    let workspace = common.workspace.as_deref().unwrap_or(Path::new("."));
    let workspace = std::path::absolute(workspace).ok();
    let options = ReadOptions {
        format: text(given, "from").and_then(Format::of_name),
        workspace: workspace.and_then(|path| path.to_str().map(str::to_owned)),
        project: None,
    };
    let to = text(given, "to").and_then(Format::of_name).unwrap_or(Format::Trunkline);
    let made = made(&content, (file, &options), to)?;
    if let Some(output) = given.get_one::<PathBuf>("output") {
        save(output, &made.text)?;
    }
    if common.json {
        let Made { text, servers, lost, literal, left_out } = &made;
        let report = json!({
            "v": 1, "to": to.name(), "text": text, "servers": servers, "lost": lost, "literal": literal,
            "left_out": left_out,
        });
        format::json(terminal, &report);
    } else {
        match given.get_one::<PathBuf>("output") {
            Some(output) => {
                let names: Vec<String> = made.servers.iter().map(|name| escaped(name)).collect();
                let names = if names.is_empty() { "no server".into() } else { names.join(", ") };
                let output = escaped(&output.to_string_lossy());
                terminal.line(&format!("wrote {names} to {output}"));
            }
            None => terminal.write(&made.text),
        }
        let literal = format!("kept as written; {} does not expand it", to.name());
        for (what, rows) in
            [("left out", &made.left_out), ("not written", &made.lost), (&*literal, &made.literal)]
        {
            for row in rows {
                let [server, why] = ["server", "what"].map(|member| format::text(row, member));
                terminal.note(&format!("{}: {what}: {}", escaped(server), escaped(why)));
            }
        }
    }
    Ok(if made.left_out.is_empty() { Exit::Success } else { Exit::Failed })
}

/// The field by which a product switches a server off, and the value that does.
pub(super) fn off_field(format: Format) -> Option<(&'static str, bool)> {
    dialect::dialect(format).map_or(Some(("disabled", true)), |dialect| dialect.off)
}

/// Whether a server of a file does not run: by its entry, or by a list of the file.
pub(super) fn is_off(source: &Source, template: &Template, name: &str) -> bool {
    template.unexpanded().disabled || is_shut(&gates(&source.lists), name)
}

/// A new file for this user alone, since settings hold secrets; one that is there stays.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let saved = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    saved.map_err(|error| {
        Failure::usage(format!("{} is not written: {error}", escaped(&path.to_string_lossy())))
    })
}

#[cfg(test)]
mod tests;
