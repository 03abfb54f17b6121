//! The environment of a child: a small base, what is asked for by name, and the server's own (SPEC
//! 10.6, S-21).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use trunkline_pool::config::StdioSpec;
use trunkline_pool::glob;

/// What a program needs to find its own files and to speak the user's language; no secrets live
/// under these names.
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

/// What a child is given.
#[derive(Clone)]
pub(crate) struct Environment {
    /// Every variable.
    variables: Vec<(OsString, OsString)>,
    /// The values that are the server's own or were asked for by name; those of the base are
    /// everybody's.
    secrets: Vec<String>,
}

impl Environment {
    /// The environment of a child of this process; `inherit_env` holds patterns of host variables
    /// beyond the base and the server's own patterns.
    pub(crate) fn of_child(spec: &StdioSpec, inherit_env: &[String]) -> Environment {
        let patterns = [inherit_env, &spec.inherit_env].concat();
        Environment::from_host(std::env::vars_os(), &patterns, spec)
    }

    /// Host variables under a base name or one of `patterns`, but for those that the server unsets;
    /// then the server's own.
    ///
    /// A host value that begins with `()` is dropped: old shells take it for a function and run
    /// what follows.
    fn from_host(
        host: impl Iterator<Item = (OsString, OsString)>,
        patterns: &[String],
        spec: &StdioSpec,
    ) -> Environment {
        let base = if cfg!(windows) { BASE_WINDOWS } else { BASE };
        let fits = |pattern: &str, name: &str| glob::matches(&folded(pattern), name);
        let mut secrets: Vec<String> = spec.env.values().cloned().collect();
        let mut variables = BTreeMap::new();
        for (name, value) in host {
            let Some(key) = name.to_str().map(|name| folded(name).into_owned()) else {
                continue;
            };
            let is_base = base.iter().any(|pattern| fits(pattern, &key));
            let is_wanted = is_base || patterns.iter().any(|pattern| fits(pattern, &key));
            let is_unset = spec.unset_env.iter().any(|unset| folded(unset) == key);
            if !is_wanted || is_unset || value.as_encoded_bytes().starts_with(b"()") {
                continue;
            }
            if !is_base {
                secrets.push(value.to_string_lossy().into_owned());
            }
            variables.insert(key, (name, value));
        }
        let own = spec.env.iter();
        variables.extend(
            own.map(|(name, value)| (folded(name).into_owned(), (name.into(), value.into()))),
        );
        Environment { variables: variables.into_values().collect(), secrets }
    }

    /// Where its programs are looked for.
    pub(crate) fn path(&self) -> Option<&OsStr> {
        let path = self.variables.iter().find(|(name, _)| is_named(name, "PATH"));
        path.map(|(_, path)| path.as_os_str())
    }

    /// Every variable, as a child is given them.
    pub(crate) fn into_variables(self) -> Vec<(OsString, OsString)> {
        self.variables
    }

    /// The values that must not be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &String> {
        self.secrets.iter()
    }
}

/// Whether two names are those of one variable.
fn is_named(name: &OsStr, wanted: &str) -> bool {
    name.to_str().is_some_and(|name| folded(name) == folded(wanted))
}

/// What makes a name the same as another: on Windows, `Path` is `PATH`.
pub(super) fn folded(name: &str) -> Cow<'_, str> {
    if cfg!(windows) { name.to_uppercase().into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::config::{ServerSpec, Transport};

    use super::*;

    fn given(host: &[(&str, &str)], patterns: &[&str], own: serde_json::Value) -> Environment {
        let host = host.iter().map(|(name, value)| (name.into(), value.into()));
        let patterns: Vec<String> = patterns.iter().map(|it| it.to_string()).collect();
        let server = json!({ "command": "server", "env": own });
        let Transport::Stdio(spec) = ServerSpec::from_value("s", &server).unwrap().transport else {
            panic!("it has a command");
        };
        Environment::from_host(host, &patterns, &spec)
    }

    fn environment(
        host: &[(&str, &str)],
        patterns: &[&str],
        own: serde_json::Value,
    ) -> Vec<String> {
        let env = given(host, patterns, own).variables;
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

    /// S-48: what was asked for by name is as secret as what was written down; what every child
    /// gets is not.
    #[test]
    fn what_patterns_bring_is_a_secret_and_the_base_is_none() {
        let host = [("PATH", "/usr/bin"), ("NPM_TOKEN", "canary-1"), ("OTHER", "canary-2")];
        let own = json!({ "A": "canary-3", "NPM_UNSET": null });
        let given = given(&host, &["NPM_*", "P*"], own);
        assert_eq!(given.secrets().collect::<Vec<_>>(), ["canary-3", "canary-1"]);
    }

    /// CONFIG-FORMATS, trap (d): `null` unsets a variable of the base.
    #[test]
    fn a_variable_that_the_server_unsets_is_not_inherited() {
        let host = [("PATH", "/bin"), ("HOME", "/a")];
        assert_eq!(environment(&host, &[], json!({ "HOME": null })), ["PATH=/bin"]);
    }
}
