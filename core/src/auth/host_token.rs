//! What a host answers when it is asked for credentials. An error names the part that is wrong, and
//! shows nothing of it.

use std::time::Duration;

use serde_json::Value;
use trunkline_pool::json::plain;

use super::credentials::grant_types::Token;
use crate::{Error, ErrorCode};

/// A token lives for less, in milliseconds: for 31 years. What is more is a moment, and no time.
const LIFE_MAX_MS: u64 = 1_000_000_000_000;

/// The token in the text of an answer, `{token, expires_in_ms}`; none when the host has none.
///
/// # Errors
/// Those of [`unfit`].
pub(super) fn token_in(answer: &str) -> Result<Option<Token>, Error> {
    let no_object = || unfit("answer", "`answer` is no JSON object");
    let answer = plain(answer).map_err(|_| no_object())?;
    let members = answer.as_object().ok_or_else(no_object)?;
    let member = |name| members.get(name).filter(|value: &&Value| !value.is_null());
    let lives = match member("expires_in_ms") {
        None => None,
        Some(lives) => {
            let lives = lives.as_u64().filter(|lives| *lives < LIFE_MAX_MS).ok_or_else(|| {
                let why =
                    "`expires_in_ms` is not a whole number of milliseconds, from 0 to 31 years";
                unfit("expires_in_ms", why)
            })?;
            Some(Duration::from_millis(lives))
        }
    };
    let Some(token) = member("token") else { return Ok(None) };
    let text = token.as_str().ok_or_else(|| unfit("token", "`token` is not a text"))?;
    let why = "`token` is empty, or holds characters that no header can have";
    Token::new(text, lives).map(Some).map_err(|_| unfit("token", why))
}

/// The error of an answer with a part that is wrong: `invalid_argument` with `detail.path`.
pub(super) fn unfit(path: &str, why: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, format!("the answer of the handler: {why}"))
        .with_detail("path", path)
}
