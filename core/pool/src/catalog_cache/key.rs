//! What a kept catalog is found by.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::base::text::{escaped, hex};
use crate::config::ServerSpec;
use crate::settings::Template;

/// The hash of a configuration as it is written, before its variables are expanded: what a variable
/// stands for is no part of it, so that a secret that was rotated leaves it as it is.
///
/// Equal for whatever is equal but for the fields that say nothing of the connection. `Debug`
/// prints nothing of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct WrittenHash([u8; 32]);

impl WrittenHash {
    /// That of a configuration whose values are taken literally.
    pub fn literal(spec: &ServerSpec) -> WrittenHash {
        WrittenHash::of("literal", spec, None)
    }

    /// That of an entry of a settings file.
    pub fn template(template: &Template) -> WrittenHash {
        let (spec, env_file) = template.behaviour();
        WrittenHash::of("template", spec, env_file)
    }

    /// Another one, for the same configuration where it needs approval.
    pub fn of_approved(self) -> WrittenHash {
        WrittenHash(self.0.map(|byte| !byte))
    }

    fn of(kind: &str, spec: &ServerSpec, env_file: Option<&str>) -> WrittenHash {
        let fingerprint = spec.fingerprint("", &[]);
        // A file of no name is another than none.
        let env_file = env_file.map(|file| format!("={file}")).unwrap_or_default();
        WrittenHash(digest([kind.as_bytes(), fingerprint.bytes(), env_file.as_bytes()]))
    }
}

impl fmt::Debug for WrittenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Written")
    }
}

/// On whose behalf a server lists: what it lists may depend on that.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The workspace, in which programs start.
    pub workspace: &'a [u8],
    /// The authorization context.
    pub context: &'a str,
    /// The capabilities that the server is offered, in their order.
    pub capabilities: &'a [&'a str],
}

/// What a kept catalog is found by (SPEC 14.2): the server's name, the hash of its configuration as
/// it is written, and on whose behalf it listed.
///
/// It holds no value of the configuration. `Debug` prints the name alone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    server: Arc<str>,
    digest: [u8; 32],
}

/// The version of what the hash of a key covers.
const FORM: &[u8] = b"1";

impl CacheKey {
    /// The key of a server of that name.
    pub fn new(server: &str, written: &WrittenHash, asker: Asker<'_>) -> CacheKey {
        let Asker { workspace, context, capabilities } = asker;
        let capabilities = capabilities.join(" ");
        let parts = [
            FORM,
            server.as_bytes(),
            &written.0,
            workspace,
            context.as_bytes(),
            capabilities.as_bytes(),
        ];
        CacheKey { server: server.into(), digest: digest(parts) }
    }

    /// The server's name.
    pub fn server(&self) -> &Arc<str> {
        &self.server
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The key as 64 hex digits: nothing that anybody wrote becomes part of a path.
    pub fn digits(&self) -> String {
        hex(&self.digest)
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CacheKey({})", escaped(&self.server))
    }
}

/// SHA-256 over the parts, each after its length, so that no two lists of parts read the same.
fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}
