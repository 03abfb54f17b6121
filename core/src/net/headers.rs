//! What single headers say.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

/// How a content is coded all the same, though every request says that nothing coded is wanted:
/// nothing that is inflated here could be larger than what came.
pub(crate) fn coding(headers: &HeaderMap) -> Option<String> {
    let coding = String::from_utf8_lossy(headers.get(CONTENT_ENCODING)?.as_bytes());
    let coding = coding.trim().to_ascii_lowercase();
    (!coding.is_empty() && coding != "identity").then_some(coding)
}

/// The user and the password that a word of a header stands for, where it is that of `Basic`.
pub(crate) fn basic_pair(word: &str) -> Option<[String; 2]> {
    let pair = String::from_utf8(BASE64_STANDARD.decode(word).ok()?).ok()?;
    pair.split_once(':').map(|(user, password)| [user, password].map(str::to_owned))
}
