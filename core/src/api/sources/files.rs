//! Sources that are files: which source a file is, reading it, and reading it again.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, absolute};
use std::sync::Arc;

use futures_util::future::try_join_all;
use serde_json::{Map, Value, json};
use trunkline_pool::interface::EventKind;
use trunkline_pool::layers::{Contents, Scope, SourceName};
use trunkline_pool::options::{LoadOptions, Reconnected, ReloadOptions};
use trunkline_pool::settings::{ReadOptions, Source, read};

use super::desired::{Desired, File};
use super::entry::Fresh;
use super::findings::{findings, with_findings};
use super::pass::{Busy, Passed, Shape};
use super::place::Place;
use super::watching::Armed;
use super::{names, report};
use crate::api::pool::{Pool, PoolCore};
use crate::driver::About;
use crate::{Error, ErrorCode, Result};

/// More than any settings written by a person, in bytes; what is longer is not read to its end.
const FILE_BYTES_MAX: u64 = 16 << 20;

impl Pool {
    /// Reads a settings file into the source that its place implies: that of a known file, else inside of the workspace `workspace`
    /// (its `.mcp.json` is `project`), outside `user`. The report is that of [`set_source`](Self::set_source). With `watch` the file is read
    /// again whenever it changes, and may be missing at first.
    ///
    /// Dropping the future stops nothing that was begun.
    ///
    /// # Errors
    /// `invalid_config` for a file that cannot be read, with `detail.source` and, where it does not parse, `line`; `invalid_argument` for a
    /// source that a file inside of the workspace cannot be: nothing is changed then. `closing`, `closed`, `forked`.
    pub async fn load(&self, path: impl AsRef<Path>, options: &LoadOptions) -> Result<Value> {
        self.check()?;
        self.0.load(path.as_ref(), options).await
    }
}

impl PoolCore {
    async fn load(self: &Arc<Self>, path: &Path, options: &LoadOptions) -> Result<Value> {
        let (source, file) = self.placed(path, options)?;
        let _turn = self.sources.watching.turn().await;
        self.driver.check_open()?;
        let _armed = if file.watch { Some(self.armed(&file).await?) } else { None };
        let read = self.read_first(&source, &file).await?;
        let found = read.as_ref().map(|read| findings(read, source.scope())).unwrap_or_default();
        let contents = read.map(Contents::of_settings).unwrap_or_default();
        let (mut is_other, watch, mut was_watched) = (false, file.watch, false);
        let passed = self.change_with(Fresh::No, |desired| {
            let mentioned = names(Some(&contents));
            let before = desired.files.insert(source.clone(), file);
            was_watched = before.is_some_and(|before| before.watch);
            is_other = desired.put(&source, Some(contents));
            mentioned
        });
        if was_watched && !watch {
            self.watch_files();
        }
        if is_other {
            self.tell_changed(&source);
        }
        Ok(with_findings(report(Some(&source), &passed), found))
    }

    /// Watches a file that is to be read then: what changes after that look is told.
    async fn armed(self: &Arc<Self>, file: &File) -> Result<Armed> {
        let (pool, path) = (self.clone(), file.path.clone());
        self.off_thread(move || pool.arm(path)).await
    }

    /// What a file says that is read for the first time; one that is watched may be missing.
    async fn read_first(&self, source: &SourceName, file: &File) -> Result<Option<Source>> {
        match self.read_file(source, file).await? {
            None if file.watch => Ok(None),
            Some(read) => Ok(Some(read)),
            None => {
                let error = Error::new(ErrorCode::InvalidConfig, "the file is not there");
                Err(error.with_detail("source", &*file.shown).with_detail("path", ""))
            }
        }
    }

    /// The source that a file is.
    fn placed(&self, path: &Path, options: &LoadOptions) -> Result<(SourceName, File)> {
        let wrong = |path: &str, message: &str| {
            Err(Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path))
        };
        let Ok(path) = absolute(path) else {
            return wrong("path", "the path of the file is empty");
        };
        let Some(shown) = path.to_str() else {
            return wrong("path", "the path of the file is no Unicode");
        };
        let workspace = &self.driver.workspace;
        let place = Place::of(&path, workspace);
        let scope = match (options.source, place) {
            (None, place) => place.scope(&path, workspace),
            (Some(Scope::Runtime), _) => return wrong("source", "a file is no source of run time"),
            (Some(scope), place) if !place.allows(scope) => {
                let message = "a file inside of the workspace is a source of `project`, `workspace` or `launch`";
                return wrong("source", message);
            }
            (Some(scope), _) => scope,
        };
        let source = SourceName::new(scope, shown)?;
        let (shown, format, watch) = (Arc::from(shown), options.format, options.watch);
        Ok((source, File { path, shown, format, watch }))
    }

    /// What a file says now; nothing when there is none.
    ///
    /// # Errors
    /// `invalid_config` when it cannot be read, or lies where a file of its source may not.
    async fn read_file(&self, source: &SourceName, file: &File) -> Result<Option<Source>> {
        let workspace = self.driver.workspace.clone();
        let (scope, file) = (source.scope(), file.clone());
        // The file system may take its time, and others wait for this thread.
        self.off_thread(move || says(scope, &file, &workspace)).await
    }

    /// See [`Pool::reload`].
    pub(super) async fn reload(self: &Arc<Self>, options: &ReloadOptions) -> Result<Value> {
        let turn = self.sources.watching.turn().await;
        let files = self.readable_files(|_| true);
        let (read, errors) = self.read_files(files).await;
        self.reread_decisions().await;
        let passed = self.take_up(read, Fresh::Yes, |_| ());
        // Connecting may take its time, and needs no turn.
        drop(turn);
        let reconnected = self.reconnect(&options.reconnect).await?;
        let row = |(source, error): &(SourceName, Error)| json!({ "source": source.to_string(), "error": error.to_json() });
        let errors: Vec<Value> = errors.iter().map(row).collect();
        let servers = passed.rows_to_json(Shape::Sourced);
        let mut report = json!({ "v": 1, "servers": servers, "errors": errors });
        if let Some(reconnected) = reconnected {
            report["reconnected"] = reconnected.into();
        }
        Ok(report)
    }

    /// Reads some of the files again, in the background of everything.
    pub(super) async fn reread(self: &Arc<Self>, which: impl Fn(&File) -> bool) {
        let _turn = self.sources.watching.turn().await;
        let files = self.readable_files(which);
        let (read, _) = self.read_files(files).await;
        if !read.is_empty() {
            self.take_up(read, Fresh::No, |_| ());
        }
    }

    /// Sets the trust in the workspace. Files that were not read without it are read first, so that nothing starts that they say no more.
    pub(super) fn set_trust(self: &Arc<Self>, trusted: bool) -> Passed {
        let untrusted = |desired: &Desired, source: &SourceName| {
            trusted && desired.is_untrusted(source.scope(), &self.driver.options)
        };
        let unread: Vec<(SourceName, File)> = {
            let desired = self.sources.desired();
            let files = desired.files.iter().filter(|(source, _)| untrusted(&desired, source));
            files.map(|(source, file)| (source.clone(), file.clone())).collect()
        };
        let again = (!unread.is_empty()).then(|| (self.clone(), Busy::new(self)));
        let read = unread.into_iter().filter_map(|(source, file)| {
            let says = says(source.scope(), &file, &self.driver.workspace).ok()?;
            Some((source, says.map(Contents::of_settings).unwrap_or_default()))
        });
        let read: Vec<_> = read.collect();
        let passed = self.take_up(read, Fresh::No, |desired| desired.trusted = trusted);
        if let Some((pool, busy)) = again {
            // A read that began earlier may have ended since. In turn, and what is wrong with a file is told then.
            self.driver.spawn(async move {
                pool.reread(|_| true).await;
                drop(busy);
            });
        }
        passed
    }

    /// Takes up what files say now, and another change with it.
    fn take_up(
        self: &Arc<Self>,
        read: Vec<(SourceName, Contents)>,
        fresh: Fresh,
        also: impl FnOnce(&mut Desired),
    ) -> Passed {
        let mut changed = Vec::new();
        let passed = self.change_with(fresh, |desired| {
            also(desired);
            if fresh == Fresh::Yes {
                desired.answers.forget_what_may_change();
            }
            for (source, contents) in read {
                // One that was removed meanwhile stays so.
                if desired.files.contains_key(&source) && desired.put(&source, Some(contents)) {
                    changed.push(source);
                }
            }
            BTreeSet::new()
        });
        changed.iter().for_each(|source| self.tell_changed(source));
        passed
    }

    /// Files whose sources may start something.
    fn readable_files(&self, which: impl Fn(&File) -> bool) -> Vec<(SourceName, File)> {
        let desired = self.sources.desired();
        let options = &self.driver.options;
        let files = desired.files.iter();
        let is_read = |(source, file): &(&SourceName, &File)| {
            which(file) && !desired.is_untrusted(source.scope(), options)
        };
        files.filter(is_read).map(|(source, file)| (source.clone(), file.clone())).collect()
    }

    /// What these files say now, and those that cannot be read, of which subscribers are told.
    async fn read_files(
        &self,
        files: Vec<(SourceName, File)>,
    ) -> (Vec<(SourceName, Contents)>, Vec<(SourceName, Error)>) {
        let (mut read, mut errors) = (Vec::new(), Vec::new());
        for (source, file) in files {
            match self.read_file(&source, &file).await {
                Ok(says) => {
                    let contents = says.map(Contents::of_settings).unwrap_or_default();
                    read.push((source, contents));
                }
                Err(error) => {
                    self.tell_error(&source, &error);
                    errors.push((source, error));
                }
            }
        }
        (read, errors)
    }

    /// Tells that a source cannot be read, and keeps its last good state.
    fn tell_error(&self, source: &SourceName, error: &Error) {
        let mut fields = vec![("source", source.to_string().into())];
        for name in ["path", "line"] {
            fields.extend(error.detail().get(name).map(|value| (name, value.clone())));
        }
        fields.push(("message", error.message().into()));
        let about = About::default();
        self.driver.hub.publish(EventKind::SourceError, None, &about, &fields);
        let fields = [("source", source.to_string().into()), ("accepted", false.into())];
        self.driver.hub.publish(EventKind::SourceChanged, None, &about, &fields);
    }

    /// Makes connections anew, all at once; what became of each, by server, where that was asked for.
    async fn reconnect(&self, which: &Reconnected) -> Result<Option<Map<String, Value>>> {
        let names: BTreeSet<String> = match which {
            Reconnected::None => return Ok(None),
            Reconnected::Names(names) => names.iter().cloned().collect(),
            Reconnected::All => {
                let servers = self.driver.entries().into_iter();
                servers.map(|(_, cell)| cell.server.to_string()).collect()
            }
        };
        let made = names.into_iter().map(async |name| {
            let report = self.restart(&name, None).await?;
            Ok::<_, Error>((name, report["entries"].clone()))
        });
        let made: Vec<(String, Value)> = try_join_all(made).await?;
        Ok(Some(made.into_iter().collect()))
    }
}

/// What a file of a scope says now; nothing when there is none.
fn says(scope: Scope, file: &File, workspace: &Path) -> Result<Option<Source>> {
    let refused = |message: String| {
        let error = Error::new(ErrorCode::InvalidConfig, message);
        Err(error.with_detail("source", &*file.shown).with_detail("path", ""))
    };
    let text = match text_of(&file.path) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => {
            let why = error.to_string().to_lowercase();
            return refused(format!("the file cannot be read: {why}"));
        }
    };
    // Only now: a folder or a link that came since the last look may have led into the workspace.
    if !Place::of(&file.path, workspace).allows(scope) {
        let message = "the file lies inside of the workspace now, where it is no source of";
        return refused(format!("{message} `{scope}`"));
    }
    let options =
        ReadOptions { format: file.format, workspace: workspace.to_str().map(str::to_owned) };
    read(&text, &file.shown, &options).map(Some)
}

/// The text of a file; nothing when there is none.
fn text_of(path: &Path) -> io::Result<Option<String>> {
    let found = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidData, why));
    // A pipe or a device would never come to an end.
    if !found.is_file() {
        return refused("it is no regular file");
    }
    if found.len() > FILE_BYTES_MAX {
        return refused("it is longer than 16 MiB");
    }
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}
