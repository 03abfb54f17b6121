//! The roots that variables name in place of those of the system: read with a bound, and nobody is
//! waited for who may never write (SPEC 18.9).

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::base::bounded_reader;

/// Bytes of all files together. The roots of a system are a hundredth of that.
const BYTES_MAX: usize = 16 << 20;

/// Files of all folders together.
const FILES_MAX: usize = 10_000;

const FILE: &str = "SSL_CERT_FILE";
const FOLDERS: &str = "SSL_CERT_DIR";

/// The variables that name roots in place of those of the system; the verifiers of the other
/// systems read none.
pub(crate) const NAMED_BY: &[&str] =
    if cfg!(all(unix, not(target_vendor = "apple"), not(target_os = "android"))) {
        &[FILE, FOLDERS]
    } else {
        &[]
    };

/// The roots that the environment names; `None` where it names none, so that those of the system
/// count.
///
/// # Errors
/// Why there are none, in words that name the variable.
pub(crate) fn named() -> Option<Result<RootCertStore, String>> {
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
        RootsReader { bytes_left: BYTES_MAX, files_left: FILES_MAX, ..RootsReader::default() };
    if let Some(file) = file {
        reading.file(FILE, Path::new(&file));
    }
    folders().for_each(|folder| reading.folder(&folder));
    Some(reading.roots())
}

#[derive(Default)]
struct RootsReader {
    bytes_left: usize,
    files_left: usize,
    certificates: Vec<CertificateDer<'static>>,
    /// What could not be read.
    faults: Vec<String>,
}

impl RootsReader {
    fn file(&mut self, variable: &'static str, path: &Path) {
        match bounded_reader::file(path, self.bytes_left) {
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
            match bounded_reader::file(&path, self.bytes_left) {
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
mod tests;
