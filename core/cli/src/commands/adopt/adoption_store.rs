//! What is kept of the files that change: a copy of each, its entries, and the list of them all.

use std::path::{Path, PathBuf};

use trunkline::settings::Format;

use super::file_change::FileChange;
use super::written::settings;
use crate::commands::settings_file::Place;
use crate::console::adopted::{AdoptedFile, adopted, folder, list, list_in};
use crate::console::failure::Failure;

/// The files that were adopted, and where that is kept.
pub(super) struct Kept {
    pub(super) folder: PathBuf,
    pub(super) files: Vec<AdoptedFile>,
    /// The list as it was read.
    place: Place,
}

impl Kept {
    pub(super) fn read() -> Result<Kept, Failure> {
        let folder = folder()?;
        let place = Place::at(&list_in(&folder), Format::Trunkline)?;
        Ok(Kept { files: adopted(&folder)?, place, folder })
    }

    /// Keeps what stands in a file, and changes it then. A file that cannot be changed leaves
    /// nothing kept.
    pub(super) fn take_over(
        &mut self,
        change: &FileChange,
        workspace: Option<&str>,
    ) -> Result<(), Failure> {
        let before = self.files.clone();
        let at = self.of(change).unwrap_or_else(|| {
            let number = self.files.iter().map(|file| file.number).max().unwrap_or(0) + 1;
            self.files.push(AdoptedFile {
                file: change.path(),
                format: change.place.format,
                scope: change.scope.into(),
                workspace: workspace.map(str::to_owned),
                number,
                entries: Vec::new(),
            });
            self.files.len() - 1
        });
        let entries = &mut self.files[at].entries;
        entries.retain(|old| !change.entries.iter().any(|new| new.name == old.name));
        entries.extend(change.entries.iter().cloned());
        let copy = copy_path(&self.files[at].folder(&self.folder), change);
        let kept = Place::at(&copy, change.place.format)?.write(&change.place.text);
        let written = kept
            .and_then(|()| self.write_source(at))
            .and_then(|()| self.write_list())
            .and_then(|()| change.place.write(&change.after));
        if written.is_err() {
            self.files = before;
            self.write_list()?;
            if self.of(change).is_none() {
                self.drop_folder(&copy);
            }
        }
        written
    }

    /// Puts a file back, and keeps no longer what stands in it again.
    pub(super) fn put_back(&mut self, change: &FileChange) -> Result<(), Failure> {
        change.place.write(&change.after)?;
        let Some(at) = self.of(change) else { return Ok(()) };
        let file = &mut self.files[at];
        file.entries.retain(|old| !change.entries.contains(old));
        if !file.entries.is_empty() {
            self.write_source(at)?;
            return self.write_list();
        }
        let source = file.source(&self.folder);
        self.files.remove(at);
        self.write_list()?;
        self.drop_folder(&source);
        Ok(())
    }

    fn of(&self, change: &FileChange) -> Option<usize> {
        let path = change.path();
        self.files.iter().position(|file| file.file == path)
    }

    /// The settings file that a pool reads in the place of the entries.
    fn write_source(&self, at: usize) -> Result<(), Failure> {
        let file = &self.files[at];
        let entries = file.entries.iter().map(|entry| (entry.name.clone(), entry.was.clone()));
        let text = settings(file.format, &entries.collect::<Vec<_>>());
        Place::at(&file.source(&self.folder), file.format)?.write(&text)
    }

    fn write_list(&mut self) -> Result<(), Failure> {
        let text = list(&self.files);
        self.place.write(&text)?;
        self.place = Place::at(&list_in(&self.folder), Format::Trunkline)?;
        Ok(())
    }

    /// Removes the folder of a file that has nothing kept. One that stays does no harm.
    fn drop_folder(&self, of: &Path) {
        if let Some(folder) = of.parent().filter(|folder| folder.starts_with(&self.folder)) {
            drop(std::fs::remove_dir_all(folder));
        }
    }
}

/// A name for the copy that is free.
fn copy_path(folder: &Path, change: &FileChange) -> PathBuf {
    let name = change.place.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let copies = (1..).map(|number| folder.join(format!("{name}.before-{number}")));
    copies.into_iter().find(|copy| !copy.exists()).unwrap_or_else(|| folder.join(name))
}
