//! What the files are that a start would execute: the program, and what interprets it (SPEC 12.12).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use trunkline_pool::approvals::{FileDifference, Replaced, StartFile, digest_of_content, seal};

use super::interpreter::{FirstLine, LINE_BYTES_MAX};
use super::path_search::{FoundProgram, find};
use crate::base::bounded_reader;
use crate::platform::{Expected, FileStamp};

/// Files from here on have no digest: to read a large one takes longer than its start.
const DIGEST_BELOW_BYTES: usize = 1 << 20;

/// Files of one start: no system follows scripts that are interpreted by scripts any further.
const FILES_MAX: usize = 8;

/// What was found at one moment. Two that are alike are of the same files with the same content.
#[derive(Clone, Debug)]
pub(crate) struct StartSnapshot {
    /// The program first.
    files: Vec<FileSnapshot>,
    is_binary: bool,
}

#[derive(Clone, Debug)]
struct FileSnapshot {
    file: StartFile,
    path: PathBuf,
    /// Nothing of one that is not there, or that cannot be looked at.
    found: Option<(FileStamp, Option<[u8; 32]>)>,
}

impl StartSnapshot {
    /// Looks at the program, and as far as it is a script at its interpreter, which may be one in
    /// turn. It reads them.
    pub(crate) fn at(found: &FoundProgram) -> StartSnapshot {
        let (mut files, mut is_binary) = (Vec::new(), true);
        let mut next = Some((StartFile::Program, found.program.clone()));
        while let Some((file, path)) = next.take().filter(|_| files.len() < FILES_MAX) {
            let (seen, beginning) = FileSnapshot::at(file, path);
            is_binary &= !(files.is_empty() && beginning.starts_with(b"#!"));
            files.push(seen);
            let Some(line) = FirstLine::of(&beginning) else { break };
            // A relative one begins where the program does.
            let interpreter = found.cwd.join(&line.interpreter);
            next = match line.of_env() {
                None => Some((StartFile::Interpreter, interpreter)),
                Some(name) => {
                    files.push(FileSnapshot::at(StartFile::Interpreter, interpreter).0);
                    let named = find(name, found.search.as_deref(), &found.cwd);
                    named.ok().map(|path| (StartFile::Interpreter, path))
                }
            };
        }
        StartSnapshot { files, is_binary }
    }

    /// What of a later look is another; nothing where that found the same.
    pub(crate) fn replaced_by(&self, later: &StartSnapshot) -> Option<Replaced> {
        let count = self.files.len().max(later.files.len());
        (0..count).find_map(|place| {
            let (before, now) = (self.files.get(place), later.files.get(place));
            let difference = match (before, now) {
                (Some(before), Some(now)) => before.difference(now)?,
                (_, _) => FileDifference::OtherFile,
            };
            let FileSnapshot { file, path, .. } = now.or(before)?;
            let path = path.to_string_lossy().into_owned();
            Some(Replaced { file: *file, path, difference, seal: later.seal() })
        })
    }

    fn seal(&self) -> String {
        let told = |seen: &FileSnapshot| {
            let found = seen
                .found
                .map(|(stamp, digest)| (stamp.identity(), stamp.bytes(), stamp.written(), digest));
            format!("{} {found:?}\n", seen.file.as_str())
        };
        seal(&self.files.iter().map(told).collect::<String>())
    }

    /// What the start has to find.
    pub(crate) fn expected(self) -> Expected {
        let stamped = |seen: FileSnapshot| Some((seen.path, seen.found?.0));
        #[cfg(windows)]
        let held = self.files.iter().filter_map(|seen| hold(&seen.path).ok()).collect();
        Expected {
            is_binary: self.is_binary,
            files: self.files.into_iter().filter_map(stamped).collect(),
            #[cfg(windows)]
            held,
        }
    }
}

impl FileSnapshot {
    /// What is found there, and how it begins.
    fn at(file: StartFile, path: PathBuf) -> (FileSnapshot, Vec<u8>) {
        // Nobody has admitted it: to open a device may do something.
        let is_file = std::fs::metadata(&path).is_ok_and(|found| found.is_file());
        let content = is_file.then(|| bounded_reader::open(&path).and_then(read));
        let (found, beginning) = match content.unwrap_or(Err(io::ErrorKind::InvalidInput.into())) {
            Ok((stamp, digest, beginning)) => (Some((stamp, digest)), beginning),
            // What may only be executed is a program all the same.
            Err(_) => (FileStamp::of_path(&path).ok().map(|stamp| (stamp, None)), Vec::new()),
        };
        (FileSnapshot { file, path, found }, beginning)
    }

    fn difference(&self, now: &FileSnapshot) -> Option<FileDifference> {
        let (Some((before, digest)), Some((stamp, digest_now))) = (&self.found, &now.found) else {
            return (self.found.is_some() != now.found.is_some())
                .then_some(FileDifference::OtherFile);
        };
        let others = [
            (before.identity() != stamp.identity(), FileDifference::OtherFile),
            (before.bytes() != stamp.bytes(), FileDifference::Size),
            (digest != digest_now, FileDifference::Content),
            (before.written() != stamp.written(), FileDifference::Time),
        ];
        others.into_iter().find_map(|(is_other, difference)| is_other.then_some(difference))
    }
}

/// Which file it is, the digest of a small one, and how it begins.
fn read(file: File) -> io::Result<(FileStamp, Option<[u8; 32]>, Vec<u8>)> {
    let stamp = FileStamp::of(&file)?;
    if stamp.bytes() < DIGEST_BELOW_BYTES as u64 {
        let content = bounded_reader::content(file, DIGEST_BELOW_BYTES)?;
        return Ok((stamp, Some(digest_of_content(&content)), content));
    }
    use io::Read as _;
    let beginning = bounded_reader::up_to(file.take(LINE_BYTES_MAX), LINE_BYTES_MAX as usize)?;
    Ok((stamp, None, beginning.unwrap_or_default()))
}

/// Opens a file so that nobody writes to it or moves it meanwhile.
#[cfg(windows)]
fn hold(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const SHARE_READ: u32 = 1;
    File::options().read(true).share_mode(SHARE_READ).open(path)
}
