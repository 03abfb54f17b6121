//! The file that is edited: found by its product, and written in one step.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use trunkline::settings::{
    FILE_BYTES_MAX, FileScope, Format, KnownFile, ReadOptions, Syntax, read,
};
use trunkline::{Error, ErrorCode, bounded, known_places};
use trunkline_pool::text::escaped;

use crate::console::arguments::{Common, text};
use crate::console::exit::Exit;
use crate::console::failure::Failure;

/// A settings file, and what is in it.
pub(in crate::commands) struct Place {
    pub(in crate::commands) path: PathBuf,
    /// Where the path leads, through links.
    target: PathBuf,
    pub(in crate::commands) format: Format,
    pub(in crate::commands) text: String,
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
    Place::of_known(found, workspace)
}

/// A file that is there: its name and content say whose it is.
fn at_path(named: &str) -> Result<Place, Failure> {
    let path = Path::new(named);
    let target = led_to(path);
    let Some(text) = content(&target)? else {
        let message = format!("{} is neither a product nor a file that is there", escaped(named));
        return Err(Failure::usage(message));
    };
    let options = ReadOptions { format: None, workspace: None, project: None };
    let format = read(&text, named, &options)?.format;
    Ok(Place { path: path.to_owned(), target, format, text, is_there: true })
}

/// A link leads out of no project, and from the user's files into none: what a project holds is
/// shared with others, and what is the user's needs no approval.
fn check_side(
    path: &Path,
    target: &Path,
    workspace: &Path,
    scope: FileScope,
) -> Result<(), Failure> {
    let whole = std::path::absolute(if workspace.as_os_str().is_empty() {
        Path::new(".")
    } else {
        workspace
    });
    let whole = whole.unwrap_or_else(|_| workspace.to_owned());
    let project = led_to(&whole);
    let is_in = target.starts_with(&project);
    let message = match scope {
        FileScope::User => {
            // Where the home folder lies in the workspace, its files do so without a link.
            let is_below = path.starts_with(&whole) || path.starts_with(&project);
            (is_in && !is_below).then_some("a link leads into the project")
        }
        _ => (!is_in).then_some("a link leads out of the project"),
    };
    let Some(message) = message else { return Ok(()) };
    let message = format!("{}: {message}, to {}", shown(path), shown(target));
    let error = Error::new(ErrorCode::InvalidConfig, message);
    let error = error.with_detail("source", path.to_string_lossy());
    let failure = Failure::from(error);
    Err(failure.with_hint("nothing was written: `--in` takes the path of a file as well"))
}

/// Where a path leads: what is not there yet stands in the folder that is.
fn led_to(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        let at = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        if let (Ok(at), Ok(rest)) = (at.canonicalize(), path.strip_prefix(there)) {
            return if rest.as_os_str().is_empty() { at } else { at.join(rest) };
        }
    }
    path.to_owned()
}

fn content(path: &Path) -> Result<Option<String>, Failure> {
    match bounded::text(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(Exit::Settings, format!("{}: {error}", shown(path)))),
    }
}

impl Place {
    /// The file at a known place of a product.
    pub(in crate::commands) fn of_known(
        found: &KnownFile,
        workspace: impl AsRef<Path>,
    ) -> Result<Place, Failure> {
        let path = Path::new(&found.path);
        check_side(path, &led_to(path), workspace.as_ref(), found.scope)?;
        Place::at(path, found.format)
    }

    /// The file of that path, whether it is there or not.
    pub(in crate::commands) fn at(path: &Path, format: Format) -> Result<Place, Failure> {
        let target = led_to(path);
        let text = content(&target)?;
        let (is_there, text) = (text.is_some(), text.unwrap_or_default());
        Ok(Place { path: path.to_owned(), target, format, text, is_there })
    }

    /// What is edited: a file that is not there, or empty, has no servers.
    pub(in crate::commands) fn content(&self) -> &str {
        match (self.text.trim().is_empty(), self.format.row().syntax) {
            (true, Syntax::Toml | Syntax::Yaml) | (false, _) => &self.text,
            (true, _) => "{}",
        }
    }

    /// Where the file stands, if a link leads there: one of its own, or of its folder.
    pub(super) fn leads_to(&self) -> Option<&Path> {
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        self.path.ancestors().take(2).any(is_link).then_some(&self.target)
    }

    /// Puts another text in its place: whole, or not at all. A link stays one, and the permissions
    /// those that there were; a new file is for this user alone.
    pub(in crate::commands) fn write(&self, text: &str) -> Result<(), Failure> {
        self.prepared(text).and_then(|beside| self.settle(&beside)).map_err(|error| {
            Failure::new(Exit::Internal, format!("{} is not written: {error}", shown(&self.path)))
        })
    }

    /// A file beside the target with the new text, as a whole on the disk.
    fn prepared(&self, text: &str) -> std::io::Result<PathBuf> {
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let beside = folder.join(format!(".{name}.{}", std::process::id()));
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&beside)?;
        let filled = self.fill(file, text);
        if filled.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        filled.map(|()| beside)
    }

    fn fill(&self, mut file: File, text: &str) -> std::io::Result<()> {
        if self.is_there {
            file.set_permissions(std::fs::metadata(&self.target)?.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Puts it in the place of the target, unless that changed: the last look comes right before.
    fn settle(&self, beside: &Path) -> std::io::Result<()> {
        let written = match self.is_there {
            true => self.check_same().and_then(|()| std::fs::rename(beside, &self.target)),
            // One that came meanwhile stays.
            false => std::fs::hard_link(beside, &self.target),
        };
        if written.is_err() || !self.is_there {
            let _ = std::fs::remove_file(beside);
        }
        written
    }

    fn check_same(&self) -> std::io::Result<()> {
        match bounded::text(&self.target, FILE_BYTES_MAX)? == self.text {
            true => Ok(()),
            false => Err(std::io::Error::other("another program changed it meanwhile")),
        }
    }
}

fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change counts up to the moment at which the new file takes the place.
    #[test]
    fn what_another_program_writes_meanwhile_stays() {
        let folder = std::env::temp_dir().join(format!("trunkline-place-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("mcp.json");
        std::fs::write(&path, "{}").unwrap();
        let (format, text) = (Format::Cursor, "{}".to_owned());
        let place =
            Place { path: path.clone(), target: path.clone(), format, text, is_there: true };
        let beside = place.prepared("{\"mine\": 1}").unwrap();
        std::fs::write(&path, "{\"theirs\": 1}").unwrap();
        assert!(place.settle(&beside).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
