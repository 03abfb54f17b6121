//! The folders that servers are told of (SPEC 15.2).
//!
//! A change is written down first, and then every connection that it may concern is compared with
//! what is written down. What a connection was last told of is kept with its entry, so it hears of
//! each change once, also of one that came while it began.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use serde_json::{Value, json};
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words;

use super::{Driver, EntryCell, SessionPort};
use crate::blocking_pool::no_thread;
use crate::events::{EventSubject, Recipient};
use crate::{Error, ErrorCode, Result, platform};

/// Folders that servers may be told of at one time: as many as a person can have agreed to.
const ROOTS_MAX: usize = 1024;

/// A pool's roots.
pub(crate) struct Roots {
    folders: ArcSwap<Vec<PathBuf>>,
    /// One change at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The folders as the present connection of an entry knows them, or can know them by asking since
/// it began.
#[derive(Default)]
pub(super) struct ToldRoots(Mutex<Arc<Vec<PathBuf>>>);

impl ToldRoots {
    /// Replaces them by what `now` says; whether they are others. Of two changes at one time the
    /// last one stands.
    fn renew(&self, now: impl FnOnce() -> Arc<Vec<PathBuf>>) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now();
        let is_news = *told != now;
        *told = now;
        is_news
    }
}

impl Roots {
    /// These folders, or else the workspace.
    ///
    /// # Errors
    /// Those of [`folders`].
    pub(super) fn new(workspace: &Path, given: Option<&[String]>) -> Result<Roots> {
        let folders = match given {
            Some(given) => folders(workspace, given)?,
            None => vec![workspace.to_owned()],
        };
        Ok(Roots { folders: ArcSwap::from_pointee(folders), turn: Arc::default() })
    }
}

impl Roots {
    /// Does what a file system may keep waiting for ever on a thread of its own, in the order of
    /// the calls: there is one at most, and what others wait for (host names, above all) is never
    /// behind it. What was begun ends, also when the future is dropped.
    ///
    /// # Errors
    /// Those of `work`; `limit` (`threads`) when no thread can be started.
    pub(crate) async fn change(
        &self,
        work: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let turn = self.turn.clone().lock_owned().await;
        let (send, receive) = tokio::sync::oneshot::channel();
        let body = move || {
            platform::block_all_signals();
            let changed = work();
            drop(turn);
            // Nobody may wait any more.
            let _ = send.send(changed);
        };
        let thread = std::thread::Builder::new().name("trunkline-roots".into());
        thread.spawn(body).map_err(|error| no_thread(&error))?;
        let lost = |_| Err(Error::new(ErrorCode::Internal, "the change of the roots was lost"));
        receive.await.unwrap_or_else(lost)
    }
}

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

/// The folders of paths that are absolute or begin at the workspace, each once.
///
/// # Errors
/// `invalid_argument` for one that is no folder.
pub(crate) fn folders(workspace: &Path, given: &[String]) -> Result<Vec<PathBuf>> {
    let wrong = |place: usize, why: String| {
        let path = format!("roots[{place}]");
        Error::new(ErrorCode::InvalidArgument, format!("option `{path}` {why}"))
            .with_detail("path", path)
    };
    if given.len() > ROOTS_MAX {
        return Err(wrong(ROOTS_MAX, format!("is one of more than {ROOTS_MAX}")));
    }
    let folder = |(place, path): (usize, &String)| {
        let folder = std::fs::canonicalize(workspace.join(path))
            .map_err(|error| wrong(place, format!("is not there: {error}")))?;
        if folder.is_dir() { Ok(folder) } else { Err(wrong(place, "is no folder".into())) }
    };
    let folders: Vec<PathBuf> = given.iter().enumerate().map(folder).collect::<Result<_>>()?;
    Ok(each_once(folders))
}

fn each_once(folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = std::collections::HashSet::new();
    folders.into_iter().filter(|folder| seen.insert(folder.clone())).collect()
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

    /// SPEC 15.2, 16.4: a file system that does not answer holds up nobody but the changes that
    /// follow, which stay in order.
    #[test]
    fn a_change_that_is_kept_waiting_holds_up_those_after_it_alone() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let roots = Roots::new(here, None).unwrap();
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let order = Arc::new(Mutex::new(Vec::new()));
        let (first, second) = (order.clone(), order.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let waiting = roots.change(move || {
                wait.recv_timeout(std::time::Duration::from_secs(30)).expect("the caller goes on");
                first.lock().unwrap().push(1);
                Err(Error::new(ErrorCode::InvalidArgument, "no folder"))
            });
            let following = roots.change(move || {
                second.lock().unwrap().push(2);
                Ok(())
            });
            let (waited, followed, ()) =
                tokio::join!(waiting, following, async { go_on.send(()).unwrap() });
            assert_eq!(waited.unwrap_err().code(), ErrorCode::InvalidArgument);
            followed.unwrap();
        });
        assert_eq!(*order.lock().unwrap(), [1, 2]);
    }

    /// SPEC 15.2.
    #[test]
    fn what_is_no_folder_is_refused_by_its_place() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
        let found = folders(&here, &["src".into(), "/".into(), "src/../src".into()]).unwrap();
        assert_eq!(found, [here.join("src"), PathBuf::from("/")]);
        for bad in ["Cargo.toml", "no/such/folder"] {
            let error = folders(&here, &["src".into(), bad.into()]).unwrap_err();
            assert_eq!(error.detail()["path"], "roots[1]", "{error}");
        }
    }
}
