//! The file that is edited: found by its product, and written in one step.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trunkline::settings::{FILE_BYTES_MAX, FileScope, Format, ReadOptions, Syntax, read};
use trunkline::{bounded, known_places};
use trunkline_pool::text::escaped;

use crate::console::arguments::{Common, text};
use crate::console::exit::Exit;
use crate::console::failure::Failure;

/// A settings file, and what is in it.
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) text: String,
    is_there: bool,
}

/// The file of `--in`: that of a product, the user's or with `--project` the project's, or the one
/// of that path.
pub(super) fn placed(given: &ArgMatches, common: &Common) -> Result<Place, Failure> {
    let named = text(given, "in").unwrap_or_default();
    let Some(format) = Format::of_name(named) else { return at_path(named) };
    let scopes: &[FileScope] = match given.get_flag("project") {
        true => &[FileScope::Project, FileScope::Workspace],
        false => &[FileScope::User],
    };
    let workspace = common.workspace.as_deref().unwrap_or(Path::new(""));
    let known = known_places(workspace);
    let mut paths =
        known.iter().filter(|file| file.format == format && scopes.contains(&file.scope));
    // The one that is there, else the one that the product would read first.
    let found = paths.clone().find(|file| Path::new(&file.path).exists()).or_else(|| paths.next());
    let Some(found) = found else {
        let message = format!("no file of {named} is known here");
        return Err(Failure::usage(message).with_hint("`--in` takes the path of a file as well"));
    };
    let path = Path::new(&found.path);
    let text = content(path)?;
    Ok(Place {
        path: path.to_owned(),
        format,
        is_there: text.is_some(),
        text: text.unwrap_or_default(),
    })
}

/// A file that is there: its name and content say whose it is.
fn at_path(named: &str) -> Result<Place, Failure> {
    let path = Path::new(named);
    let Some(text) = content(path)? else {
        let message = format!("{} is neither a product nor a file that is there", escaped(named));
        return Err(Failure::usage(message));
    };
    let options = ReadOptions { format: None, workspace: None, project: None };
    let format = read(&text, named, &options)?.format;
    Ok(Place { path: path.to_owned(), format, text, is_there: true })
}

fn content(path: &Path) -> Result<Option<String>, Failure> {
    match bounded::text(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(Exit::Settings, format!("{}: {error}", shown(path)))),
    }
}

impl Place {
    /// What is edited: a file that is not there, or empty, has no servers.
    pub(super) fn content(&self) -> &str {
        match (self.text.trim().is_empty(), self.format.row().syntax) {
            (true, Syntax::Toml | Syntax::Yaml) | (false, _) => &self.text,
            (true, _) => "{}",
        }
    }

    /// Puts another text in its place: whole, or not at all. A link stays one, and the permissions
    /// those that there were; a new file is for this user alone.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        self.put(text).map_err(|error| {
            Failure::new(Exit::Internal, format!("{} is not written: {error}", shown(&self.path)))
        })
    }

    fn put(&self, text: &str) -> std::io::Result<()> {
        let target = if self.is_there { self.path.canonicalize()? } else { self.path.clone() };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        if self.is_there && bounded::text(&target, FILE_BYTES_MAX)? != self.text {
            return Err(std::io::Error::other("another program changed it meanwhile"));
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let beside = folder.join(format!(".{name}.{}", std::process::id()));
        let written = self.make(&beside, text).and_then(|()| match self.is_there {
            true => std::fs::rename(&beside, &target),
            // One that came meanwhile stays.
            false => std::fs::hard_link(&beside, &target),
        });
        if written.is_err() || !self.is_there {
            let _ = std::fs::remove_file(&beside);
        }
        written
    }

    fn make(&self, path: &Path, text: &str) -> std::io::Result<()> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        if self.is_there {
            file.set_permissions(std::fs::metadata(&self.path)?.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

#[cfg(test)]
impl Place {
    /// One whose file nobody reads.
    pub(super) fn of_test(format: Format, text: &str) -> Place {
        Place { path: PathBuf::new(), format, text: text.to_owned(), is_there: true }
    }
}
