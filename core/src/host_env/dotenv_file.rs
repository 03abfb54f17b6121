//! The file of variables that an entry names.

use std::collections::BTreeMap;
use std::path::Path;

use trunkline_pool::expand::{DOTENV_BYTES_MAX, parse_dotenv};
use trunkline_pool::settings::Template;

use super::path_search::{HINT_TILDE, reason, with_errno};
use crate::base::bounded_reader;
use crate::base::escape::escape_line;
use crate::{Error, ErrorCode, Result};

/// Reads the file of variables of an admitted server; a relative path begins at the workspace.
/// Blocks for as long as the file system does.
///
/// # Errors
/// `invalid_config` in the terms of the settings file, with `detail.env_file`: the file is missing,
/// no file, larger than 1 MiB, no UTF-8, or has a line of another form. It shows nothing of what is
/// in it.
pub(crate) fn read_env_file(
    template: &Template,
    path: &str,
    workspace: &Path,
) -> Result<BTreeMap<String, String>> {
    let named = path;
    let path = workspace.join(named);
    let path = std::path::absolute(&path).unwrap_or(path);
    let shown = escape_line(path.to_string_lossy().as_bytes());
    let refused = |why: &str| -> Error {
        let message = format!("`env_file` names {shown}, which {why}");
        let error = template.error(ErrorCode::InvalidConfig, "env_file", &message);
        error.with_detail("env_file", shown.as_str())
    };
    let text = bounded_reader::text(&path, DOTENV_BYTES_MAX).map_err(|error| {
        let error = with_errno(refused(&format!("cannot be read: {}", reason(&error))), &error);
        match named.starts_with('~') {
            true => error.with_hint(HINT_TILDE),
            false => error,
        }
    })?;
    parse_dotenv(&text).map_err(|fault| {
        let why = format!("is not a file of variables: line {} {}", fault.line, fault.sentence);
        refused(&why)
    })
}
