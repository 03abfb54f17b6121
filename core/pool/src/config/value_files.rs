//! Values that are what files say, put in place when a connection begins (SPEC 18.9).

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A value of `env`, `headers` or the client's secret that takes some pieces from files. Until a
/// connection begins, the configuration has each as it is written.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueOfFiles {
    /// The path of the field in the configuration, such as `env.TOKEN`.
    pub field: String,
    /// What it is made of, in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a value.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// This.
    Text(String),
    /// What a file says.
    File {
        /// Its path.
        path: String,
        /// The folder that it must not lead out of, through any link.
        within: Option<PathBuf>,
    },
}

impl Piece {
    /// What the file of that path says, wherever it leads.
    pub fn file(path: impl Into<String>) -> Piece {
        Piece::File { path: path.into(), within: None }
    }
}

impl ValueOfFiles {
    /// A value of that field.
    pub fn new(field: &str, pieces: impl IntoIterator<Item = Piece>) -> ValueOfFiles {
        ValueOfFiles { field: field.to_owned(), pieces: pieces.into_iter().collect() }
    }

    /// The value with what the files say in its place.
    ///
    /// # Errors
    /// The first of `read`, which is given the path of each, and the folder that it must not lead
    /// out of.
    pub fn joined<E>(
        &self,
        mut read: impl FnMut(&str, Option<&Path>) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::File { path, within } => out.push_str(&read(path, within.as_deref())?),
            }
        }
        Ok(out)
    }

    /// Paths that are relative begin at this folder from here on.
    pub fn begin_at(&mut self, folder: &Path) {
        for piece in &mut self.pieces {
            if let Piece::File { path, .. } = piece {
                *path = folder.join(&*path).to_string_lossy().into_owned();
            }
        }
    }

    /// No file leads out of this folder from here on, but for those paths.
    pub fn keep_within(&mut self, folder: &Path, but: &[String]) {
        for piece in &mut self.pieces {
            if let Piece::File { path, within } = piece
                && !but.contains(path)
            {
                *within = Some(folder.to_owned());
            }
        }
    }

    /// What a fingerprint is made of: a text that looks like one of these is another.
    pub(super) fn hashed(&self) -> Value {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => serde_json::json!({ "text": text }),
            Piece::File { path, within } => serde_json::json!({ "file": path, "within": within }),
        });
        serde_json::json!([self.field, pieces.collect::<Vec<_>>()])
    }
}

/// Without the values.
impl std::fmt::Debug for ValueOfFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files = self.pieces.iter().filter(|piece| matches!(piece, Piece::File { .. }));
        write!(
            f,
            "ValueOfFiles({}, {} files)",
            crate::base::text::escaped(&self.field),
            files.count()
        )
    }
}
