//! The file of variables that an entry names.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use trunkline_pool::expand::{DOTENV_BYTES_MAX, parse_dotenv};
use trunkline_pool::settings::Template;

use super::program::{reason, with_errno};
use crate::transport::escape::escape_line;
use crate::{Error, ErrorCode, Result};

/// Reads the file of variables of an admitted server; a relative path begins at the workspace. Blocks for as long as the file
/// system does.
///
/// # Errors
/// `invalid_config` in the terms of the settings file, with `detail.env_file`, for a file that is missing, no file, larger than
/// 1 MiB, no UTF-8 or that has a line that is none of such files. It shows nothing of what is in it.
pub(crate) fn read_env_file(
    template: &Template,
    path: &str,
    workspace: &Path,
) -> Result<BTreeMap<String, String>> {
    let path = workspace.join(path);
    let path = std::path::absolute(&path).unwrap_or(path);
    let shown = escape_line(path.to_string_lossy().as_bytes());
    let refused = |why: &str| -> Error {
        let message = format!("`env_file` names {shown}, which {why}");
        let error = template.error(ErrorCode::InvalidConfig, "env_file", &message);
        error.with_detail("env_file", shown.as_str())
    };
    let bytes = read(&path).map_err(|error| {
        with_errno(refused(&format!("cannot be read: {}", reason(&error))), &error)
    })?;
    if bytes.len() > DOTENV_BYTES_MAX {
        return Err(refused("has more than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("is not UTF-8"))?;
    parse_dotenv(&text).map_err(|fault| {
        let why = format!("is no file of variables: line {} {}", fault.line, fault.sentence);
        refused(&why)
    })
}

/// What is in a file, and one byte too many at most.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(DOTENV_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A pipe that nobody writes to must not hold the opening up.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
