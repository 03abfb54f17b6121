//! Errors in the terms of the file that they are about (SPEC 10.7, 10.9).

use std::borrow::Cow;

use super::format::Format;
use super::position::{Place, Shift};
use super::syntax::{SyntaxNode, leads_to};
use crate::base::text::escaped;
use crate::error::{Error, ErrorCode};

/// Paths of one message that are retold, which is more than any names: one that holds a text of the
/// file could have any number of backquotes.
const PATHS_TOLD_MAX: usize = 8;

/// What an entry was read from: all that decides what it is read as.
#[derive(Clone)]
pub(super) struct TemplateOrigin {
    pub format: Format,
    pub file: String,
    pub project: Option<String>,
    pub server: String,
    /// The entry, as it stands there. Its values may be secrets.
    pub node: SyntaxNode,
    /// How deep it lies.
    pub depth: usize,
    /// Paths of the configuration, and what they are in the file.
    pub moved: Vec<(String, String)>,
}

impl TemplateOrigin {
    /// How far what is written there was moved, if it is written as it was.
    pub(super) fn moved_to(&self, entry: &WrittenEntry<'_>) -> Option<Shift> {
        let WrittenEntry { format, file, project, server, node, depth } = *entry;
        let of = (self.format, &*self.file, self.project.as_deref(), &*self.server, self.depth);
        let shift = Shift::new(self.node.place, node.place);
        (of == (format, file, project, server, depth) && self.node.is_moved(shift, node))
            .then_some(shift)
    }

    /// An error about a path of the file's entry.
    pub(super) fn error(&self, path: &str, message: &str) -> Error {
        self.error_at(self.node.find(path).unwrap_or(self.node.place), path, message)
    }

    /// The same about a place within what has that path.
    pub(super) fn error_at(&self, place: Place, path: &str, message: &str) -> Error {
        located(ErrorCode::InvalidConfig, &self.file, place, path, message)
            .with_server(&self.server)
    }

    /// An error about the configuration, told as one about the entry that it came from.
    pub(super) fn retold(&self, error: &Error) -> Error {
        let path = error.detail().get("path").and_then(|path| path.as_str()).unwrap_or_default();
        let (written, place) = self.told(path);
        let message = self.retold_message(error.message());
        let out = located(error.code(), &self.file, place, &written, &message);
        out.with_server(&self.server).with_hint_of(error)
    }

    /// What a path of the configuration is in the file, and where it stands.
    pub(super) fn told(&self, path: &str) -> (String, Place) {
        let written = self.written(path);
        let place = self.node.find(&written).unwrap_or(self.node.place);
        (written, place)
    }

    /// What a path of the configuration is in the file, by the longest part of it that moved.
    fn written(&self, path: &str) -> String {
        let moved = self.moved.iter().filter(|(field, _)| leads_to(field, path));
        match moved.max_by_key(|(field, _)| field.len()) {
            Some((field, written)) => format!("{written}{}", &path[field.len()..]),
            None => path.to_owned(),
        }
    }

    /// The message with each path in it replaced, once. Paths stand between backquotes.
    fn retold_message(&self, message: &str) -> String {
        let parts = message.splitn(PATHS_TOLD_MAX * 2 + 1, '`').enumerate();
        let parts = parts.map(|(index, part)| match index % 2 {
            1 => Cow::Owned(self.written(part)),
            _ => Cow::Borrowed(part),
        });
        parts.collect::<Vec<_>>().join("`")
    }
}

/// An entry of a file: all that decides what it is read as.
#[derive(Clone, Copy)]
pub(super) struct WrittenEntry<'a> {
    pub format: Format,
    pub file: &'a str,
    /// The folder of the file's project, where that is not the workspace.
    pub project: Option<&'a str>,
    pub server: &'a str,
    pub node: &'a SyntaxNode,
    /// How deep it lies in the file.
    pub depth: usize,
}

/// An error about a place of a file.
pub(super) fn located(
    code: ErrorCode,
    file: &str,
    place: Place,
    path: &str,
    message: &str,
) -> Error {
    let Place { line, column } = place;
    Error::new(code, format!("{message}: {}, line {line}, column {column}", escaped(file)))
        .with_detail("source", file)
        .with_detail("path", path)
        .with_detail("line", line)
        .with_detail("column", column)
}
