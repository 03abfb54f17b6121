//! Telling connections which folders there are, and that they are others (SPEC 15.2).
//!
//! A change is written down first, and then every connection that it may concern is compared with
//! what is written down. The entry keeps what its connection last heard. So the connection hears of
//! each change once, also of one that came while it began.
//!
//! The folders are compared, not counted: a count would tell connections that have nothing new.
//! Folders are looked at on a thread of their own, one change at a time, since a share that is away
//! never answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words;

use super::roots::each_once;
use super::{Driver, EntryCell, SessionPort};
use crate::events::{EventSubject, Recipient};

impl Driver {
    /// The result of `roots/list` for one connection: a session's own folders are told where the
    /// connection is its own.
    pub(super) fn roots_for(&self, cell: &EntryCell) -> String {
        let owner = self.owner_of(cell);
        let folders = self.folders_for(owner.as_deref());
        let roots: Vec<Value> = folders.iter().map(|folder| root(folder)).collect();
        json!({ "roots": roots }).to_string()
    }

    /// Replaces the pool's folders, and tells every connection for which they are others.
    pub(crate) fn set_roots(&self, folders: Vec<PathBuf>) {
        self.roots.folders.store(Arc::new(folders));
        for (_, cell) in self.entries() {
            self.renew_roots(&cell);
        }
    }

    /// A session's own folders may be others: its own connections are told, and those that it
    /// shares are warned of.
    pub(crate) fn session_roots_changed(&self, session: &dyn SessionPort) {
        let number = session.recipient().number;
        for (_, cell) in self.entries() {
            if cell.owner == Some(number) {
                self.renew_roots(&cell);
            } else if cell.is_held_by(number) {
                session.on_roots_not_shared(&cell);
            }
        }
    }

    /// A connection begins: it can ask for the folders of now.
    pub(super) fn begin_roots(&self, cell: &EntryCell) {
        let owner = self.owner_of(cell);
        cell.roots.renew(|| self.folders_for(owner.as_deref()));
    }

    /// Tells the connection, once it is there, unless it knows the folders already.
    pub(super) fn renew_roots(&self, cell: &EntryCell) {
        let Some((_, connection)) = cell.live_connection() else { return };
        // Held from before the lock until after it: its end may call the host back.
        let owner = self.owner_of(cell);
        if cell.roots.renew(|| self.folders_for(owner.as_deref())) {
            connection.roots_changed();
        }
    }

    fn owner_of(&self, cell: &EntryCell) -> Option<Arc<dyn SessionPort>> {
        cell.owner.and_then(|owner| self.live_session(owner))
    }

    fn folders_for(&self, owner: Option<&dyn SessionPort>) -> Arc<Vec<PathBuf>> {
        let folders = self.roots.folders.load_full();
        let further = owner.map(SessionPort::roots).unwrap_or_default();
        if further.is_empty() {
            return folders;
        }
        Arc::new(each_once(folders.iter().chain(further.iter()).cloned()))
    }

    /// A session holds a connection that others share, so that the server is not told of the
    /// session's own folders.
    pub(crate) fn warn_of_untold_roots(&self, session: &Recipient, cell: &EntryCell) {
        let message = "the session's own roots are left out: the connection is shared";
        let fields =
            [("code", words::warning_code::ROOTS_NOT_SHARED.into()), ("message", message.into())];
        let about = EventSubject::entry(&cell.named, cell.load().slot.generation);
        self.hub.publish(EventKind::Warning, Some(session), &about, &fields);
    }
}

fn root(folder: &Path) -> Value {
    let name = folder.file_name().map(|name| name.to_string_lossy());
    match name {
        Some(name) => json!({ "uri": file_uri(folder), "name": name }),
        None => json!({ "uri": file_uri(folder) }),
    }
}

/// The `file://` address of an absolute path.
fn file_uri(folder: &Path) -> String {
    let bytes = folder.as_os_str().as_encoded_bytes();
    // Windows gives canonical paths in a form of its own.
    let bytes = bytes.strip_prefix(br"\\?\").unwrap_or(bytes);
    let mut uri = String::from(if bytes.starts_with(b"/") { "file://" } else { "file:///" });
    for byte in bytes.iter().copied() {
        let byte = if cfg!(windows) && byte == b'\\' { b'/' } else { byte };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 15.2: only `file://` addresses.
    #[test]
    fn a_folder_is_told_as_an_address() {
        assert_eq!(file_uri(Path::new("/a b/ü#")), "file:///a%20b/%C3%BC%23");
        assert_eq!(root(Path::new("/a/b")), json!({ "uri": "file:///a/b", "name": "b" }));
        assert_eq!(root(Path::new("/")), json!({ "uri": "file:///" }));
    }
}
