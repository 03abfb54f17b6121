//! The environment of a child: a small base, what is asked for by name, and the server's own (SPEC 10.6, S-21).

use std::collections::BTreeMap;
use std::ffi::OsString;

/// What a program needs to find its own files and to speak the user's language; no secrets live under these names.
const BASE: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
];

/// The same for Windows, where programs fail to load without some of them.
const BASE_WINDOWS: &[&str] = &[
    "PATH",
    "PATHEXT",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "TEMP",
    "TMP",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "PROGRAMFILES",
    "PROGRAMDATA",
    "PROCESSOR_ARCHITECTURE",
];

/// The child's whole environment: host variables under a base name or one of `patterns`, then the server's own.
///
/// A host value that begins with `()` is dropped: old shells take it for a function and run what follows.
pub(super) fn child_environment(
    host: impl Iterator<Item = (OsString, OsString)>,
    patterns: &[String],
    own: &BTreeMap<String, String>,
) -> Vec<(OsString, OsString)> {
    let base = if cfg!(windows) { BASE_WINDOWS } else { BASE };
    let inherited = host.filter(|(name, value)| {
        let Some(name) = name.to_str() else {
            return false;
        };
        let mut wanted = base.iter().copied().chain(patterns.iter().map(String::as_str));
        wanted.any(|pattern| matches(pattern, name)) && !value.as_encoded_bytes().starts_with(b"()")
    });
    let own = own.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.chain(own).collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// Whether a name matches a pattern of `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        let here = pattern.get(at);
        if here == Some(&b'*') {
            star = Some((at, from));
            at += 1;
        } else if here.is_some_and(|byte| *byte == b'?' || byte == &name[from]) {
            at += 1;
            from += 1;
        } else if let Some((star_at, taken)) = star {
            star = Some((star_at, taken + 1));
            at = star_at + 1;
            from = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(host: &[(&str, &str)], patterns: &[&str], own: &[(&str, &str)]) -> Vec<String> {
        let host = host.iter().map(|(name, value)| (name.into(), value.into()));
        let patterns: Vec<String> = patterns.iter().map(|it| it.to_string()).collect();
        let own = own.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let env = child_environment(host, &patterns, &own);
        env.iter()
            .map(|(name, value)| format!("{}={}", name.to_str().unwrap(), value.to_str().unwrap()))
            .collect()
    }

    /// SPEC 10.6, S-21.
    #[test]
    fn a_child_gets_the_base_and_its_own_variables_but_no_secret_of_the_host() {
        let host = [("PATH", "/bin"), ("LC_TIME", "C"), ("TOKEN", "canary"), ("LANG", "() { x; }")];
        assert_eq!(environment(&host, &[], &[("A", "1")]), ["A=1", "LC_TIME=C", "PATH=/bin"]);
    }

    /// SPEC 10.6.
    #[test]
    fn patterns_widen_what_is_inherited_and_its_own_value_wins() {
        let host = [("NPM_A", "1"), ("NPM_B", "2"), ("NOPE", "3")];
        assert_eq!(environment(&host, &["NPM_?"], &[("NPM_B", "own")]), ["NPM_A=1", "NPM_B=own"]);
    }

    #[test]
    fn a_star_takes_any_part_of_a_name() {
        let matching = [("*", ""), ("a*c", "abbc"), ("*b*", "abc"), ("a*", "a"), ("a?c*", "abcd")];
        assert!(matching.iter().all(|(pattern, name)| matches(pattern, name)));
        let other = [("a*c", "abd"), ("?", ""), ("a", "ab"), ("", "a"), ("*a", "ab")];
        assert!(!other.iter().any(|(pattern, name)| matches(pattern, name)));
    }
}
