//! Content of results: URIs as the aggregate shows them, and kinds that an old client knows.

use serde_json::json;

use super::uris::exposed;
use crate::bridge::wire::edit::{Edit, edited, edited_items, put};
use crate::bridge::wire::frames::text;
use crate::bridge::wire::revisions::LEGACY;
use crate::json::{members, readable};

/// How content changes on its way to a client.
#[derive(Clone, Copy, Debug)]
pub(in crate::bridge) struct ContentChange<'a> {
    /// The server whose URIs the aggregate shows; on a transparent path none.
    pub server: Option<&'a str>,
    /// The revision of the client.
    pub revision: &'a str,
}

/// ListKinds of content, and the first revision that has each: strict clients refuse a whole result
/// for one that they do not know.
const SINCE: [(&str, &str); 2] = [("audio", LEGACY[1]), ("resource_link", LEGACY[2])];

impl ContentChange<'_> {
    /// Whether anything may change.
    fn is_needed(self) -> bool {
        self.server.is_some() || SINCE.iter().any(|(_, since)| self.revision < *since)
    }

    /// The member of a result, where it changes.
    pub fn member(self, name: &str, value: &str) -> Option<String> {
        match name {
            _ if !self.is_needed() => None,
            "content" => edited_items(value, |item| self.item(item)),
            "messages" => edited_items(value, |message| self.message(message)),
            "contents" => {
                let server = self.server?;
                edited_items(value, |item| with_uri(item, server))
            }
            _ => None,
        }
    }

    /// A message of a prompt: its content is one item, or several.
    fn message(self, message: &str) -> Option<String> {
        let edit = |name: &str, value: &str| match name {
            "content" if value.starts_with('[') => put(edited_items(value, |item| self.item(item))),
            "content" => put(self.item(value)),
            _ => Edit::Keep,
        };
        edited(message, edit, &[])
    }

    /// An item of content, where it changes.
    fn item(self, item: &str) -> Option<String> {
        let read = members(item).ok()?;
        let get = |name: &str| read.iter().rfind(|(had, _)| had == name).map(|(_, value)| value);
        let kind: String = serde_json::from_str(get("type")?.get()).ok()?;
        let is_new = SINCE.iter().any(|(new, since)| kind == *new && self.revision < *since);
        match (&*kind, self.server) {
            _ if is_new => Some(described(&kind, item)),
            ("resource_link", Some(server)) => with_uri(item, server),
            ("resource", Some(server)) => {
                let edit = |name: &str, value: &str| match name {
                    "resource" => put(with_uri(value, server)),
                    _ => Edit::Keep,
                };
                edited(item, edit, &[])
            }
            _ => None,
        }
    }
}

/// An object whose `uri` the aggregate shows.
fn with_uri(object: &str, server: &str) -> Option<String> {
    let edit = |name: &str, value: &str| match name {
        "uri" => put(shown_uri(value, server)),
        _ => Edit::Keep,
    };
    edited(object, edit, &[])
}

/// The JSON of a URI, as the aggregate shows it.
pub(in crate::bridge) fn shown_uri(json: &str, server: &str) -> Option<String> {
    let uri: String = serde_json::from_str(json).ok()?;
    Some(text(&exposed(server, &uri)))
}

/// A text in the place of content that the client does not know.
fn described(kind: &str, item: &str) -> String {
    let item = readable(item).unwrap_or_default();
    let what = item["uri"].as_str().or(item["mimeType"].as_str()).unwrap_or_default();
    json!({ "type": "text", "text": format!("[{kind}: {what}]") }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = r#"[{"type":"text","text":"file:///a"},{"type":"resource_link","uri":"file:///a","name":"n"}]"#;
    const RESOURCE: &str = r#"[{"type":"resource","resource":{"uri":"file:///a","text":"t"}}]"#;
    const AUDIO: &str = r#"[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]"#;

    /// SPEC 19.3, 19.6: the aggregate shows its own URIs wherever a URI is one; a transparent path
    /// changes nothing.
    #[test]
    fn uris_are_shown_wherever_they_stand() {
        let aggregate = ContentChange { server: Some("s"), revision: "2025-11-25" };
        let transparent = ContentChange { server: None, revision: "2025-11-25" };
        for (member, value, uri) in [
            ("content", LINK.to_owned(), r#""uri":"trunkline://s/file:///a","name""#),
            ("content", RESOURCE.to_owned(), r#""uri":"trunkline://s/file:///a","text""#),
            ("contents", r#"[{"uri":"ui://a","text":"t"}]"#.to_owned(), r#""uri":"ui://s+a""#),
            ("messages", format!(r#"[{{"role":"user","content":{RESOURCE}}}]"#), "trunkline://s/"),
            (
                "messages",
                r#"[{"role":"user","content":{"type":"resource_link","uri":"x:y"}}]"#.to_owned(),
                r#""uri":"trunkline://s/x:y""#,
            ),
        ] {
            let changed = aggregate.member(member, &value).unwrap();
            assert!(changed.contains(uri), "{changed}");
            assert_eq!(transparent.member(member, &value), None);
        }
        // Text and structured content are the server's.
        let changed = aggregate.member("content", LINK).unwrap();
        assert!(changed.contains(r#""text":"file:///a""#), "{changed}");
        assert_eq!(aggregate.member("structuredContent", LINK), None);
    }

    #[test]
    fn old_clients_are_told_of_new_content_in_words() {
        for (revision, content, expected) in [
            ("2024-11-05", AUDIO, Some(r#"[{"type":"text","text":"[audio: audio/wav]"}]"#)),
            ("2025-03-26", AUDIO, None),
            ("2025-06-18", LINK, None),
        ] {
            let change = ContentChange { server: None, revision };
            assert_eq!(change.member("content", content).as_deref(), expected, "{revision}");
        }
        let change = ContentChange { server: None, revision: "2025-03-26" };
        let told = change.member("content", LINK).unwrap();
        assert!(told.contains("[resource_link: file:///a]"), "{told}");
    }
}
