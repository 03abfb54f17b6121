//! What a host says of itself to servers (SPEC 16.8).

use serde_json::{Map, Value, json};

use super::check::{Given, wrong};
use crate::base::text::is_hidden;
use crate::error::Result;

/// Who a host is. Servers are told at the handshake, and by each request of the modern era.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientInfo {
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// Its icons.
    pub icons: Vec<ClientIcon>,
    /// The address of its site.
    pub website: Option<String>,
}

/// An icon of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientIcon {
    /// Where it is: an address of `https`, `http` or `data`.
    pub src: String,
    /// Its type.
    pub mime_type: Option<String>,
    /// Its sizes, as `48x48` or `any`.
    pub sizes: Vec<String>,
    /// What it is drawn for: `light` or `dark`.
    pub theme: Option<String>,
}

/// Bytes of one member.
const TEXT_BYTES_MAX: usize = 256;

/// Bytes of an address.
const ADDRESS_BYTES_MAX: usize = 2048;

/// Bytes of all of it: it goes out with each request of the modern era.
const BYTES_MAX: usize = 16 << 10;

impl ClientInfo {
    /// A host of that name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> ClientInfo {
        let (name, version) = (name.into(), version.into());
        ClientInfo { name, title: None, version, icons: Vec::new(), website: None }
    }

    /// Of options that passed the check of the registry.
    pub(super) fn given(given: &Given) -> Result<ClientInfo> {
        let text = |name: &str| {
            given.text(name).ok_or_else(|| {
                let path = format!("client_info.{name}");
                wrong(&path, &format!("option `{path}` is missing"))
            })
        };
        let icons = given.items("icons").map(ClientIcon::read).collect();
        let (title, website) = (given.text("title"), given.text("website"));
        let host =
            ClientInfo { name: text("name")?, title, version: text("version")?, icons, website };
        host.check()?;
        Ok(host)
    }

    /// Whether servers can be told this: one that was parsed can.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path`.
    pub fn check(&self) -> Result<()> {
        for (name, text) in [
            ("name", Some(&self.name)),
            ("version", Some(&self.version)),
            ("title", self.title.as_ref()),
        ] {
            text.map_or(Ok(()), |text| check_text(&format!("client_info.{name}"), text))?;
        }
        if let Some(website) = &self.website {
            check_address("client_info.website", website, &["https://", "http://"])?;
        }
        for (index, icon) in self.icons.iter().enumerate() {
            icon.check(&format!("client_info.icons[{index}]"))?;
        }
        match self.to_protocol().to_string().len() {
            0..=BYTES_MAX => Ok(()),
            _ => Err(wrong(
                "client_info",
                &format!(
                    "option `client_info` has more than {BYTES_MAX} bytes as servers are told it"
                ),
            )),
        }
    }

    /// The `Implementation` of the protocol.
    pub fn to_protocol(&self) -> Value {
        let mut out = json!({ "name": self.name, "version": self.version });
        let icons: Vec<Value> = self.icons.iter().map(ClientIcon::to_protocol).collect();
        let more = [
            ("title", self.title.as_ref().map(|title| json!(title))),
            ("websiteUrl", self.website.as_ref().map(|website| json!(website))),
            ("icons", (!icons.is_empty()).then(|| icons.into())),
        ];
        more.into_iter().for_each(|(name, value)| {
            value.into_iter().for_each(|value| out[name] = value);
        });
        out
    }
}

impl ClientIcon {
    /// The icon at that address.
    pub fn new(src: impl Into<String>) -> ClientIcon {
        ClientIcon { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    fn read(given: &Map<String, Value>) -> ClientIcon {
        let text = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_owned);
        let sizes = given.get("sizes").and_then(Value::as_array).into_iter().flatten();
        ClientIcon {
            src: text("src").unwrap_or_default(),
            mime_type: text("mimeType"),
            sizes: sizes.filter_map(Value::as_str).map(str::to_owned).collect(),
            theme: text("theme"),
        }
    }

    fn check(&self, path: &str) -> Result<()> {
        let (src, theme) = (format!("{path}.src"), format!("{path}.theme"));
        check_address(&src, &self.src, &["https://", "http://", "data:"])?;
        self.mime_type.as_ref().map_or(Ok(()), |it| check_text(&format!("{path}.mimeType"), it))?;
        for (index, size) in self.sizes.iter().enumerate() {
            check_text(&format!("{path}.sizes[{index}]"), size)?;
        }
        match self.theme.as_deref() {
            None | Some("light" | "dark") => Ok(()),
            Some(_) => {
                Err(wrong(&theme, &format!("option `{theme}` must be one of `light`, `dark`")))
            }
        }
    }

    fn to_protocol(&self) -> Value {
        let mut out = json!({ "src": self.src });
        let more = [
            ("mimeType", self.mime_type.as_ref().map(|it| json!(it))),
            ("sizes", (!self.sizes.is_empty()).then(|| json!(self.sizes))),
            ("theme", self.theme.as_ref().map(|theme| json!(theme))),
        ];
        more.into_iter().for_each(|(name, value)| {
            value.into_iter().for_each(|value| out[name] = value);
        });
        out
    }
}

fn check_text(path: &str, text: &str) -> Result<()> {
    if text.is_empty() || text.len() > TEXT_BYTES_MAX || text.chars().any(is_hidden) {
        let message = format!(
            "option `{path}` must have 1 to {TEXT_BYTES_MAX} bytes and no control characters"
        );
        return Err(wrong(path, &message));
    }
    Ok(())
}

fn check_address(path: &str, address: &str, schemes: &[&str]) -> Result<()> {
    let is_known = |scheme: &&str| {
        let head = address.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme)) && address.len() > scheme.len()
    };
    let is_long = !address.starts_with("data:") && address.len() > ADDRESS_BYTES_MAX;
    let is_plain = |c: char| !c.is_whitespace() && !is_hidden(c);
    if is_long || !schemes.iter().any(is_known) || !address.chars().all(is_plain) {
        let message =
            format!("option `{path}` must be an address that begins with {}", schemes.join(" or "));
        return Err(wrong(path, &message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use crate::options::PoolOptions;

    fn given(text: &str) -> Result<ClientInfo> {
        let options = PoolOptions::from_json(&format!(r#"{{"client_info":{text}}}"#))?;
        Ok(options.client_info.expect("it was given"))
    }

    /// SPEC 16.8.
    #[test]
    fn what_a_host_says_of_itself_is_said_as_the_protocol_has_it() {
        let least = given(r#"{"name":"h","version":"1"}"#).unwrap();
        assert_eq!(least, ClientInfo::new("h", "1"));
        assert_eq!(least.to_protocol(), json!({ "name": "h", "version": "1" }));
        let whole = given(
            r#"{"name":"h","title":"H ä","version":"1","website":"https://h.example/","icons":[{"src":"data:image/png;base64,AA=="},
                {"src":"HTTPS://h.example/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"}]}"#,
        );
        let told = json!({ "name": "h", "title": "H ä", "version": "1", "websiteUrl": "https://h.example/", "icons": [
            { "src": "data:image/png;base64,AA==" },
            { "src": "HTTPS://h.example/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark" } ] });
        assert_eq!(whole.unwrap().to_protocol(), told);
        let absent = PoolOptions::from_json(r#"{"client_info":null}"#).unwrap();
        assert_eq!(absent.client_info, None);
    }

    /// SPEC 16.5, 16.8: the error names the member.
    #[test]
    fn what_no_server_can_be_told_is_refused_by_its_member() {
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        let much = format!("data:,{}", "x".repeat(BYTES_MAX));
        for (wrong, path) in [
            (json!(7), "client_info"),
            (json!({ "version": "1" }), "client_info.name"),
            (json!({ "name": "h" }), "client_info.version"),
            (json!({ "name": "h", "version": 1 }), "client_info.version"),
            (json!({ "name": "", "version": "1" }), "client_info.name"),
            (json!({ "name": long, "version": "1" }), "client_info.name"),
            (json!({ "name": "h\u{1b}", "version": "1" }), "client_info.name"),
            (json!({ "name": "h", "version": "1", "title": "a\u{202e}b" }), "client_info.title"),
            (json!({ "name": "h", "version": "1", "website": "h.example" }), "client_info.website"),
            (
                json!({ "name": "h", "version": "1", "website": "javascript:x" }),
                "client_info.website",
            ),
            (json!({ "name": "h", "version": "1", "website": "https://" }), "client_info.website"),
            (
                json!({ "name": "h", "version": "1", "website": "https://a b" }),
                "client_info.website",
            ),
            (json!({ "name": "h", "version": "1", "icons": {} }), "client_info.icons"),
            (json!({ "name": "h", "version": "1", "icons": ["i"] }), "client_info.icons[0]"),
            (json!({ "name": "h", "version": "1", "icons": [{}] }), "client_info.icons[0].src"),
            (
                json!({ "name": "h", "version": "1", "icons": [{ "src": "file:///i" }] }),
                "client_info.icons[0].src",
            ),
            (
                json!({ "name": "h", "version": "1", "icons": [{ "src": "data:,", "sizes": [1] }] }),
                "client_info.icons[0].sizes[0]",
            ),
            (
                json!({ "name": "h", "version": "1", "icons": [{ "src": "data:,a", "sizes": "48x48" }] }),
                "client_info.icons[0].sizes",
            ),
            (
                json!({ "name": "h", "version": "1", "icons": [{ "src": "data:,a", "theme": "red" }] }),
                "client_info.icons[0].theme",
            ),
            (json!({ "name": "h", "version": "1", "icons": [{ "src": much }] }), "client_info"),
        ] {
            let error = given(&wrong.to_string()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{wrong}");
            assert_eq!(error.detail()["path"], path, "{wrong}");
        }
        for (wrong, option) in [
            (json!({ "name": "h", "version": "1", "url": "x" }), "client_info.url"),
            (
                json!({ "name": "h", "version": "1", "icons": [{ "src": "data:,a", "mime": "x" }] }),
                "client_info.icons[0].mime",
            ),
        ] {
            let error = given(&wrong.to_string()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::UnknownOption, "{wrong}");
            assert_eq!(error.detail()["option"], option, "{wrong}");
        }
    }
}
