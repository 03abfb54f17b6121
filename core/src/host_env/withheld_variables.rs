//! What of the host says how to reach the network, and is not given to a server (SPEC 10.6, 18.10).

use serde_json::json;
use trunkline_pool::config::StdioSpec;

use super::Environment;
use crate::{Error, ErrorCode};

/// Names of variables, in upper case, that programs find proxies by. Most of them are read in lower
/// case too.
pub(crate) const PROXIES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "NPM_CONFIG_PROXY",
    "NPM_CONFIG_HTTPS_PROXY",
];

/// The same for files and folders of certificates.
pub(crate) const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "DENO_CERT",
    "AWS_CA_BUNDLE",
    "NPM_CONFIG_CAFILE",
];

/// What programs say, in lower case, when they do not get to where they want, or do not trust who
/// is there.
const SIGNS: [&str; 16] = [
    "certificate",
    "issuer",
    "ssl",
    "tls",
    "proxy",
    "enotfound",
    "eai_again",
    "econnre",
    "etimedout",
    "resolve",
    "resolution",
    "unreachable",
    "timed out",
    "network",
    "connect",
    "dns error",
];

/// The variables of this process that a server lacks to reach the network as this process does, in
/// order.
pub(crate) fn withheld(spec: &StdioSpec, inherit_env: &[String]) -> Vec<String> {
    let given = Environment::of_child(spec, inherit_env).into_variables();
    let given: Vec<String> =
        given.iter().map(|(name, _)| name.to_string_lossy().to_uppercase()).collect();
    let host = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = host.filter_map(|(name, _)| name.into_string().ok());
    let is_withheld = |name: &String| {
        let name = name.to_uppercase();
        (PROXIES.contains(&&*name) || CERTIFICATES.contains(&&*name))
            // A server that wants none has said so.
            && !spec.unset_env.iter().any(|unset| unset.to_uppercase() == name)
            && !given.contains(&name)
    };
    let mut withheld: Vec<String> = names.filter(is_withheld).collect();
    withheld.sort();
    withheld
}

/// The error of a start, with what the server may have lacked. One that says something else of
/// itself is left as it is.
pub(crate) fn with_withheld(error: Error, spec: &StdioSpec, inherit_env: &[String]) -> Error {
    let may_lack = match error.code() {
        ErrorCode::Timeout => true,
        ErrorCode::Exited => {
            let said = error.detail().get("stderr").map(|lines| lines.to_string().to_lowercase());
            said.is_some_and(|said| SIGNS.iter().any(|sign| said.contains(sign)))
        }
        _ => false,
    };
    let names = if may_lack { withheld(spec, inherit_env) } else { Vec::new() };
    if names.is_empty() {
        return error;
    }
    let shown = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let before = error.hint().map(|hint| format!("{hint}; ")).unwrap_or_default();
    let hint = format!(
        "{before}the host has {shown}, which the server was not given: `inherit_env` names what it gets"
    );
    error.with_detail("withheld", json!(names)).with_hint(hint)
}
