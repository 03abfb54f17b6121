//! The file itself: read whole, and replaced whole.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Kept, Key};
use crate::platform::open_own;
use crate::{Error, ErrorCode, Result};

/// The form of the file. A later one is neither guessed at nor taken away from whoever reads it; another is damaged.
const VERSION: u64 = 1;

/// A longer file is damaged, and none is written (S-12): hundreds of grants fit.
const FILE_BYTES_MAX: usize = 1 << 20;

/// What is around the grants is shorter.
const FRAME_BYTES_MAX: usize = 64;

/// What is in it.
#[derive(Serialize, Deserialize)]
pub(super) struct Grants {
    v: u64,
    pub grants: Vec<Kept>,
}

/// What every version says of itself.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

impl Default for Grants {
    fn default() -> Grants {
        Grants { v: VERSION, grants: Vec::new() }
    }
}

/// What a file turned out to be.
pub(super) enum Read {
    Whole(Grants),
    Damaged,
}

impl Grants {
    /// What is in the file; nothing when it is not there.
    ///
    /// # Errors
    /// `store`, also for one that another could have put there, and for one of a later version.
    pub(super) fn read(path: &Path) -> Result<Read> {
        let file = match open_own(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Read::Whole(Grants::default()));
            }
            Err(error) => return Err(failed("read", path, &error)),
        };
        let mut bytes = Vec::new();
        let read = file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| failed("read", path, &error))?;
        if bytes.len() > FILE_BYTES_MAX {
            return Ok(Read::Damaged);
        }
        let version = serde_json::from_slice::<Version>(&bytes);
        if version.is_ok_and(|version| version.v > VERSION) {
            let later = io::Error::new(io::ErrorKind::InvalidData, "it is of a later version");
            return Err(failed("read", path, &later));
        }
        let grants = serde_json::from_slice(&bytes).ok();
        Ok(match grants.filter(|grants: &Grants| grants.v == VERSION) {
            Some(grants) => Read::Whole(grants),
            None => Read::Damaged,
        })
    }

    /// Puts this in the place of what is there, in one step.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::from);
        // What could not be read again is not written.
        let bytes = bytes.and_then(|bytes| match bytes.len() > FILE_BYTES_MAX {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes),
        });
        let bytes = bytes.map_err(|error| failed("written", path, &error))?;
        // One name for all: what a process that was killed left goes with the next save.
        let new = beside(path, "new");
        let written = write_whole(&new, &bytes).and_then(|()| fs::rename(&new, path));
        let written = written.inspect_err(|_| drop(fs::remove_file(&new)));
        written.map_err(|error| failed("written", path, &error))?;
        // The name is on the disk when its folder is. Where folders cannot be brought there, it comes with them.
        if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Drops the first of them until the others fit into a file; the last stays.
pub(super) fn drop_what_does_not_fit(grants: &mut Vec<Kept>) {
    let mut room = FILE_BYTES_MAX - FRAME_BYTES_MAX;
    let fitting = grants.iter().rev().take_while(|kept| {
        let length = serde_json::to_vec(kept).map_or(0, |bytes| bytes.len() + 1);
        let left = room.checked_sub(length);
        room = left.unwrap_or(0);
        left.is_some()
    });
    let fitting = fitting.count().max(1);
    grants.drain(..grants.len().saturating_sub(fitting));
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // One of a process that died while it wrote. The lock is held, so that nobody else writes it now.
    let _ = fs::remove_file(path);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Whether something has that name, be it a link to nothing.
pub(super) fn is_there(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Renames a file that cannot be read; its new name.
pub(super) fn set_aside(path: &Path) -> Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let aside = beside(path, &format!("damaged-{}", now.as_nanos()));
    fs::rename(path, &aside).map_err(|error| failed("set aside", path, &error))?;
    Ok(aside.display().to_string())
}

/// Makes the folder of a file, for nobody else to look into.
pub(super) fn make_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| failed("made", folder, &error))
}

/// A file beside the one of grants.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// A number for the grants of one issuer for one resource, the same in every process (FNV-1a).
pub(super) fn digest(key: &Key) -> u64 {
    let texts = [&key.issuer, &key.resource];
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What was done with a file and did not succeed.
pub(super) fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("the file of tokens cannot be {what}: {error}").to_lowercase();
    let failed =
        Error::new(ErrorCode::Store, message).with_detail("path", path.display().to_string());
    match error.raw_os_error() {
        Some(number) => failed.with_detail("errno", number),
        None => failed,
    }
}
