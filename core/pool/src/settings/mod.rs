//! Settings files as products write them, read into what the pool can work with (SPEC 10.3).
//!
//! [`read`] takes the text of a file and its name and gives a [`Source`]: its servers, each as a
//! [`Template`] in the pool's own terms with its variables unexpanded, or with an error that names
//! the line, the column and the field; what the file says about servers that are let in and about
//! what may run unasked; the inputs that it declares; and what was kept without effect. Nothing
//! here expands a variable, looks up a program, grants anything or does IO: what comes out is for
//! the layers, the gates and the expansion to judge, in that order.
//!
//! ```
//! use trunkline_pool::settings::{ReadOptions, read};
//!
//! let text = r#"{ "mcpServers": { "demo": { "command": "demo", "args": ["${HOME}"] } } }"#;
//! let source = read(text, ".mcp.json", &ReadOptions::default())?;
//! let template = source.servers[0].template.clone()?;
//! assert_eq!(template.configuration()["args"][0], "${HOME}");
//! # Ok::<(), trunkline_pool::Error>(())
//! ```
//!
//! What a product writes is data: [`Format::row`] says where its servers stand and what each field
//! means, and [`KNOWN_FILES`] where its files are. `docs/reference/settings.md` shows both tables.
//!
//! Files are pasted from one product into another. So every product's file has the same variables,
//! the same loose JSON, and the fields of the pool's own form. A server that its product keeps in
//! quarantine stays off here.

mod entry;
mod files;
mod format;
mod inputs;
mod known;
mod lists;
mod notes;
mod origin;
mod placeholders;
mod position;
mod read;
mod recognise;
mod source;
mod syntax;
mod table;
mod template;

pub use files::{FileRow, FileScope, Folders, KnownFile, Platform, Root, files_to_json};
pub use format::{
    Container, FORMATS, FieldRow, Format, FormatRow, Meaning, NullEnv, Unit, Variables,
};
pub use known::{KNOWN_FILES, known_files};
pub use notes::{Approval, Approved, Finding, FindingKind};
pub use position::Place;
#[doc(hidden)]
pub use read::plain_document;
pub use read::{FILE_BYTES_MAX, ReadOptions, read, read_again};
pub use source::{FINDINGS_MAX, Input, InputKind, Lists, Secrecy, Server, Skipped, Source};
pub use syntax::Syntax;
pub use template::{Provenance, Rule, Template};
