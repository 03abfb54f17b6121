//! The servers that `adopt` took out of products' files: what is kept of them, and where.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use trunkline::settings::{FILE_BYTES_MAX, Format};
use trunkline::{bounded, own_folders};
use trunkline_pool::json::plain;
use trunkline_pool::layers::Scope;
use trunkline_pool::text::escaped;

use super::exit::Exit;
use super::failure::Failure;

/// One file that was changed, and what stood in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdoptedFile {
    /// The file of the product.
    pub(crate) file: String,
    pub(crate) format: Format,
    pub(crate) scope: Scope,
    /// The workspace that it belongs to, where it is not the user's.
    pub(crate) workspace: Option<String>,
    /// The number of its folder.
    pub(crate) number: u64,
    pub(crate) entries: Vec<AdoptedEntry>,
}

/// One entry as it stood, and as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AdoptedEntry {
    pub(crate) name: String,
    pub(crate) was: String,
    pub(crate) written: String,
}

/// The folder of all that is kept.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let folder = own_folders().into_iter().next().map(|folder| folder.join("adopted"));
    folder.ok_or_else(|| Failure::new(Exit::Internal, "this user has no folder for kept files"))
}

/// The list of what was adopted.
pub(crate) fn list_in(folder: &Path) -> PathBuf {
    folder.join("adopted.json")
}

impl AdoptedFile {
    /// The folder of what is kept of this file.
    pub(crate) fn folder(&self, folder: &Path) -> PathBuf {
        folder.join(self.number.to_string())
    }

    /// The settings file with its entries as they stood, which a pool reads.
    pub(crate) fn source(&self, folder: &Path) -> PathBuf {
        let name = Path::new(&self.file).file_name().unwrap_or_default();
        self.folder(folder).join(name)
    }

    /// Whether a pool of that workspace has its servers.
    pub(crate) fn is_of(&self, workspace: &Path) -> bool {
        self.workspace.as_deref().is_none_or(|own| Path::new(own) == workspace)
    }

    fn to_json(&self) -> Value {
        let entry = |entry: &AdoptedEntry| json!({ "name": entry.name, "was": entry.was, "written": entry.written });
        json!({
            "file": self.file, "product": self.format.name(), "scope": self.scope.as_str(),
            "workspace": self.workspace, "number": self.number,
            "entries": self.entries.iter().map(entry).collect::<Vec<_>>(),
        })
    }

    fn of_json(value: &Value) -> Option<AdoptedFile> {
        let text = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
        let entry = |value: &Value| {
            let [name, was, written] = ["name", "was", "written"].map(|name| text(value, name));
            Some(AdoptedEntry { name: name?, was: was?, written: written? })
        };
        Some(AdoptedFile {
            file: text(value, "file")?,
            format: Format::of_name(value["product"].as_str()?)?,
            scope: Scope::from_name(value["scope"].as_str()?)?,
            workspace: text(value, "workspace"),
            number: value["number"].as_u64()?,
            entries: value["entries"].as_array()?.iter().map(entry).collect::<Option<_>>()?,
        })
    }
}

/// What was adopted.
///
/// # Errors
/// `Settings` for a list that cannot be read.
pub(crate) fn adopted(folder: &Path) -> Result<Vec<AdoptedFile>, Failure> {
    let path = list_in(folder);
    let text = match bounded::text(&path, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(&path, &error.to_string())),
    };
    let whole = plain(&text).map_err(|error| unreadable(&path, &error.to_string()))?;
    let files = whole["files"].as_array().filter(|_| whole["v"] == 1);
    let files = files.and_then(|files| files.iter().map(AdoptedFile::of_json).collect());
    files.ok_or_else(|| unreadable(&path, "it is no list of adopted servers"))
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let path = escaped(&path.to_string_lossy());
    let failure = Failure::new(Exit::Settings, format!("{path} cannot be read: {why}"));
    failure.with_hint(
        "it holds what `trunkline adopt --undo` puts back: mend it, or use the copies beside it",
    )
}

/// The text of the list.
pub(crate) fn list(files: &[AdoptedFile]) -> String {
    let files: Vec<Value> = files.iter().map(AdoptedFile::to_json).collect();
    format!("{:#}\n", json!({ "v": 1, "files": files }))
}
