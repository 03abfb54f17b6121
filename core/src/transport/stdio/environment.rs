//! The environment of a child: a small base, what is asked for by name, and the server's own (SPEC 10.6, S-21).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use trunkline_pool::config::StdioSpec;
use trunkline_pool::pattern;

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

/// The child's whole environment: host variables under a base name or one of `patterns`, but for those that the server
/// unsets; then the server's own.
///
/// A host value that begins with `()` is dropped: old shells take it for a function and run what follows.
pub(super) fn child_environment(
    host: impl Iterator<Item = (OsString, OsString)>,
    patterns: &[String],
    spec: &StdioSpec,
) -> Vec<(OsString, OsString)> {
    let base = if cfg!(windows) { BASE_WINDOWS } else { BASE };
    let inherited = host.filter(|(name, value)| {
        let Some(name) = name.to_str().map(folded) else {
            return false;
        };
        let mut wanted = base.iter().copied().chain(patterns.iter().map(String::as_str));
        wanted.any(|pattern| pattern::matches(&folded(pattern), &name))
            && !spec.unset_env.iter().any(|unset| folded(unset) == name)
            && !value.as_encoded_bytes().starts_with(b"()")
    });
    let own = spec.env.iter().map(|(name, value)| (name.into(), value.into()));
    let keyed = |(name, value): (OsString, OsString)| {
        (name.to_str().map(|it| folded(it).into_owned()), (name, value))
    };
    inherited.chain(own).map(keyed).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Whether two names are those of one variable.
pub(super) fn is_named(name: &OsStr, wanted: &str) -> bool {
    name.to_str().is_some_and(|name| folded(name) == folded(wanted))
}

/// What makes a name the same as another: on Windows, `Path` is `PATH`.
fn folded(name: &str) -> Cow<'_, str> {
    if cfg!(windows) { name.to_uppercase().into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::config::{ServerSpec, Transport};

    use super::*;

    fn environment(
        host: &[(&str, &str)],
        patterns: &[&str],
        own: serde_json::Value,
    ) -> Vec<String> {
        let host = host.iter().map(|(name, value)| (name.into(), value.into()));
        let patterns: Vec<String> = patterns.iter().map(|it| it.to_string()).collect();
        let server = json!({ "command": "server", "env": own });
        let Transport::Stdio(spec) = ServerSpec::from_value("s", &server).unwrap().transport else {
            panic!("it has a command");
        };
        let env = child_environment(host, &patterns, &spec);
        env.iter()
            .map(|(name, value)| format!("{}={}", name.to_str().unwrap(), value.to_str().unwrap()))
            .collect()
    }

    /// SPEC 10.6, S-21.
    #[test]
    fn a_child_gets_the_base_and_its_own_variables_but_no_secret_of_the_host() {
        let host = [("PATH", "/bin"), ("LC_TIME", "C"), ("TOKEN", "canary"), ("LANG", "() { x; }")];
        assert_eq!(environment(&host, &[], json!({ "A": "1" })), ["A=1", "LC_TIME=C", "PATH=/bin"]);
    }

    /// SPEC 10.6.
    #[test]
    fn patterns_widen_what_is_inherited_and_its_own_value_wins() {
        let host = [("NPM_A", "1"), ("NPM_B", "2"), ("NOPE", "3")];
        assert_eq!(
            environment(&host, &["NPM_?"], json!({ "NPM_B": "own" })),
            ["NPM_A=1", "NPM_B=own"]
        );
    }

    /// CONFIG-FORMATS, trap (d): `null` unsets a variable of the base.
    #[test]
    fn a_variable_that_the_server_unsets_is_not_inherited() {
        let host = [("PATH", "/bin"), ("HOME", "/a")];
        assert_eq!(environment(&host, &[], json!({ "HOME": null })), ["PATH=/bin"]);
    }
}
