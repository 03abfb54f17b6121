//! Cookies of one connection, or of one origin of a sign-in (RFC 6265, SPEC 18.6): balancers keep a
//! session at one node by them.
//!
//! They are for the origin that set them and for nobody else. A domain that a server says makes a
//! cookie go nowhere else, and one of another place is not kept (RFC 6265 5.3). They live in memory
//! alone, and no copy that the library writes shows one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue, SET_COOKIE};

use super::redact::Learned;

/// Cookies of one connection; of more the oldest go.
const COOKIES_MAX: usize = 50;

/// Bytes of a name and its value; longer ones are not kept.
const COOKIE_BYTES_MAX: usize = 4 << 10;

/// However long a server says: a connection does not stand for longer.
const AGE_MAX: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// What one origin set.
#[derive(Default)]
pub(crate) struct Jar {
    held: Mutex<CookieJarContents>,
    /// The values, which are not shown.
    pub learned: Arc<Learned>,
}

#[derive(Default)]
struct CookieJarContents {
    /// In the order in which they were set first.
    cookies: Vec<CookieJarEntry>,
    /// Whose they are: how often it was signed out of.
    sign_outs: u64,
}

struct CookieJarEntry {
    name: String,
    value: String,
    path: String,
    is_secure: bool,
    until: Option<SystemTime>,
}

impl Jar {
    /// Takes what an answer from this address sets, after so many sign-outs.
    pub(crate) fn take(&self, from: &Url, headers: &HeaderMap, sign_outs: u64) {
        if !headers.contains_key(SET_COOKIE) {
            return;
        }
        let now = SystemTime::now();
        let mut held = self.held(sign_outs);
        for value in headers.get_all(SET_COOKIE) {
            let text = std::str::from_utf8(value.as_bytes()).ok();
            if let Some(kept) = text.and_then(|text| CookieJarEntry::of(text, from, now)) {
                held.set(kept);
            }
        }
        held.cookies.retain(|kept| kept.until.is_none_or(|until| until > now));
        let surplus = held.cookies.len().saturating_sub(COOKIES_MAX);
        held.cookies.drain(..surplus);
        self.learned.hold(held.cookies.iter().map(|kept| &*kept.value));
    }

    /// What goes with a request to this address, after so many sign-outs.
    pub(crate) fn header(&self, to: &Url, sign_outs: u64) -> Option<HeaderValue> {
        let held = self.held(sign_outs);
        if held.cookies.is_empty() {
            return None;
        }
        let now = SystemTime::now();
        let mut fit: Vec<&CookieJarEntry> =
            held.cookies.iter().filter(|kept| kept.fits(to, now)).collect();
        // Those of the nearest folder first; of one folder the oldest.
        fit.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
        let pairs: Vec<String> =
            fit.iter().map(|kept| format!("{}={}", kept.name, kept.value)).collect();
        let mut header = HeaderValue::try_from(pairs.join("; ")).ok();
        header.iter_mut().for_each(|header| header.set_sensitive(true));
        header.filter(|header| !header.is_empty())
    }

    /// Lets go of what was set before so many sign-outs.
    pub(crate) fn forget(&self, sign_outs: u64) {
        drop(self.held(sign_outs));
    }

    /// What there is. A sign-out ends it: who signs in next is somebody else.
    fn held(&self, sign_outs: u64) -> MutexGuard<'_, CookieJarContents> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.sign_outs != sign_outs {
            *held = CookieJarContents { cookies: Vec::new(), sign_outs };
            self.learned.hold(std::iter::empty());
        }
        held
    }
}

/// Without the values.
impl std::fmt::Debug for Jar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Jar([redacted])")
    }
}

impl CookieJarContents {
    /// One that is over by its own word goes with the others that are.
    fn set(&mut self, kept: CookieJarEntry) {
        let same = |other: &&mut CookieJarEntry| other.name == kept.name && other.path == kept.path;
        match self.cookies.iter_mut().find(same) {
            Some(old) => *old = kept,
            None => self.cookies.push(kept),
        }
    }
}

impl CookieJarEntry {
    /// What one header sets, unless it is too long or not to be sent back (RFC 6265 5.2). What it
    /// says that is not known here, and what cannot be read of the rest, is passed over.
    fn of(text: &str, from: &Url, now: SystemTime) -> Option<CookieJarEntry> {
        let mut parts = text.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim_end(), value.trim_start());
        let is_text = |text: &str| HeaderValue::try_from(text).is_ok();
        if name.is_empty() || name.len() + value.len() > COOKIE_BYTES_MAX || !is_text(text) {
            return None;
        }
        let (mut path, mut is_secure, mut age, mut until) = (None, false, None, None);
        for attribute in parts {
            let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "path" => path = Some(value).filter(|path| path.starts_with('/')),
                "secure" => is_secure = true,
                "domain" if !is_domain_of(value, from) => return None,
                "max-age" => age = value.parse::<i64>().ok().or(age),
                // Many write the day as Netscape did, with hyphens.
                "expires" => until = httpdate::parse_http_date(&value.replace('-', " ")).ok(),
                _ => {}
            }
        }
        if is_secure && from.scheme() != "https" {
            return None;
        }
        let age = age.map(|age| Duration::from_secs(age.max(0).unsigned_abs()).min(AGE_MAX));
        let until = age.map(|age| now + age).or(until);
        let path = path.map_or_else(|| folder_of(from), str::to_owned);
        Some(CookieJarEntry {
            name: name.to_owned(),
            value: value.to_owned(),
            path,
            is_secure,
            until,
        })
    }

    fn fits(&self, to: &Url, now: SystemTime) -> bool {
        let is_over = self.until.is_some_and(|until| until <= now);
        !is_over && (!self.is_secure || to.scheme() == "https") && is_below(to.path(), &self.path)
    }
}

/// Whether a host is of that domain, or the domain itself (RFC 6265 5.1.3).
fn is_domain_of(domain: &str, url: &Url) -> bool {
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    let host = url.host_str().unwrap_or_default();
    let above = host.strip_suffix(&*domain);
    domain.is_empty()
        || above
            .is_some_and(|rest| rest.is_empty() || (rest.ends_with('.') && url.domain().is_some()))
}

/// The folder that a cookie without a path is for (RFC 6265 5.1.4).
fn folder_of(url: &Url) -> String {
    match url.path().rsplit_once('/') {
        Some(("", _)) | None => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
    }
}

/// Whether a path is that folder, or within it.
fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || folder.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "https://h.example/a/mcp";

    fn set(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(SET_COOKIE, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn sent(jar: &Jar, to: &str) -> String {
        let header = jar.header(&Url::parse(to).unwrap(), 0);
        header.map(|header| header.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    fn after(from: &str, values: &[&[&str]], to: &str) -> String {
        let jar = Jar::default();
        for values in values {
            jar.take(&Url::parse(from).unwrap(), &set(values), 0);
        }
        sent(&jar, to)
    }

    /// SPEC 18.6: what is set by one answer or by several, and what of it goes with the next
    /// request.
    #[test]
    fn a_cookie_goes_where_it_was_set_for() {
        for (values, expected) in [
            (&[&["a=1"][..]][..], "a=1"),
            (&[&["a=1; Path=/", "b=2"]], "b=2; a=1"),
            (&[&["a=1"], &["a=2"]], "a=2"),
            (&[&["a=1", "b=2"], &["a=3"]], "a=3; b=2"),
            (&[&["a=1; Path=/a"], &["a=2; Path=/"]], "a=1; a=2"),
            (&[&["a=1; Path=/other"]], ""),
            (&[&["a=1; Path=/a/m"]], ""),
            (&[&["a=1; Path=/a/mcp"]], "a=1"),
            (&[&["a=1; Path=relative"]], "a=1"),
            (&[&["a=1; Domain=evil.example"]], ""),
            (&[&["a=1; Domain=ample"]], ""),
            (&[&["a=1; Domain=.b.h.example"]], ""),
            (&[&["a=1; Domain=.H.example; Path=/"]], "a=1"),
            (&[&["a=1; Domain=example"]], "a=1"),
            (&[&["a=1; Domain="]], "a=1"),
            (&[&["a=1"], &["a=; Max-Age=0"]], ""),
            (&[&["a=1"], &["a=; Max-Age=-7"]], ""),
            (&[&["a=1"], &["a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]], ""),
            (&[&["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60"]], "a=1"),
            (&[&["a=1; Expires=never"]], "a=1"),
            (&[&["a=1"], &["a=; expires=Thu, 01-Jan-1970 00:00:00 GMT"]], ""),
            (&[&["a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT"]], "a=1"),
            (&[&["a=1; Max-Age=99999999999999999; MAX-AGE=x"]], "a=1"),
            (&[&[" a = 1 2 ;secure ; path = / "]], "a=1 2"),
            (&[&["a=\"q\"; HttpOnly; SameSite=None; Secure"]], "a=\"q\""),
            (&[&["=1", "no pair", ""]], ""),
        ] {
            assert_eq!(after(HOME, values, HOME), expected, "{values:?}");
        }
    }

    /// SPEC 18.6: `Secure` is obeyed in both directions.
    #[test]
    fn a_secure_cookie_is_neither_taken_nor_sent_in_clear_text() {
        let clear = "http://h.example/a/mcp";
        assert_eq!(after(clear, &[&["a=1; Secure", "b=2"]], clear), "b=2");
        assert_eq!(after(HOME, &[&["a=1; Secure", "b=2"]], clear), "b=2");
    }

    /// SPEC 18.6: at most 50, of 4 KiB each.
    #[test]
    fn a_server_cannot_fill_the_jar() {
        let jar = Jar::default();
        let home = Url::parse(HOME).unwrap();
        for number in 0..500 {
            jar.take(&home, &set(&[&format!("c{number}=1")]), 0);
        }
        assert_eq!(sent(&jar, HOME).split("; ").count(), COOKIES_MAX);
        assert!(sent(&jar, HOME).ends_with("c499=1"));
        let of = |bytes: usize| after(HOME, &[&[&format!("a={}", "x".repeat(bytes))]], HOME);
        assert_eq!(of(COOKIE_BYTES_MAX - 1).len(), COOKIE_BYTES_MAX + 1);
        assert_eq!(of(COOKIE_BYTES_MAX), "");
    }

    /// SPEC 18.6: who signs in next is not who was here before.
    #[test]
    fn a_sign_out_empties_the_jar() {
        let jar = Jar::default();
        let home = Url::parse(HOME).unwrap();
        jar.take(&home, &set(&["a=1"]), 0);
        assert_eq!(jar.header(&home, 1), None);
        jar.take(&home, &set(&["b=2"]), 1);
        assert_eq!(jar.header(&home, 1).unwrap(), "b=2");
    }

    /// SPEC 18.6: neither the jar nor what goes into a request shows a value, and texts of the
    /// server lose it.
    #[test]
    fn a_value_is_not_shown() {
        let jar = Jar::default();
        let home = Url::parse(HOME).unwrap();
        jar.take(&home, &set(&["a=canary-cookie"]), 0);
        let redactor = crate::net::redact::Redactor::new(std::iter::empty(), 1 << 10);
        let redactor = redactor.with(jar.learned.clone());
        let told = redactor.text("you sent canary-cookie");
        let shown = format!("{jar:?} {:?} {told}", jar.header(&home, 0));
        assert!(!shown.contains("canary"), "{shown}");
    }
}
