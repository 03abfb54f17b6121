//! The pool of one run, with the settings files loaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trunkline::settings::{FileScope, KnownFile};
use trunkline::{
    DrainOptions, Error, LoadOptions, Pool, PoolOptions, Result, ServerSelection, Servers, Session,
    SessionOptions, detect, misfits, own_folders,
};
use trunkline_pool::json::plain;
use trunkline_pool::options::DrainMode;

use super::adopted;
use super::arguments::Common;
use super::failure::Failure;
use super::interrupt::Listening;
use super::terminal::Terminal;
use super::typed;

/// A pool, and the files that configure it.
pub(crate) struct Opened {
    pub(crate) pool: Pool,
    pub(crate) interrupt: Listening,
    /// The end of `--timeout`.
    pub(crate) deadline: Deadline,
    /// The workspace as it was given; empty for the current folder.
    pub(crate) workspace: PathBuf,
    /// The pool's option of that name.
    pub(crate) inherit_env: Vec<String>,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// Files that nobody named and that cannot be read.
    pub(crate) unread: Vec<Error>,
}

/// When a command has to be over: one time for all that it waits for.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    fn after(time: Option<Duration>) -> Deadline {
        Deadline(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// The time that is left, where it has an end: never none, which no wait takes.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = self.0?.saturating_duration_since(Instant::now());
        Some(left.max(Duration::from_millis(1)))
    }
}

/// Runs a command with a pool, which is closed whatever comes of it.
pub(crate) fn with_pool<T>(
    common: &Common,
    terminal: &mut Terminal<'_>,
    command: impl FnOnce(&Opened, &mut Terminal<'_>) -> std::result::Result<T, Failure>,
) -> std::result::Result<T, Failure> {
    // What it is started by is listened to before anything is.
    let mut opened = Opened::new(common, terminal.interrupt.listen())?;
    let loaded = opened.load(common);
    let done = loaded.and_then(|()| {
        opened.tell_unread(common, terminal);
        command(&opened, terminal)
    });
    let closed = opened.close();
    // Why the command failed says more than what the end of the run did then.
    let done = done?;
    closed?;
    Ok(done)
}

impl Opened {
    fn new(common: &Common, interrupt: Listening) -> std::result::Result<Opened, Failure> {
        let deadline = Deadline::after(common.timeout);
        let options = pool_options(common)?;
        let workspace = options.workspace.clone().unwrap_or_default().into();
        let inherit_env = options.inherit_env.clone();
        let pool = Pool::new(options)?;
        Ok(Opened {
            pool,
            interrupt,
            deadline,
            workspace,
            inherit_env,
            files: Vec::new(),
            unread: Vec::new(),
        })
    }

    /// Loads the files that are named, or all that are found; for a server that the command line
    /// describes, none.
    fn load(&mut self, common: &Common) -> std::result::Result<(), Failure> {
        if let Some(typed) = &common.typed {
            if !common.config.is_empty() {
                let message = "a server that the command line describes is in no file of --config";
                return Err(Failure::usage(message));
            }
            let servers = json!({ (typed::NAME): typed.configuration }).to_string();
            let (pool, servers) = (self.pool.clone(), Servers::from_json(&servers)?);
            self.wait(async move { pool.reconcile(servers).await })??;
            return Ok(());
        }
        for path in &common.config {
            self.load_file(&whole(path))??;
        }
        if common.config.is_empty() {
            // Where the pool's workspace is another one, these would be files of nobody's project,
            // and need no approval.
            for path in self.detected() {
                if let Err(error) = self.load_file(&path)? {
                    self.unread.push(error);
                }
            }
            self.load_adopted()?;
            for misfit in misfits(&self.workspace) {
                let error = self.load_file(Path::new(&misfit.path))?.err();
                self.unread.extend(error);
            }
        }
        // Nobody wants a server yet, so that nothing starts; programs have been looked up then.
        let pool = self.pool.clone();
        self.wait(async move { pool.settled(Some(SETTLED_MAX)).await })??;
        Ok(())
    }

    /// The files that are found, each once: in the home folder one is found as the user's, and
    /// again as the workspace's. A link of a project to a file that is not the project's makes it
    /// none.
    fn detected(&self) -> Vec<PathBuf> {
        let mut found: Vec<(usize, KnownFile)> =
            detect(&self.workspace).into_iter().enumerate().collect();
        found.sort_by_key(|(_, file)| {
            matches!(file.scope, FileScope::Project | FileScope::Workspace)
        });
        let mut seen = BTreeSet::new();
        found.retain(|(_, file)| {
            let path = Path::new(&file.path);
            seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
        });
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, file)| PathBuf::from(file.path)).collect()
    }

    fn load_file(&mut self, path: &Path) -> std::result::Result<Result<()>, Failure> {
        let (pool, file) = (self.pool.clone(), path.to_owned());
        let loaded = self.wait(async move { pool.load(file, &LoadOptions::default()).await })?;
        Ok(loaded.map(|_report| self.files.push(path.to_owned())))
    }

    /// Loads what `adopt` took out of products' files, with the scope of the file that it stood in.
    fn load_adopted(&mut self) -> std::result::Result<(), Failure> {
        let Ok(folder) = adopted::folder() else { return Ok(()) };
        let workspace = match self.workspace.as_os_str().is_empty() {
            true => Path::new(".").canonicalize(),
            false => self.workspace.canonicalize(),
        };
        let workspace = workspace.unwrap_or_else(|_| self.workspace.clone());
        for file in adopted::adopted(&folder)? {
            if !file.is_of(&workspace) {
                continue;
            }
            let (pool, path) = (self.pool.clone(), file.source(&folder));
            let mut options = LoadOptions::default();
            (options.source, options.format) = (Some(file.scope), Some(file.format));
            let loaded = self.wait(async move { pool.load(path, &options).await })?;
            match loaded {
                Ok(_report) => self.files.push(file.source(&folder)),
                Err(error) => self.unread.push(error),
            }
        }
        Ok(())
    }

    fn tell_unread(&self, common: &Common, terminal: &mut Terminal<'_>) {
        for error in &self.unread {
            Failure::from(error.clone()).tell(common, terminal);
        }
    }

    /// The files that cannot be read, for programs.
    pub(crate) fn unread_to_json(&self) -> Value {
        self.unread.iter().map(Error::to_json).collect()
    }

    /// The one session of the run, which wants these servers.
    pub(crate) fn session(
        &self,
        servers: ServerSelection,
    ) -> std::result::Result<Session, Failure> {
        let mut options = SessionOptions::new("cli");
        options.servers = servers;
        Ok(self.pool.session(options)?)
    }

    /// Waits for a future of the library, or for a signal, which cancels it.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> std::result::Result<Result<T>, Failure> {
        self.wait_and(future, || {})
    }

    /// The same, with something that is done meanwhile, again and again.
    pub(crate) fn wait_and<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
        mut meanwhile: impl FnMut(),
    ) -> std::result::Result<Result<T>, Failure> {
        if let Some(signal) = self.interrupt.signal() {
            return Err(Failure::signal(signal));
        }
        let (send, receive) = sync_channel(1);
        let operation = self.pool.start(future, move |result| drop(send.send(result)));
        loop {
            let result = receive.recv_timeout(LOOK);
            meanwhile();
            match result {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::new(crate::Exit::Internal, "the operation was lost"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(signal) = self.interrupt.signal() {
                operation.cancel();
                return Err(Failure::signal(signal));
            }
        }
    }

    /// Waits for so long; a signal ends it.
    pub(crate) fn pause(&self, time: Duration) -> std::result::Result<(), Failure> {
        let end = Instant::now() + time;
        loop {
            if let Some(signal) = self.interrupt.signal() {
                return Err(Failure::signal(signal));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Ends what runs: calls are interrupted, servers may end by themselves.
    fn close(&self) -> std::result::Result<(), Failure> {
        let pool = self.pool.clone();
        let (send, receive) = sync_channel(1);
        self.pool.start(
            async move {
                let mut now = DrainOptions::default();
                now.mode = DrainMode::Force;
                let drained = pool.drain_all(&now).await;
                pool.close().await?;
                drained
            },
            move |closed| drop(send.send(closed)),
        );
        let lost = |_| Failure::new(crate::Exit::Internal, "the end of the run was lost");
        receive.recv().map_err(lost)??;
        Ok(())
    }
}

/// The path of a file without `..`: what such a path names is not where it begins. That there is no
/// such file is told by who reads it.
fn whole(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.canonicalize(),
        _ => Path::new(".").canonicalize(),
    };
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// The options of the pool: the workspace is trusted, since its servers wait for approval all the
/// same, and nobody started the program there for nothing.
fn pool_options(common: &Common) -> std::result::Result<PoolOptions, Failure> {
    let given = common.options.as_deref().unwrap_or("{}");
    // As it is typed: what is there twice is told, and not lost in a value.
    PoolOptions::from_json(given)?;
    let Ok(Value::Object(mut options)) = plain(given) else {
        return Err(Failure::usage("--options must be a JSON object"));
    };
    options.entry("trusted").or_insert(true.into());
    if common.is_asleep {
        options.entry("start").or_insert("lazy".into());
        options.entry("start_gate_ms").or_insert(NAMES_WAIT_MS.into());
    }
    if !options.contains_key("tokens")
        && let Some(tokens) = own_tokens().filter(|path| common.keeps_tokens || path.is_file())
    {
        options.insert("tokens".into(), unicode(&tokens, "kept sign-ins")?.into());
    }
    if let Some(workspace) = &common.workspace {
        options.insert("workspace".into(), unicode(workspace, "workspace")?.into());
    }
    Ok(PoolOptions::from_json(&json!(options).to_string())?)
}

/// A path as an option has it. Another one in its place would be another file.
fn unicode<'p>(path: &'p Path, what: &str) -> std::result::Result<&'p str, Failure> {
    let refused = || Failure::usage(format!("the path of the {what} is no Unicode"));
    path.to_str().ok_or_else(refused)
}

/// Where sign-ins of the command line are kept, unless the option `tokens` says it.
fn own_tokens() -> Option<PathBuf> {
    own_folders().into_iter().next().map(|folder| folder.join("tokens.json"))
}

/// How often is looked for signals, and for what is to be shown meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// How long a shell waits for the names of a server that never listed its tools, in milliseconds.
const NAMES_WAIT_MS: u64 = 3_000;

/// How long is waited for file systems before anything is shown.
const SETTLED_MAX: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_one_time_for_all_waits() {
        assert_eq!(Deadline::after(None).left(), None);
        let deadline = Deadline::after(Some(Duration::from_millis(30)));
        std::thread::sleep(Duration::from_millis(10));
        assert!(deadline.left().is_some_and(|left| left <= Duration::from_millis(20)));
        std::thread::sleep(Duration::from_millis(40));
        assert_eq!(deadline.left(), Some(Duration::from_millis(1)));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_unicode_is_refused_and_not_bent() {
        let path: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"/a\xff");
        let refused = unicode(Path::new(path), "kept sign-ins").unwrap_err();
        assert_eq!(refused.message(), "the path of the kept sign-ins is no Unicode");
        assert!(unicode(Path::new("/a"), "workspace").is_ok_and(|path| path == "/a"));
    }
}
