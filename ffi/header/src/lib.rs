//! Generates `include/trunkline.h` from the C ABI's crate, prose included.
//!
//! A crate of its own, since the generator as a dependency of anything else would change that one's
//! features.

mod reading_order;
mod sections;

use std::path::{Path, PathBuf};

/// The repository.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("this crate lies two folders deep").to_owned()
}

/// The committed header.
pub fn header_path() -> PathBuf {
    root().join("include/trunkline.h")
}

/// The header that the sources stand for.
///
/// # Errors
/// What the generator says, in words.
pub fn generate() -> Result<String, String> {
    reading_order::in_reading_order(&unordered()?)
}

/// The same, with its functions as the generator has them.
fn unordered() -> Result<String, String> {
    let ffi = root().join("ffi");
    let config = cbindgen::Config::from_file(ffi.join("header/cbindgen.toml"))?;
    let bindings = cbindgen::Builder::new().with_crate(&ffi).with_config(config).generate();
    let mut text = Vec::new();
    bindings.map_err(|error| error.to_string())?.write(&mut text);
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    Ok(with_version(&text))
}

/// The version of the workspace, where the header has it.
fn with_version(text: &str) -> String {
    [
        ("@VERSION@", env!("CARGO_PKG_VERSION")),
        ("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR")),
        ("@MINOR@", env!("CARGO_PKG_VERSION_MINOR")),
        ("@PATCH@", env!("CARGO_PKG_VERSION_PATCH")),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (mark, value)| text.replace(mark, value))
}
