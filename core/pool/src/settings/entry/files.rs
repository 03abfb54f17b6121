//! Texts that opencode takes from files: `{file:path}` as `${file:path}` (SPEC 18.9). Nothing is
//! opened here.

use std::path::{Path, is_separator};

use serde_json::Value;

use super::fault::{EntryResult, Fault, fault};
use crate::expand::{holds_variables, length_of_braces};
use crate::json::joined;

/// What such a text begins with.
const OPEN: &str = "{file:";

/// What a path must not hold: it is taken as it stands.
const VARIABLES: [&str; 3] = ["${", "{env:", OPEN];

/// Rewrites the files in a field of the configuration, whose path in the file is the second. A
/// relative path begins at the settings file: the file's folder is put before it here, so that an
/// approval shows the path that is read.
pub(super) fn settle(value: &mut Value, (field, path): (&str, &str), file: &str) -> EntryResult {
    match value {
        Value::String(text) => {
            if !text.contains(OPEN) {
                return Ok(());
            }
            if !holds_variables(field) {
                return fault(path, format!("`{path}` takes a text from a file, and must not"));
            }
            *text = settled(text, path, file)?;
            Ok(())
        }
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(index, item)| settle(item, (field, &format!("{path}[{index}]")), file)),
        Value::Object(members) => members
            .iter_mut()
            .try_for_each(|(name, item)| settle(item, (field, &joined(path, name)), file)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn settled(text: &str, path: &str, file: &str) -> EntryResult<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.push_str(before);
        let Some(length) = length_of_braces(after) else {
            return fault(path, format!("`{path}` has a `{{file:` that is not closed"));
        };
        let whole = whole(&after[..length], file);
        let whole = whole.map_err(|why| Fault {
            path: path.to_owned(),
            message: format!("`{path}` takes a text from a file {why}"),
        })?;
        // The pool's own way to write it is taken as well.
        out.push_str(if before.ends_with('$') { OPEN } else { "${file:" });
        out.push_str(&whole);
        out.push('}');
        rest = &after[length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The path with the folder of the settings file before it, unless it begins at a root or at the
/// home folder.
///
/// # Errors
/// What is wrong with it.
fn whole(written: &str, file: &str) -> Result<String, &'static str> {
    if written.is_empty() {
        return Err("without a path");
    }
    if VARIABLES.iter().any(|variable| written.contains(variable)) {
        return Err("whose path has a variable in it; it is taken as it stands");
    }
    let is_of_home = written
        .strip_prefix('~')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(is_separator));
    let folder = Path::new(file).parent().filter(|_| !is_of_home);
    let whole = folder.unwrap_or(Path::new("")).join(written);
    let whole = whole.to_string_lossy().into_owned();
    // A folder may have any name; one brace too few or too many would lead to another file.
    match length_of_braces(&format!("{whole}}}")) == Some(whole.len()) {
        true => Ok(whole),
        false => Err("below a folder whose name has a brace without its other"),
    }
}
