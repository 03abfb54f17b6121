//! A program that is another than was looked at, under the same configuration (SPEC 12.12).

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::line::escaped_text;
use crate::base::text::hex;

/// Which file of a start it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFile {
    /// The program.
    Program,
    /// An interpreter that the first line of a script names, or that `env` finds for it.
    Interpreter,
}

/// What of a file is another, the first that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileDifference {
    /// It is another file, by its device and its inode; or there was none, or is none.
    OtherFile,
    /// Its size.
    Size,
    /// Its content, of one below 1 MiB.
    Content,
    /// The time at which it was written.
    Time,
}

/// What a request says of a program that is another than was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Which file.
    pub file: StartFile,
    /// Its path.
    pub path: String,
    /// What is another.
    pub difference: FileDifference,
    /// A digest of what the files are now: an approval is about these, see [`seal`].
    pub seal: String,
}

impl StartFile {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            StartFile::Program => "program",
            StartFile::Interpreter => "interpreter",
        }
    }
}

impl FileDifference {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            FileDifference::OtherFile => "other_file",
            FileDifference::Size => "size",
            FileDifference::Content => "content",
            FileDifference::Time => "time",
        }
    }

    fn clause(self) -> &'static str {
        match self {
            FileDifference::OtherFile => "is another file than was looked at",
            FileDifference::Size => "has another size than when it was looked at",
            FileDifference::Content => "has other content than when it was looked at",
            FileDifference::Time => "was written to since it was looked at",
        }
    }
}

impl Replaced {
    /// What happened, as a clause; escaped.
    pub fn clause(&self) -> String {
        let Replaced { file, path, difference, seal: _ } = self;
        format!("the {} {} {}", file.as_str(), escaped_text(path), difference.clause())
    }

    /// As JSON: `{file, path, difference}`, the path escaped.
    pub fn to_json(&self) -> Value {
        let Replaced { file, path, difference, seal: _ } = self;
        json!({ "file": file.as_str(), "path": escaped_text(path), "difference": difference.as_str() })
    }
}

/// The digest of a file's content.
pub fn digest_of_content(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

/// What [`Replaced::seal`] is of a text that says all that was found.
pub fn seal(found: &str) -> String {
    hex(&digest_of_content(found.as_bytes()))
}
