//! What is in the file of tokens.

use serde::{Deserialize, Serialize};

use super::tokens::{GrantKey, TokenRecord};
use super::{FILE_BYTES_MAX, FileContent, OwnFile};
use crate::Result;

/// The form of the file. A later one is neither guessed at nor taken away from programs that read
/// it; another is damaged.
const VERSION: u64 = 1;

/// What is around the grants is shorter.
const FRAME_BYTES_MAX: usize = 64;

/// What is in it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Grants {
    v: u64,
    pub grants: Vec<TokenRecord>,
}

/// What every version says of itself.
#[derive(Deserialize)]
struct Version {
    v: u64,
}

impl Default for Grants {
    fn default() -> Grants {
        Grants { v: VERSION, grants: Vec::new() }
    }
}

/// What a file turned out to be.
pub(crate) enum TokenFileContent {
    Whole(Grants),
    Damaged,
}

impl Grants {
    /// What is in the file; nothing when it is not there.
    ///
    /// # Errors
    /// `store`, also for one that another could have put there, and for one of a later version.
    pub(crate) fn read(file: &OwnFile) -> Result<TokenFileContent> {
        let bytes = match file.read()? {
            FileContent::Nothing => return Ok(TokenFileContent::Whole(Grants::default())),
            FileContent::TooLong => return Ok(TokenFileContent::Damaged),
            FileContent::Bytes(bytes) => bytes,
        };
        let version = serde_json::from_slice::<Version>(&bytes);
        if version.is_ok_and(|version| version.v > VERSION) {
            return Err(file.later_version_error());
        }
        let grants = serde_json::from_slice(&bytes).ok();
        Ok(match grants.filter(|grants: &Grants| grants.v == VERSION) {
            Some(grants) => TokenFileContent::Whole(grants),
            None => TokenFileContent::Damaged,
        })
    }

    /// Puts this in the place of what is there, in one step.
    pub(crate) fn write(&self, file: &OwnFile) -> Result<()> {
        let bytes = serde_json::to_vec(self).map_err(std::io::Error::from);
        file.write(&bytes.map_err(|error| file.failed("written", &error))?)
    }
}

/// Drops the first of them until the others fit into a file; the last stays.
pub(crate) fn drop_what_does_not_fit(grants: &mut Vec<TokenRecord>) {
    let mut room = FILE_BYTES_MAX - FRAME_BYTES_MAX;
    let fitting = grants.iter().rev().take_while(|kept| {
        let length = serde_json::to_vec(kept).map_or(0, |bytes| bytes.len() + 1);
        let left = room.checked_sub(length);
        room = left.unwrap_or(0);
        left.is_some()
    });
    let fitting = fitting.count().max(1);
    grants.drain(..grants.len().saturating_sub(fitting));
}

/// A number for the grants of one issuer for one resource, the same in every process (FNV-1a).
pub(crate) fn digest(key: &GrantKey) -> u64 {
    let texts = [&key.issuer, &key.resource];
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
