//! Random bytes, and the key that seals what clients bring back.

use std::path::Path;

use trunkline_pool::bridge::SealingKey;

use crate::storage::{FileContent, OwnFile};
use crate::{Error, ErrorCode, Result};

/// The least that a key is made of.
const KEY_BYTES_MIN: usize = 32;

/// Random bytes of the cryptographic provider.
///
/// # Errors
/// `internal` where the system gives none.
pub(super) fn random() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    let provider = rustls::crypto::ring::default_provider();
    let none = |_| Error::new(ErrorCode::Internal, "the system gives no random bytes");
    provider.secure_random.fill(&mut bytes).map_err(none)?;
    Ok(bytes)
}

/// The key of a file, or a random one.
///
/// # Errors
/// `invalid_argument` for a file with too few bytes or none, `store` for one that cannot be read,
/// `internal` where the system gives no random bytes.
pub(super) fn sealing_key(file: Option<&str>) -> Result<SealingKey> {
    let Some(path) = file else { return Ok(SealingKey(random()?)) };
    let unfit = |why: &str| {
        let message = format!("the file of the endpoint's key, {path}, {why}");
        Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "state_key_file")
    };
    match OwnFile::new(Path::new(path), "the key of an endpoint").read()? {
        FileContent::Bytes(bytes) if bytes.len() >= KEY_BYTES_MIN => {
            Ok(SealingKey::of_secret(&bytes))
        }
        FileContent::Bytes(_) => Err(unfit("has fewer than 32 bytes")),
        FileContent::TooLong => Err(unfit("is too long")),
        FileContent::Nothing => Err(unfit("is not there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 19.10: endpoints that share the file take what clients bring back from each other.
    #[test]
    fn the_key_of_a_file_is_the_same_each_time_and_others_are_not() {
        let folder = crate::folder::Folder::new();
        let key = |bytes: &[u8]| {
            let path = folder.join("key");
            std::fs::write(&path, bytes).unwrap();
            sealing_key(path.to_str())
        };
        let (one, same, other) = (key(&[1; 32]), key(&[1; 32]), key(&[2; 40]));
        assert!(one.as_ref().unwrap() == &same.unwrap() && one.unwrap() != other.unwrap());
        assert!(sealing_key(None).unwrap() != sealing_key(None).unwrap());
        let short = key(&[1; 31]).unwrap_err();
        assert_eq!(short.detail()["path"], "state_key_file");
        let missing = sealing_key(folder.join("none").to_str()).unwrap_err();
        assert_eq!(missing.code(), ErrorCode::InvalidArgument);
    }
}
