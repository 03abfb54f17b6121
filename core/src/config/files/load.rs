//! Sources that are files: which source a file is, reading it, and reading it again.

use std::path::{Path, absolute};
use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::layers::{Scope, SourceName};
use trunkline_pool::options::LoadOptions;
use trunkline_pool::text::escaped;

use super::edit::{names, report_with_findings};
use super::file_scope::WorkspaceSide;
use super::findings::ParsedSource;
use super::reading::{Reread, says};
use super::watching::PendingWatch;
use crate::config::Config;
use crate::config::desired::{File, RereadState};
use crate::config::pass::PendingPass;
use crate::config::report_row::RowDetail;
use crate::config::types::RefreshScope;
use crate::{Error, ErrorCode, Result};

impl Config {
    /// Reads a settings file into the source that its place implies; the report.
    ///
    /// # Errors
    /// `invalid_config` for a file that cannot be read, `invalid_argument` for a source that it
    /// cannot be.
    pub(crate) async fn load(
        self: &Arc<Self>,
        path: &Path,
        options: &LoadOptions,
    ) -> Result<Value> {
        let (config, path, options) = (self.clone(), path.to_owned(), options.clone());
        let (source, file) = self.off_thread(move || config.placed(&path, &options)).await?;
        self.driver.check_open()?;
        let armed = if file.watch { Some(self.armed(&file).await?) } else { None };
        let number = self.next_read();
        let said = self.read_first(&source, &file).await?;
        let (config, of, findings) = (self.clone(), source.clone(), said.findings.clone());
        let file = File { read: number, ..file };
        let begun = self.off_thread(move || Ok(config.take_in(&of, file, said))).await?;
        self.read_missed(&source, armed);
        Ok(report_with_findings(&source, &begun.apart().await, &findings))
    }

    /// Takes up a file that was read for the first time.
    fn take_in(
        self: &Arc<Self>,
        source: &SourceName,
        mut file: File,
        said: ParsedSource,
    ) -> PendingPass {
        let (watch, mut was_watched) = (file.watch, false);
        let begun = self.begin(RefreshScope::No, |desired| {
            let mentioned = names(Some(&said.contents));
            let before = desired.files.get(source);
            was_watched = before.is_some_and(|before| before.watch);
            let newer = before.map(|before| before.read).filter(|read| *read > file.read);
            file.read = newer.unwrap_or(file.read);
            desired.files.insert(source.clone(), file);
            // What a later look found counts already.
            if newer.is_none() {
                desired.put(source, Some(said));
            }
            mentioned
        });
        if was_watched && !watch {
            self.watch_files();
        }
        begun
    }

    /// Reads once more what changed between its first read and its becoming a source.
    fn read_missed(self: &Arc<Self>, source: &SourceName, armed: Option<PendingWatch>) {
        if armed.is_some_and(|armed| armed.is_missed()) {
            self.desired().set_missed([source], true);
            self.reread(|file| file.is_missed);
        }
    }

    /// Watches a file that is to be read then: what changes after that look is told.
    async fn armed(self: &Arc<Self>, file: &File) -> Result<PendingWatch> {
        let (config, path) = (self.clone(), file.path.clone());
        self.off_thread(move || config.arm(path)).await
    }

    /// What a file says that is read for the first time; one that is watched may be missing.
    async fn read_first(&self, source: &SourceName, file: &File) -> Result<ParsedSource> {
        match self.read_file(source, file).await? {
            None if file.watch => Ok(ParsedSource::default()),
            Some(said) => Ok(said),
            None => {
                let message = format!("there is no file `{}`", escaped(&file.shown));
                Err(Error::new(ErrorCode::InvalidConfig, message)
                    .with_detail("source", &*file.shown)
                    .with_detail("path", "")
                    .with_hint("correct the path: a relative one begins at the working directory"))
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
        let place = WorkspaceSide::of(&path, workspace);
        let scope = match (options.source, place) {
            (None, place) => place.scope(&path, workspace),
            (Some(Scope::Runtime), _) => {
                return wrong("source", "a file is not a source of run time");
            }
            (Some(scope), place) if !place.allows(scope) => {
                let message = "a file inside of the workspace is a source of `project`, `workspace` or `launch`";
                return wrong("source", message);
            }
            (Some(scope), _) => scope,
        };
        let source = SourceName::new(scope, shown)?;
        let (shown, format, watch) = (Arc::from(shown), options.format, options.watch);
        let (read, again) = (0, RereadState::No);
        Ok((source, File { path, shown, format, watch, read, again, is_missed: false }))
    }

    /// What a file says now; nothing when there is none.
    ///
    /// # Errors
    /// `invalid_config` when it cannot be read, or lies where a file of its source may not.
    pub(crate) async fn read_file(
        &self,
        source: &SourceName,
        file: &File,
    ) -> Result<Option<ParsedSource>> {
        let workspace = self.driver.workspace.clone();
        let (scope, file, before) = (source.scope(), file.clone(), self.says_now(source));
        // The file system may take its time, and others wait for this thread.
        self.off_thread(move || says((scope, before.as_deref()), &file, &workspace)).await
    }

    /// Reads every loaded file again, and makes a pass with everything looked up anew; the report.
    ///
    /// # Errors
    /// `internal` when the process ends.
    pub(crate) async fn reload(self: &Arc<Self>) -> Result<Value> {
        let files = self.readable_files(|_| true);
        self.reread_decisions().await;
        let Reread { passed, errors, findings } = self.read_again(files, RefreshScope::Yes).await?;
        let row = |(source, error): &(SourceName, Error)| json!({ "source": source.to_string(), "error": error.to_json() });
        let errors: Vec<Value> = errors.iter().map(row).collect();
        let servers = passed.rows_to_json(RowDetail::Sourced);
        Ok(json!({ "v": 1, "servers": servers, "errors": errors, "findings": findings }))
    }
}
