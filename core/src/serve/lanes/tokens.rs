//! The tokens of the clients of a port: several named ones in one file of the user's alone.
//!
//! A line is `name = token` or `name@profile = token`; `#` begins a comment. A name may have two
//! tokens while one replaces the other. The file is read again when it changed: a token that is
//! not known is looked for at once, and one that was taken out is refused within a second.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::time::Instant;

use crate::Result;
use crate::runtime::blocking_pool::OneByOne;
use crate::serve::lane::{Principal, PrincipalKind};
use crate::serve::secrets::random;
use crate::storage::{FileContent, FileVersion, OwnFile, lock_now};

/// The tokens that are valid, and the file that they come from.
pub(super) struct Tokens {
    /// None for a token of this process alone.
    file: Option<OwnFile>,
    /// So long a token that was found is valid without another look.
    recheck: Duration,
    known: Mutex<KnownTokens>,
    turn: OneByOne,
}

struct KnownTokens {
    entries: Arc<[NamedToken]>,
    version: Option<FileVersion>,
    checked: Instant,
}

#[derive(Clone)]
struct NamedToken {
    secret: Box<str>,
    who: Principal,
}

/// A token has 128 random bits or more: so many characters of base64.
const TOKEN_CHARS_MIN: usize = 22;
const TOKEN_CHARS_MAX: usize = 512;
const NAME_CHARS_MAX: usize = 64;

/// A file system that is away longer than this leaves the tokens as they were.
const READ_WAIT: Duration = Duration::from_secs(2);

/// The name of the token that is made where there is no file.
const FIRST_NAME: &str = "default";

impl Tokens {
    /// The tokens of a file, which is made with one token if it is not there. It may block.
    ///
    /// # Errors
    /// `store` for a file that cannot be read or made, that others may read or write, or in which
    /// a line is no token.
    pub(super) fn open(path: PathBuf, recheck: Duration) -> Result<Tokens> {
        let file = OwnFile::new(path, "tokens");
        if !file.exists()? {
            file.make_folder()?;
            let _lock = lock_now(&file)?;
            if !file.exists()? {
                let token = URL_SAFE_NO_PAD.encode(random()?);
                file.write(format!("{FIRST_NAME} = {token}\n").as_bytes())?;
            }
        }
        let version = file.stamp()?;
        let entries = read(&file)?;
        let known = KnownTokens { entries, version: Some(version), checked: Instant::now() };
        Ok(Tokens::of(Some(file), recheck, known))
    }

    /// One token, which is in no file.
    ///
    /// # Errors
    /// `internal` where the system gives no random bytes.
    pub(super) fn random() -> Result<Tokens> {
        let who = Principal { kind: PrincipalKind::Token, name: FIRST_NAME.into(), profile: None };
        let secret = URL_SAFE_NO_PAD.encode(random()?).into();
        let entries = Arc::new([NamedToken { secret, who }]);
        let known = KnownTokens { entries, version: None, checked: Instant::now() };
        Ok(Tokens::of(None, Duration::MAX, known))
    }

    fn of(file: Option<OwnFile>, recheck: Duration, known: KnownTokens) -> Tokens {
        Tokens { file, recheck, known: Mutex::new(known), turn: OneByOne::default() }
    }

    /// The first token, for a host that hands it to a client of its own.
    pub(super) fn first(&self) -> Option<Arc<str>> {
        self.known().entries.first().map(|token| Arc::from(&*token.secret))
    }

    /// Whose token this is.
    ///
    /// A dropped future loses nothing.
    pub(super) async fn principal(self: &Arc<Self>, token: &str) -> Option<Principal> {
        let (entries, is_fresh) = {
            let known = self.known();
            (known.entries.clone(), known.checked.elapsed() < self.recheck)
        };
        let found = find(&entries, token);
        if self.file.is_none() || is_fresh && found.is_some() {
            return found;
        }
        let tokens = self.clone();
        let refresh = self.turn.run(move || tokens.refresh());
        if tokio::time::timeout(READ_WAIT, refresh).await.is_err() {
            tracing::warn!("the file of tokens cannot be read in time");
        }
        let entries = self.known().entries.clone();
        find(&entries, token)
    }

    /// Reads the file if it is another one. Without a file that can be read no token is valid.
    fn refresh(&self) {
        let Some(file) = &self.file else { return };
        let version = file.stamp().ok();
        {
            let mut known = self.known();
            let is_same = version.is_some() && known.version == version;
            if is_same && version.as_ref().is_some_and(FileVersion::is_settled) {
                known.checked = Instant::now();
                return;
            }
        }
        let read = read(file);
        if let Err(error) = &read {
            tracing::warn!(%error, "no token is valid: their file cannot be read");
        }
        let entries = read.unwrap_or_default();
        *self.known() = KnownTokens { entries, version, checked: Instant::now() };
    }

    fn known(&self) -> MutexGuard<'_, KnownTokens> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares with every token, and each in a time that says nothing of its content.
fn find(entries: &[NamedToken], given: &str) -> Option<Principal> {
    let mut found = None;
    for token in entries {
        if is_equal(token.secret.as_bytes(), given.as_bytes()) {
            found = Some(token.who.clone());
        }
    }
    found
}

fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
    black_box(differing) == 0 && one.len() == other.len()
}

fn read(file: &OwnFile) -> Result<Arc<[NamedToken]>> {
    let unreadable = |why: String| {
        file.failed("read", &std::io::Error::new(std::io::ErrorKind::InvalidData, why))
    };
    file.check_private()?;
    match file.read()? {
        FileContent::Bytes(bytes) => parsed(&bytes).map_err(unreadable),
        FileContent::Nothing => Err(unreadable("it is not there".into())),
        FileContent::TooLong => Err(unreadable("it is too long".into())),
    }
}

/// The tokens of a file's text, or what is wrong in which line. No token is shown.
fn parsed(bytes: &[u8]) -> std::result::Result<Arc<[NamedToken]>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
    let mut tokens: Vec<NamedToken> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why| format!("line {} {why}", index + 1);
        let (name, secret) = line.split_once('=').ok_or_else(|| wrong("is not `name = token`"))?;
        let (name, secret) = (name.trim(), secret.trim());
        let (name, profile) = match name.split_once('@') {
            Some((name, profile)) => (name, Some(profile)),
            None => (name, None),
        };
        if ![Some(name), profile].into_iter().flatten().all(is_name) {
            return Err(wrong("has a name with other characters than letters, digits, `-._`"));
        }
        let chars = TOKEN_CHARS_MIN..=TOKEN_CHARS_MAX;
        if !chars.contains(&secret.len()) || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("has a token that is not 22 to 512 visible characters"));
        }
        if tokens.iter().any(|token| *token.secret == *secret) {
            return Err(wrong("has the token of another line"));
        }
        let profile = profile.map(Arc::from);
        let who = Principal { kind: PrincipalKind::Token, name: name.into(), profile };
        tokens.push(NamedToken { secret: secret.into(), who });
    }
    Ok(tokens.into())
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests;
