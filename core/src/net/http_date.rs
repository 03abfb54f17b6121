//! Times that a server names in its headers.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// How long the server asks to be left alone. A date is one of the server's own clock, where it
/// says what that shows.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| Some(headers.get(name)?.to_str().ok()?.trim());
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    let shown = text(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    Some(until.duration_since(shown.unwrap_or_else(SystemTime::now)).unwrap_or_default())
}
