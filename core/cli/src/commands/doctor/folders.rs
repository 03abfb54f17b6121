//! The folders that servers work in, and those that the library uses.

use std::path::Path;

use trunkline::{FolderInUse, Start, folders_in_use};
use trunkline_pool::text::escaped;

use super::entries::DoctorEntry;
use super::finding::{Finding, State, Topic, push_shared};

pub(super) fn look(entries: &[DoctorEntry<'_>], workspace: &Path, findings: &mut Vec<Finding>) {
    for entry in entries {
        if let Some(start) = &entry.start {
            push_shared(findings, entry.name, of_start(start));
        }
    }
    let makes_runners = entries.iter().filter_map(|entry| entry.start.as_ref());
    let makes_runners = makes_runners.into_iter().any(|start| start.folder_is_made);
    for folder in folders_in_use(workspace) {
        if folder.purpose != "runners" || makes_runners {
            findings.push(of_library(&folder));
        }
    }
}

fn of_start(start: &Start) -> Finding {
    if start.folder_waits {
        let message = "not known before the start: the entry asks for it";
        return Finding::general(State::Note, Topic::Folder, message);
    }
    if let Some(error) = &start.folder_refusal {
        return Finding::of(Topic::Folder, Topic::Folder.word(), error);
    }
    let shown = escaped(&start.folder.to_string_lossy());
    let message = match start.folder_is_made {
        true => format!("{shown}, where package runners of projects work, and not the workspace"),
        false => shown,
    };
    Finding::general(State::Good, Topic::Folder, message)
}

fn of_library(folder: &FolderInUse) -> Finding {
    let about = format!("{} folder", folder.purpose);
    let found = |state, message: String| Finding::new(state, Topic::Folder, about, message);
    let (wrong, hint) = match folder.is_written {
        true => (
            State::Wrong,
            "make it writable for this user alone, or name another folder in `TRUNKLINE_HOME` (`TMPDIR` for the temporary one)",
        ),
        false => (
            State::Note,
            "nothing is looked for there; `HOME` and `XDG_CONFIG_HOME` say where it is",
        ),
    };
    let path = match &folder.path {
        Ok(path) => escaped(&path.to_string_lossy()),
        Err(why) => return found(wrong, why.clone()).with_hint(hint),
    };
    match (&folder.refusal, folder.is_there) {
        (Some(why), _) if folder.is_written => {
            found(wrong, format!("{path} cannot be written: {}", escaped(why))).with_hint(hint)
        }
        (Some(why), _) => found(wrong, format!("{path}: {}", escaped(why))).with_hint(hint),
        (None, true) if folder.is_written => found(State::Good, format!("{path}, can be written")),
        (None, false) if folder.is_written => {
            found(State::Good, format!("{path}, not there yet, can be made"))
        }
        (None, true) => found(State::Good, path),
        (None, false) => found(State::Good, format!("{path}, not there")),
    }
}
