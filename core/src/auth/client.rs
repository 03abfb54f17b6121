//! What a server's configuration says of the client that it is signed in with.

use reqwest::Url;
use serde_json::{Map, Value, json};

/// The `oauth` fields of a configuration, in the spelling that the configuration's reader gives them.
#[derive(Clone, Default)]
pub(super) struct ClientSpec {
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    pub client_metadata_url: Option<String>,
    pub client_name: Option<String>,
    pub redirect_uri: Option<String>,
    pub scopes: Vec<String>,
    /// The only authorization server that may be signed in with.
    pub issuer: Option<String>,
    pub way: Way,
    pub route: Route,
    authorization_url: Option<String>,
    token_url: Option<String>,
    registration_url: Option<String>,
}

/// How a token is come by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// A person signs in.
    #[default]
    Code,
    /// The client itself is known to the authorization server.
    ClientCredentials,
}

/// How whatever a sign-in asks is gone to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Route {
    /// Through the proxy that the environment of the host names for an address, if it names one.
    #[default]
    Environment,
    /// Through none.
    Direct,
}

impl ClientSpec {
    pub(super) fn of(oauth: &Map<String, Value>) -> ClientSpec {
        let text = |name: &str| {
            let text = oauth.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let scopes = oauth.get("scopes").and_then(Value::as_array).into_iter().flatten();
        let way = match text("grant_type").as_deref() {
            Some("client_credentials") => Way::ClientCredentials,
            _ => Way::Code,
        };
        let route = match text("proxy").as_deref() {
            Some("direct") => Route::Direct,
            _ => Route::Environment,
        };
        ClientSpec {
            client_id: text("client_id"),
            client_secret: text("client_secret"),
            client_metadata_url: text("client_metadata_url"),
            client_name: text("client_name"),
            redirect_uri: text("redirect_uri"),
            scopes: scopes.filter_map(Value::as_str).map(str::to_owned).collect(),
            issuer: text("issuer"),
            way,
            route,
            authorization_url: text("authorization_url"),
            token_url: text("token_url"),
            registration_url: text("registration_url"),
        }
    }

    /// The addresses that it names itself.
    pub(super) fn addresses(&self) -> Vec<Url> {
        let named =
            [&self.authorization_url, &self.token_url, &self.registration_url, &self.issuer];
        named.into_iter().flatten().filter_map(|url| Url::parse(url).ok()).collect()
    }

    /// The authorization server's metadata, where the configuration says all that is needed of them.
    pub(super) fn metadata(&self) -> Option<Value> {
        let token = self.token_url.as_ref()?;
        let authorization = match self.way {
            Way::Code => self.authorization_url.as_ref()?,
            Way::ClientCredentials => self.authorization_url.as_ref().unwrap_or(token),
        };
        let origin = || Url::parse(token).ok().map(|url| url.origin().ascii_serialization());
        Some(json!({
            "issuer": self.issuer.clone().or_else(origin),
            "authorization_endpoint": authorization,
            "token_endpoint": token,
            "registration_endpoint": self.registration_url,
            // Whoever writes the addresses down answers for the server that is there.
            "code_challenge_methods_supported": ["S256"],
        }))
    }
}
