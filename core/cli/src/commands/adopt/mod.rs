//! `adopt`: the servers of products' files come from a served pool, and back.
//!
//! An entry is replaced in its own bytes by `trunkline connect`; every other byte of the file
//! stays. What stood there is kept before the file changes, so that nothing is lost whatever ends
//! the run.

mod adoption_store;
mod file_change;
mod plan;
mod running;
mod written;

use std::path::Path;

use clap::ArgMatches;
use serde_json::{Value, json};
use trunkline::settings::{FileScope, Format, KnownFile, ReadOptions, read};
use trunkline::{bounded, detect};

use self::adoption_store::Kept;
use self::file_change::FileChange;
use self::plan::{Others, Plan, plan};
use super::settings_file::Place;
use crate::console::adopted::AdoptedFile;
use crate::console::arguments::Common;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::products::PRODUCTS;
use crate::console::terminal::Terminal;

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let asked = Asked::of(given, common);
    let mut kept = Kept::read()?;
    let is_undo = given.get_flag("undo");
    let changes = if is_undo { asked.backward(&kept)? } else { asked.forward(&kept)? };
    let has_changes = changes.iter().any(|change| !change.entries.is_empty());
    if !common.json {
        changes.iter().for_each(|change| change.show(is_undo, terminal));
    }
    let is_written =
        has_changes && !given.get_flag("dry-run") && asked.confirmed(given, terminal)?;
    if is_written {
        for change in changes.iter().filter(|change| !change.entries.is_empty()) {
            match is_undo {
                true => kept.put_back(change)?,
                false => kept.take_over(change, asked.workspace.as_deref())?,
            }
        }
    }
    let done = match (has_changes, is_written, is_undo) {
        (false, ..) => "unchanged",
        (true, false, _) => "shown",
        (true, true, false) => "written",
        (true, true, true) => "undone",
    };
    if common.json {
        let files: Vec<Value> = changes.iter().map(FileChange::to_json).collect();
        format::json(terminal, &json!({ "v": 1, "done": done, "files": files }));
        return Ok(Exit::Success);
    }
    terminal.line(match done {
        "unchanged" => "nothing to change",
        "shown" => "nothing was written",
        done => done,
    });
    if is_written {
        let changed = changes.iter().filter(|change| !change.entries.is_empty());
        changed.for_each(|change| running::tell(change.place.format, terminal));
    }
    Ok(Exit::Success)
}

/// What the command line asks for.
struct Asked {
    /// The products; all by default.
    products: Vec<Format>,
    scopes: &'static [FileScope],
    workspace: Option<String>,
    files: Vec<KnownFile>,
}

impl Asked {
    fn of(given: &ArgMatches, common: &Common) -> Asked {
        let products = given.get_many::<String>("product").into_iter().flatten();
        let is_project = given.get_flag("project");
        let workspace = common.workspace.as_deref().unwrap_or(Path::new("."));
        let whole = workspace.canonicalize().ok();
        let whole = whole.and_then(|path| path.to_str().map(str::to_owned));
        let scopes: &[FileScope] = match is_project {
            true => &[FileScope::Project, FileScope::Workspace],
            false => &[FileScope::User],
        };
        Asked {
            products: products.filter_map(|name| Format::of_name(name)).collect(),
            scopes,
            workspace: whole.filter(|_| is_project),
            files: detect(workspace),
        }
    }

    fn has(&self, format: Format) -> bool {
        match self.products.is_empty() {
            true => PRODUCTS.contains(&format),
            false => self.products.contains(&format),
        }
    }

    /// The changes that point entries at the pool.
    fn forward(&self, kept: &Kept) -> Result<Vec<FileChange>, Failure> {
        let is_meant =
            |file: &&KnownFile| self.has(file.format) && self.scopes.contains(&file.scope);
        let meant: Vec<&KnownFile> = self.files.iter().filter(is_meant).collect();
        if let Some(absent) =
            self.products.iter().find(|one| !meant.iter().any(|file| file.format == **one))
        {
            let message = format!("{} has no settings file here", absent.row().title);
            return Err(Failure::new(Exit::NotFound, message));
        }
        let mut changes = Vec::new();
        for file in meant {
            let place = Place::of_known(file, self.workspace.as_deref().unwrap_or(""))?;
            let others = self.others(file, kept);
            let Plan { place, after, entries, left, shown } = plan(place, &others)?;
            changes.push(FileChange { place, scope: file.scope, after, entries, left, shown });
        }
        Ok(changes)
    }

    /// The servers of other files of the same scopes, where they can be read, and those that were
    /// adopted.
    fn others(&self, file: &KnownFile, kept: &Kept) -> Others {
        let is_other =
            |other: &&KnownFile| other.path != file.path && self.scopes.contains(&other.scope);
        let files = self.files.iter().filter(is_other);
        let files = files.map(|file| (Path::new(&file.path).to_owned(), file.format));
        let adopted = kept.files.iter().filter(|one| self.is_of(one) && one.file != file.path);
        let adopted = adopted.map(|one| (one.source(&kept.folder), one.format));
        let mut others = Vec::new();
        for (path, format) in files.chain(adopted) {
            let options = ReadOptions { format: Some(format), workspace: None, project: None };
            let text = bounded::text(&path, trunkline::settings::FILE_BYTES_MAX).ok();
            let source = text.and_then(|text| read(&text, &path.to_string_lossy(), &options).ok());
            for server in source.into_iter().flat_map(|source| source.servers) {
                others.extend(server.template.ok().map(|template| (server.name, template)));
            }
        }
        others
    }

    fn is_of(&self, file: &AdoptedFile) -> bool {
        file.workspace == self.workspace
    }

    /// The changes that put entries back.
    fn backward(&self, kept: &Kept) -> Result<Vec<FileChange>, Failure> {
        let adopted = kept.files.iter().filter(|file| self.has(file.format) && self.is_of(file));
        let changes = adopted.map(|file| {
            let place = Place::at(Path::new(&file.file), file.format)?;
            let (mut after, mut entries, mut shown) = (place.text.clone(), Vec::new(), Vec::new());
            let mut left = Vec::new();
            for entry in &file.entries {
                let at = written::span(&after, file.format, &entry.name);
                match at.filter(|at| after[at.clone()] == entry.written) {
                    Some(at) => {
                        after.replace_range(at, &entry.was);
                        shown.push(("trunkline connect".to_owned(), entry.name.clone()));
                        entries.push(entry.clone());
                    }
                    None => {
                        let copy = file.source(&kept.folder);
                        let what =
                            format!("it was changed since; what it was is in {}", copy.display());
                        left.push(json!({ "server": entry.name, "what": what }));
                    }
                }
            }
            let scope = match file.workspace {
                None => FileScope::User,
                Some(_) => FileScope::Workspace,
            };
            Ok(FileChange { place, scope, after, entries, left, shown })
        });
        changes.collect()
    }

    /// What a person, or the command line, says to it.
    fn confirmed(&self, given: &ArgMatches, terminal: &mut Terminal<'_>) -> Result<bool, Failure> {
        if given.get_flag("yes") {
            return Ok(true);
        }
        if !terminal.asks {
            let failure = Failure::usage("nothing was written: there is nobody to ask");
            return Err(failure.with_hint("`--yes` writes what `--dry-run` shows"));
        }
        Ok(terminal.confirms("Write this?"))
    }
}
