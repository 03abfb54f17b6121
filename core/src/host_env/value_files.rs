//! What files say as values of a server, read at each connect (SPEC 18.9).
//!
//! The path is part of the identity and the content is not. A read at each load would restart the
//! server for all holders at each new token.

use std::path::Path;

use trunkline_pool::config::{ServerSpec, ValueOfFiles};
use trunkline_pool::expand::{VALUE_FILE_BYTES_MAX, value_of_file};

use super::path_search::{reason, with_errno};
use crate::base::bounded_reader;
use crate::base::escape::escape_line;
use crate::{Error, ErrorCode, Result};

/// An admitted server with what its files say in place. Blocks for as long as the file system does.
///
/// # Errors
/// Those of [`value_of_files`].
pub(crate) fn with_values(server: &str, spec: &ServerSpec) -> Result<ServerSpec> {
    let mut out = spec.clone();
    for value in &spec.value_files {
        out.put_value(&value.field, &value_of_files(server, value)?);
    }
    Ok(out)
}

/// A value of an admitted server with what its files say in place. Blocks for as long as the file
/// system does.
///
/// # Errors
/// `invalid_config` with `detail.path`, the field, and `detail.file`: the file is missing, no
/// regular file, larger than 64 KiB, no UTF-8 or empty; or it holds a NUL character, or leads out
/// of where it was approved. It shows nothing of what is in it.
pub(crate) fn value_of_files(server: &str, value: &ValueOfFiles) -> Result<String> {
    value.joined(|path, within| read(server, &value.field, (Path::new(path), within)))
}

/// Whether a file is outside of a folder, through every link of its path. One that is not there is
/// where its folder is; a link that leads nowhere may lead anywhere.
pub(crate) fn leads_out(file: &Path, folder: &Path) -> bool {
    let there = file.canonicalize().or_else(|error| match (file.parent(), file.file_name()) {
        (Some(parent), Some(name)) if file.symlink_metadata().is_err() => {
            Ok(parent.canonicalize()?.join(name))
        }
        _ => Err(error),
    });
    match (there, folder.canonicalize()) {
        (Ok(there), Ok(folder)) => !there.starts_with(folder),
        _ => true,
    }
}

fn read(server: &str, field: &str, (path, within): (&Path, Option<&Path>)) -> Result<String> {
    let shown = escape_line(path.to_string_lossy().as_bytes());
    let refused = |why: &str| -> Error {
        let message = format!("`{field}` takes its value from the file {shown}, which {why}");
        let error = Error::new(ErrorCode::InvalidConfig, message).with_server(server);
        error.with_detail("path", field).with_detail("file", shown.as_str())
    };
    if within.is_some_and(|folder| leads_out(path, folder)) {
        let refused = refused("leads out of the workspace, and did not when it was approved");
        return Err(refused.with_hint("reload the settings, and look at the request anew"));
    }
    let text = bounded_reader::text(path, VALUE_FILE_BYTES_MAX).map_err(|error| {
        with_errno(refused(&format!("cannot be read: {}", reason(&error))), &error)
    })?;
    value_of_file(&text).map(str::to_owned).map_err(refused)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::json;
    use trunkline_pool::config::{Piece, Transport};

    use super::*;
    use crate::folder::Folder;

    /// SPEC 18.9: which files are values, and what is said of the others. Nothing of what they hold
    /// is shown.
    #[cfg(unix)]
    #[test]
    fn a_value_is_a_regular_file_of_at_most_64_kib() {
        let folder = Folder::new();
        let path = |name: &str| folder.join(name);
        let longest = "x".repeat(VALUE_FILE_BYTES_MAX);
        std::fs::write(path("plain"), "key\n").unwrap();
        std::fs::write(path("longest"), &longest).unwrap();
        std::fs::write(path("longer"), format!("{longest}key")).unwrap();
        std::fs::write(path("empty"), "\n").unwrap();
        std::fs::write(path("latin"), b"\xffkey").unwrap();
        std::fs::write(path("nul"), "ke\0y").unwrap();
        std::os::unix::fs::symlink(path("plain"), path("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for (name, said) in [
            ("plain", Ok("a-key".to_owned())),
            ("link", Ok("a-key".to_owned())),
            ("longest", Ok(format!("a-{longest}"))),
            ("longer", Err("64 KiB")),
            ("empty", Err("is empty")),
            ("latin", Err("not UTF-8")),
            ("nul", Err("NUL")),
            ("device", Err("a device")),
            ("pipe", Err("a pipe")),
            (".", Err("a folder")),
            ("missing", Err("no such file")),
        ] {
            let file = path(name).to_str().unwrap().to_owned();
            let value = ValueOfFiles::new("env.A", [Piece::Text("a-".into()), Piece::file(file)]);
            let read = value_of_files("s", &value);
            let told = read.as_ref().map_err(|error| {
                assert_eq!(error.code(), ErrorCode::InvalidConfig, "{name}");
                assert_eq!(error.detail()["path"], "env.A", "{name}");
                assert!(error.detail()["file"].as_str().unwrap().ends_with(name), "{name}");
                assert!(!error.to_string().contains("key"), "{name}: {error}");
                error.message()
            });
            match (told, said) {
                (Ok(value), Ok(said)) => assert_eq!(*value, said, "{name}"),
                (Err(told), Err(said)) => assert!(told.contains(said), "{name}: {told}"),
                (told, said) => panic!("{name}: {told:?}, not {said:?}"),
            }
        }
    }

    /// SPEC 18.9: a server gets what its file says at that moment.
    #[test]
    fn a_file_is_read_anew_each_time() {
        let folder = Folder::new();
        let file = folder.join("k").to_str().unwrap().to_owned();
        let spec = ServerSpec::from_value("s", &json!({ "command": "c", "env": { "A": "?" } }));
        let mut spec = spec.unwrap();
        spec.value_files = vec![ValueOfFiles::new("env.A", [Piece::file(file)])];
        for said in ["first", "second"] {
            std::fs::write(folder.join("k"), said).unwrap();
            let now = with_values("s", &spec).unwrap();
            let Transport::Stdio(stdio) = now.transport else { panic!("it has a command") };
            assert_eq!(stdio.env["A"], said);
        }
    }
}
