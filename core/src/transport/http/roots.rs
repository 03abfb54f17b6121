//! The roots that variables name in place of those of the system: read with a bound, and nobody is waited for who may never write (SPEC 18.9).

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::bounded;

/// Bytes of all files together. The roots of a system are a hundredth of that.
const BYTES_MAX: usize = 16 << 20;

/// Files of all folders together.
const FILES_MAX: usize = 10_000;

const FILE: &str = "SSL_CERT_FILE";
const FOLDERS: &str = "SSL_CERT_DIR";

/// The variables that name roots in place of those of the system; the verifiers of the other systems read none.
pub(crate) const NAMED_BY: &[&str] =
    if cfg!(all(unix, not(target_vendor = "apple"), not(target_os = "android"))) {
        &[FILE, FOLDERS]
    } else {
        &[]
    };

/// The roots that the environment names; `None` where it names none, so that those of the system count.
///
/// # Errors
/// Why there are none, in words that name the variable.
pub(super) fn named() -> Option<Result<RootCertStore, String>> {
    let of = |name| NAMED_BY.contains(&name).then(|| std::env::var_os(name)).flatten();
    of_variables(of(FILE), of(FOLDERS))
}

fn of_variables(
    file: Option<OsString>,
    folders: Option<OsString>,
) -> Option<Result<RootCertStore, String>> {
    let folders = folders.unwrap_or_default();
    let folders = || std::env::split_paths(&folders).filter(|it| !it.as_os_str().is_empty());
    if file.is_none() && folders().next().is_none() {
        return None;
    }
    let mut reading =
        Reading { bytes_left: BYTES_MAX, files_left: FILES_MAX, ..Reading::default() };
    if let Some(file) = file {
        reading.file(FILE, Path::new(&file));
    }
    folders().for_each(|folder| reading.folder(&folder));
    Some(reading.roots())
}

#[derive(Default)]
struct Reading {
    bytes_left: usize,
    files_left: usize,
    certificates: Vec<CertificateDer<'static>>,
    /// What could not be read.
    faults: Vec<String>,
}

impl Reading {
    fn file(&mut self, variable: &'static str, path: &Path) {
        match bounded::file(path, self.bytes_left) {
            Ok(bytes) => self.take(&bytes),
            Err(error) => self.fault(variable, path, &error.to_string()),
        }
    }

    /// The files in a folder. What is none is passed over, as links are that lead nowhere.
    fn folder(&mut self, folder: &Path) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.fault(FOLDERS, folder, &error.to_string()),
        };
        for entry in entries {
            let Some(files_left) = self.files_left.checked_sub(1) else {
                return self.fault(FOLDERS, folder, &format!("it has more than {FILES_MAX} files"));
            };
            self.files_left = files_left;
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(error) => return self.fault(FOLDERS, folder, &error.to_string()),
            };
            match bounded::file(&path, self.bytes_left) {
                Ok(bytes) => self.take(&bytes),
                Err(error)
                    if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {}
                Err(error) => self.fault(FOLDERS, &path, &error.to_string()),
            }
        }
    }

    /// The certificates in PEM form; whatever else there is, is passed over.
    fn take(&mut self, bytes: &[u8]) {
        self.bytes_left -= bytes.len();
        self.certificates.extend(CertificateDer::pem_slice_iter(bytes).map_while(Result::ok));
    }

    fn fault(&mut self, variable: &str, path: &Path, why: &str) {
        if self.faults.len() < FILES_MAX {
            self.faults.push(format!("`{variable}` names {}: {why}", path.display()));
        }
    }

    fn roots(mut self) -> Result<RootCertStore, String> {
        self.certificates.sort_unstable_by(|one, other| one.as_ref().cmp(other.as_ref()));
        self.certificates.dedup();
        let mut roots = RootCertStore::empty();
        let (_, unread) = roots.add_parsable_certificates(self.certificates);
        if roots.is_empty() {
            let none = || format!("neither `{FILE}` nor `{FOLDERS}` names a certificate");
            return Err(self.faults.into_iter().next().unwrap_or_else(none));
        }
        for fault in self.faults {
            tracing::warn!(fault, "roots were not read");
        }
        if unread > 0 {
            tracing::warn!(unread, "roots could not be understood");
        }
        Ok(roots)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;
    use crate::folder::Folder;

    fn certificate() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/environment/certificates/authority.pem")
    }

    fn count(file: Option<&Path>, folders: &[&Path]) -> Option<Result<usize, String>> {
        let folders = (!folders.is_empty()).then(|| std::env::join_paths(folders).unwrap());
        let named = of_variables(file.map(|file| file.as_os_str().to_owned()), folders)?;
        Some(named.map(|roots| roots.len()))
    }

    fn pipe(folder: &Folder, name: &str) -> PathBuf {
        let pipe = folder.join(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        pipe
    }

    /// SPEC 18.9, 4.6: a file that is none, has no end or is too long is refused at once, by the variable that names it.
    #[test]
    fn a_file_of_roots_that_cannot_be_read_is_named() {
        let folder = Folder::new();
        let (long, empty) = (folder.join("long"), folder.join("empty"));
        std::fs::File::create(&long).unwrap().set_len(BYTES_MAX as u64 + 1).unwrap();
        std::fs::write(&empty, "no certificate").unwrap();
        for (file, words) in [
            (pipe(&folder, "pipe"), "`SSL_CERT_FILE` names"),
            (pipe(&folder, "other"), "a pipe"),
            ("/dev/zero".into(), "a device"),
            (folder.join(""), "a folder"),
            (folder.join("missing"), "No such file"),
            (long, "longer than 16 MiB"),
            (empty, "neither `SSL_CERT_FILE`"),
            (PathBuf::new(), "`SSL_CERT_FILE` names"),
        ] {
            let refused = count(Some(&file), &[]).unwrap().unwrap_err();
            assert!(refused.contains(words), "{}: {refused}", file.display());
        }
        let refused = count(None, &[&folder.join("missing")]).unwrap().unwrap_err();
        assert!(refused.starts_with("`SSL_CERT_DIR` names"), "{refused}");
    }

    /// SPEC 4.6: what can be read counts, each certificate once; what is in a folder and is no file is passed over.
    #[test]
    fn what_can_be_read_of_the_roots_counts() {
        let (folder, bare) = (Folder::new(), Folder::new());
        let of_folder = folder.join("a.pem");
        std::fs::copy(certificate(), &of_folder).unwrap();
        std::os::unix::fs::symlink(&of_folder, folder.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("dangling")).unwrap();
        std::fs::create_dir(folder.join("folder")).unwrap();
        let pipe = pipe(&folder, "pipe");
        let (folder, bare) = (folder.join(""), bare.join(""));
        for (file, folders, expected) in [
            (Some(certificate()), vec![], Some(1)),
            (None, vec![&*folder], Some(1)),
            (Some(certificate()), vec![&*folder, &*bare], Some(1)),
            (Some(pipe), vec![&*folder], Some(1)),
            (None, vec![Path::new("")], None),
            (None, vec![], None),
        ] {
            let found = count(file.as_deref(), &folders);
            assert_eq!(found, expected.map(Ok), "{file:?} {folders:?}");
        }
    }
}
