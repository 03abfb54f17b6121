//! Reading files of sources again: which read counts, and what waits for which.
//!
//! Each read has a number, taken before it begins, and of a file what the read with the highest
//! number says stands. So nobody waits for a turn: a file that is away holds up its own source and
//! those who asked for it.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::Instant;
use trunkline_pool::layers::{Contents, Scope, SourceName, WorkspaceTrust};
use trunkline_pool::settings::{FILE_BYTES_MAX, ReadOptions};
use trunkline_pool::text::escaped;

use super::file_scope::WorkspaceSide;
use super::findings::ParsedSource;
use crate::base::bounded_reader;
use crate::config::Config;
use crate::config::desired::{Desired, File, RereadState, TrustUpdate};
use crate::config::pass::{BusyGuard, PendingPass, ReconcileReport};
use crate::config::types::RefreshScope;
use crate::host_env::settings_discovery::project_of;
use crate::platform::is_users_alone;
use crate::{Error, ErrorCode, Result};

/// What is read within this time is one change, as it was one on disk; what takes longer holds
/// nothing up.
const TOGETHER: Duration = Duration::from_millis(100);

/// How often files that change meanwhile are read before trust counts.
const ROUNDS_MAX: usize = 4;

/// How long an editor, or a machine that does much else, may take between the removal of a file and
/// another in its place.
const AWAY_MAX: Duration = Duration::from_millis(300);

/// What one file says, by a read of that number.
pub(crate) struct SourceRead {
    source: SourceName,
    number: u64,
    said: Result<ParsedSource>,
}

/// What came of reading files again.
#[derive(Default)]
pub(crate) struct Reread {
    pub(crate) passed: ReconcileReport,
    /// The files that cannot be read.
    pub(crate) errors: Vec<(SourceName, Error)>,
    pub(crate) findings: Vec<Value>,
}

impl Reread {
    fn report(&mut self, read: &[SourceRead]) {
        for SourceRead { source, said, .. } in read {
            match said {
                Ok(said) => self.findings.extend(said.findings.rows_of(source)),
                Err(error) => self.errors.push((source.clone(), error.clone())),
            }
        }
    }
}

impl Config {
    /// The number of a read that begins.
    pub(crate) fn next_read(&self) -> u64 {
        let mut desired = self.desired();
        desired.last_read += 1;
        desired.last_read
    }

    /// Reads files that may have changed, in the background of everything. One that is being read
    /// for that already is read once more then.
    pub(crate) fn reread(self: &Arc<Self>, which: impl Fn(&File) -> bool) {
        let mut files = self.readable_files(which);
        {
            let mut desired = self.desired();
            files.retain_mut(|(source, file)| {
                file.again = RereadState::UnderWay;
                desired.files.get_mut(source).is_some_and(|file| {
                    file.is_missed = false;
                    file.again.begin()
                })
            });
        }
        if files.is_empty() {
            return;
        }
        let (config, busy) = (self.clone(), BusyGuard::new(self));
        self.driver.spawn(async move {
            // It fails with the process alone.
            let _ = config.read_again(files, RefreshScope::No).await;
            drop(busy);
        });
    }

    /// Reads files and takes up what they say: what is read soon as one change, and what takes
    /// longer when it is there.
    ///
    /// # Errors
    /// `internal` when the process ends.
    pub(crate) async fn read_again(
        self: &Arc<Self>,
        files: Vec<(SourceName, File)>,
        mut fresh: RefreshScope,
    ) -> Result<Reread> {
        let mut reads: FuturesUnordered<_> =
            files.into_iter().map(|(source, file)| self.read_numbered(source, file)).collect();
        let (mut reread, mut soon) = (Reread::default(), Vec::new());
        loop {
            let until = self.driver.runtime.sleep_until(Instant::now() + TOGETHER);
            let mut until = std::pin::pin!(until);
            loop {
                tokio::select! {
                    biased;
                    read = reads.next() => match read {
                        Some(read) => soon.push(read),
                        None => break,
                    },
                    () = &mut until => break,
                }
            }
            if !soon.is_empty() || fresh == RefreshScope::Yes {
                let (config, read) = (self.clone(), std::mem::take(&mut soon));
                reread.report(&read);
                let begun =
                    self.off_thread(move || Ok(config.take_up(read, fresh, |_| ()))).await?;
                reread.passed.add(begun.apart().await);
                fresh = RefreshScope::No;
            }
            match reads.next().await {
                Some(read) => soon.push(read),
                None => return Ok(reread),
            }
        }
    }

    /// A word about the trust in the workspace, newer than all before.
    pub(crate) fn next_word(&self, trust: WorkspaceTrust) -> TrustUpdate {
        let number = self.words.fetch_add(1, Ordering::Relaxed) + 1;
        TrustUpdate { number, trusted: trust == WorkspaceTrust::Trusted }
    }

    /// Sets the trust in the workspace, unless a newer word did. Files that were not read without
    /// it are read first, so that nothing starts that they say no more.
    pub(crate) async fn set_trust(self: &Arc<Self>, word: TrustUpdate) -> Result<ReconcileReport> {
        let mut unread = self.unread_files(word.trusted, |_| true);
        let mut read: Vec<SourceRead> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let reads = unread.into_iter().map(|(source, file)| self.read_numbered(source, file));
            read.extend(futures_util::future::join_all(reads).await);
            // What changed while others were waited for.
            unread = self.unread_files(word.trusted, |file| file.is_missed);
            if unread.is_empty() {
                break;
            }
        }
        // Files that change without end are read as others are, once they may be.
        self.desired().set_missed(unread.iter().map(|(source, _)| source), true);
        let config = self.clone();
        let begin = move || {
            let set = |desired: &mut Desired| desired.take_word(word);
            Ok(config.take_up(read, RefreshScope::No, set))
        };
        let begun = self.off_thread(begin).await?;
        // And in the moment before the word counted.
        self.reread(|file| file.is_missed);
        Ok(begun.apart().await)
    }

    /// Some of the files that were not read because the workspace is not trusted, for their reader
    /// now.
    fn unread_files(
        &self,
        trusted: bool,
        which: impl Fn(&File) -> bool,
    ) -> Vec<(SourceName, File)> {
        let mut desired = self.desired();
        let options = &self.driver.options;
        let is_unread = |(source, file): &(&SourceName, &File)| {
            trusted && which(file) && desired.is_untrusted(source.scope(), options)
        };
        let files = desired.files.iter().filter(is_unread);
        let unread: Vec<_> =
            files.map(|(source, file)| (source.clone(), file.to_be_read())).collect();
        desired.set_missed(unread.iter().map(|(source, _)| source), false);
        unread
    }

    async fn read_numbered(self: &Arc<Self>, source: SourceName, file: File) -> SourceRead {
        let look = || {
            let (config, source, file) = (self.clone(), source.clone(), file.clone());
            async move {
                let number = config.next_read();
                (number, config.read_file(&source, &file).await)
            }
        };
        let (number, said) = match file.again {
            RereadState::No => look().await,
            _ => {
                let pause = || self.driver.runtime.sleep_until(Instant::now() + AWAY_MAX);
                unless_away(look, pause).await
            }
        };
        let said = said.map(Option::unwrap_or_default);
        let is_asked_again = {
            let mut desired = self.desired();
            let now = desired.files.get_mut(&source);
            file.again == RereadState::UnderWay && now.is_some_and(|now| now.again.end())
        };
        if is_asked_again {
            self.reread(|one| one.path == file.path);
        }
        SourceRead { source, number, said }
    }

    /// Takes up what files say now, and another change with it.
    fn take_up(
        self: &Arc<Self>,
        read: Vec<SourceRead>,
        fresh: RefreshScope,
        also: impl FnOnce(&mut Desired),
    ) -> PendingPass {
        self.begin(fresh, |desired| {
            also(desired);
            if fresh == RefreshScope::Yes {
                desired.answers.forget_what_may_change();
            }
            for SourceRead { source, number, said } in read {
                // One that was removed meanwhile stays so, and of two reads the later one counts.
                let file = desired.files.get_mut(&source).filter(|file| file.read < number);
                match (file.map(|file| file.read = number), said) {
                    (Some(()), Ok(said)) => desired.put(&source, Some(said)),
                    (Some(()), Err(error)) => desired.keep_unread(&source, error),
                    (None, _) => {}
                }
            }
            BTreeSet::new()
        })
    }

    /// Files whose sources may start something.
    pub(crate) fn readable_files(&self, which: impl Fn(&File) -> bool) -> Vec<(SourceName, File)> {
        let desired = self.desired();
        let options = &self.driver.options;
        let files = desired.files.iter();
        let is_read = |(source, file): &(&SourceName, &File)| {
            which(file) && !desired.is_untrusted(source.scope(), options)
        };
        let readable = files.filter(is_read);
        readable.map(|(source, file)| (source.clone(), file.to_be_read())).collect()
    }
}

/// What a look at a file finds. Where there is none it is looked for once more: an editor that
/// saves may have it away for that moment.
async fn unless_away<T, L, P>(look: impl Fn() -> L, pause: impl FnOnce() -> P) -> L::Output
where
    L: Future<Output = (u64, Result<Option<T>>)>,
    P: Future<Output = ()>,
{
    let (number, found) = look().await;
    match found {
        Ok(None) => {
            pause().await;
            look().await
        }
        found => (number, found),
    }
}

/// What a file of a scope says now, given what it said before; nothing when there is none.
pub(crate) fn says(
    (scope, before): (Scope, Option<&Contents>),
    file: &File,
    workspace: &Path,
) -> Result<Option<ParsedSource>> {
    let refused = |message: String| {
        let error = Error::new(ErrorCode::InvalidConfig, message);
        Err(error.with_detail("source", &*file.shown).with_detail("path", ""))
    };
    let (text, found) = match text_of(&file.path) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(None),
        Err(error) => {
            let why = match error.raw_os_error() {
                Some(_) => error.to_string().to_lowercase(),
                None => error.to_string(),
            };
            return refused(format!("the file `{}` cannot be read: {why}", escaped(&file.shown)));
        }
    };
    // Only now: a folder or a link that came since the last look may have led into the workspace.
    let is_alone = is_users_alone(&found);
    if !WorkspaceSide::of_found(&file.path, workspace, &Some(found)).allows(scope) {
        let why = match is_alone {
            true => "",
            false => ", and others than this user own it or may write it",
        };
        return refused(format!(
            "the file lies inside of the workspace now, where it is not a source of `{scope}`{why}"
        ));
    }
    let written = |path: &Path| path.to_str().map(str::to_owned);
    let options = ReadOptions {
        format: file.format,
        workspace: written(workspace),
        // What waits for approval starts in the workspace, and a runner of packages in its own
        // folder (SPEC 12.10).
        project: project_of(&file.path, workspace).filter(|_| !scope.is_gated()).and_then(written),
    };
    ParsedSource::read(&text, &file.shown, &options, (scope, before)).map(Some)
}

/// The text of a file, and what was opened for it; nothing when there is none.
fn text_of(path: &Path) -> io::Result<Option<(String, Metadata)>> {
    let file = match bounded_reader::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let found = file.metadata()?;
    Ok(Some((bounded_reader::as_text(bounded_reader::content(file, FILE_BYTES_MAX)?)?, found)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// What is found by looks that give these one after the other, and how often was waited.
    async fn found(
        looks: &[Result<Option<&'static str>>],
    ) -> (u64, Result<Option<&'static str>>, u32) {
        let (looked, paused) = (Cell::new(0), Cell::new(0));
        let look = || {
            let number = looked.replace(looked.get() + 1);
            std::future::ready((number as u64, looks[number].clone()))
        };
        let pause = || {
            paused.set(paused.get() + 1);
            std::future::ready(())
        };
        let (number, found) = unless_away(look, pause).await;
        (number, found, paused.get())
    }

    /// SPEC 13.5: a file that is away at the moment of a look is not taken for one that went.
    #[tokio::test]
    async fn a_file_that_is_away_for_a_moment_has_not_gone() {
        let (number, back, paused) = found(&[Ok(None), Ok(Some("back"))]).await;
        assert_eq!((number, back.unwrap(), paused), (1, Some("back"), 1));
        let (number, gone, paused) = found(&[Ok(None), Ok(None)]).await;
        assert_eq!((number, gone.unwrap(), paused), (1, None, 1));
        let (number, there, paused) = found(&[Ok(Some("there"))]).await;
        assert_eq!((number, there.unwrap(), paused), (0, Some("there"), 0));
    }
}
