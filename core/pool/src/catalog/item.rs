//! One listed thing: what makes it usable, and what of it a model sees.

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{Item, ListKind, SkippedItem};
use crate::base::text::{escaped, is_hidden};
use crate::json::{CanonicalFault, canonical, lossy_members, members};
use crate::lenient::whole_characters;

/// The longest name of a tool or prompt, in bytes. The protocol recommends 128 characters.
const NAME_BYTES_MAX: usize = 256;

/// The longest URI or URI template, in bytes.
const URI_BYTES_MAX: usize = 8 << 10;

/// The longest definition, in bytes: it bounds the work on one hostile item.
const DEFINITION_BYTES_MAX: usize = 1 << 20;

/// The longest name that a report shows, in characters.
const SHOWN_NAME_MAX: usize = 80;

/// The members that a model sees, and so the digest covers (SPEC 7.6), in the order in which they
/// are hashed.
fn seen_members(list: ListKind) -> &'static [&'static str] {
    match list {
        ListKind::Tools => {
            &["name", "title", "description", "inputSchema", "outputSchema", "annotations"]
        }
        ListKind::Prompts => &["name", "title", "description", "arguments"],
        ListKind::Resources => {
            &["uri", "name", "title", "description", "mimeType", "size", "annotations"]
        }
        ListKind::ResourceTemplates => {
            &["uriTemplate", "name", "title", "description", "mimeType", "annotations"]
        }
    }
}

/// The member that names an item of the list.
fn key_member(list: ListKind) -> &'static str {
    match list {
        ListKind::Tools | ListKind::Prompts => "name",
        ListKind::Resources => "uri",
        ListKind::ResourceTemplates => "uriTemplate",
    }
}

impl Item {
    /// The members of a tool that its digest covers.
    pub(crate) fn seen_of_tools() -> impl Iterator<Item = &'static str> {
        seen_members(ListKind::Tools).iter().copied()
    }

    /// Reads one definition. An item without a usable name or input schema is left out. A member of
    /// a wrong type stays in the definition, and each typed reader drops it (SPEC 18.2).
    pub(super) fn parse(list: ListKind, written: &str) -> Result<Item, SkippedItem> {
        // A host is handed whole characters alone (SPEC 18.3).
        let definition = &*whole_characters(written);
        let nameless = |reason: String| SkippedItem { list, name: None, reason };
        if definition.len() > DEFINITION_BYTES_MAX {
            let reason = format!("its definition is longer than {DEFINITION_BYTES_MAX} bytes");
            return Err(SkippedItem { list, name: name_of(list, definition), reason });
        }
        if !definition.starts_with('{') {
            return Err(nameless("it is not an object".into()));
        }
        let form = canonical(definition);
        // Of what has no form the name is looked for all the same.
        let members = members(form.as_deref().unwrap_or(definition));
        let members =
            members.map_err(|_| nameless(format!("it {}", CanonicalFault::NotJson.sentence())))?;
        let key = key_member(list);
        let raw = members.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        let raw = raw.ok_or_else(|| nameless(format!("it has no `{key}`")))?;
        let name: String = serde_json::from_str(raw.get())
            .ok()
            // No server would know it by another name.
            .filter(|_| definition == written || !is_mended(list, written))
            .ok_or_else(|| nameless(format!("its `{key}` is not a string")))?;
        let named = |reason: String| SkippedItem { list, name: Some(shown(&name)), reason };
        check_name(list, &name).map_err(|reason| named(reason.into()))?;
        // The whole has to have one meaning, or what a model is shown would depend on who reads it.
        form.as_ref().map_err(|fault| named(format!("it {}", fault.sentence())))?;
        if list == ListKind::Tools {
            check_arguments(&members).map_err(|reason| named(reason.into()))?;
        }
        let digest = digest(list, &members);
        Ok(Item { name: name.into(), definition: definition.into(), digest })
    }
}

/// Whether a definition has half a character in its name.
fn is_mended(list: ListKind, written: &str) -> bool {
    let members = lossy_members(written).unwrap_or_default();
    let mut keys = members.iter().filter(|(name, _)| name == key_member(list));
    keys.any(|(_, name)| whole_characters(name.get()) != name.get())
}

/// The name of a definition that is not read, as far as it can be told.
fn name_of(list: ListKind, definition: &str) -> Option<String> {
    let members = members(definition).ok()?;
    let (_, name) = members.into_iter().find(|(name, _)| name == key_member(list))?;
    serde_json::from_str::<String>(name.get()).ok().map(|name| shown(&name))
}

/// A name that could deceive a reader or a terminal is not carried any further (SPEC 4.5).
fn check_name(list: ListKind, name: &str) -> Result<(), &'static str> {
    let bytes_max = match list {
        ListKind::Tools | ListKind::Prompts => NAME_BYTES_MAX,
        ListKind::Resources | ListKind::ResourceTemplates => URI_BYTES_MAX,
    };
    if name.is_empty() {
        Err("its name is empty")
    } else if name.len() > bytes_max {
        Err("its name is too long")
    } else if name.chars().any(is_hidden) {
        Err("its name holds control or invisible characters")
    } else {
        Ok(())
    }
}

/// A tool without a schema of its arguments cannot be called.
fn check_arguments(members: &[(String, &RawValue)]) -> Result<(), &'static str> {
    let schema = members.iter().find(|(name, _)| name == "inputSchema");
    match schema.map_or("null", |(_, value)| value.get()) {
        "null" => Err("it has no `inputSchema`"),
        // PHP writes an empty map so; in canonical form there is nothing in it.
        "[]" => Ok(()),
        schema if schema.starts_with('{') => Ok(()),
        _ => Err("its `inputSchema` is not an object"),
    }
}

/// SHA-256 over the members that a model sees, which are in canonical form. A member that is null
/// counts as absent; one of a wrong type is covered too, since a host is handed it.
fn digest(list: ListKind, members: &[(String, &RawValue)]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(list.member());
    for name in seen_members(list) {
        let found = members.iter().find(|(member, _)| member == name).map(|(_, value)| value.get());
        let Some(text) = found.filter(|text| *text != "null") else { continue };
        // Names hold no NUL and lengths come first, so that no two lists of members read the same.
        hasher.update(format!("\0{name}\0{}\0", text.len()));
        hasher.update(text);
    }
    hasher.finalize().into()
}

fn shown(name: &str) -> String {
    let cut: String = name.chars().take(SHOWN_NAME_MAX).collect();
    let dots = if cut.len() < name.len() { "…" } else { "" };
    escaped(&cut) + dots
}
