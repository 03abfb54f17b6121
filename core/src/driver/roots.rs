//! The folders that the servers of a pool are told of (SPEC 15.2).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::runtime::blocking_pool::no_thread;
use crate::{Error, ErrorCode, Result, platform};

/// Folders that servers may be told of at one time: as many as a person can have agreed to.
const ROOTS_MAX: usize = 1024;

/// A pool's roots.
pub(crate) struct Roots {
    pub(super) folders: ArcSwap<Vec<PathBuf>>,
    /// One change at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
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
        if folder.is_dir() { Ok(folder) } else { Err(wrong(place, "is not a folder".into())) }
    };
    let folders: Vec<PathBuf> = given.iter().enumerate().map(folder).collect::<Result<_>>()?;
    Ok(each_once(folders))
}

/// Of equal folders the first.
pub(super) fn each_once(folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = std::collections::HashSet::new();
    folders.into_iter().filter(|folder| seen.insert(folder.clone())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

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
