//! What a server's configuration says of the client that it is signed in with.

use std::sync::Arc;

use reqwest::Url;
use serde_json::{Map, Value, json};
use trunkline_pool::config::ValueOfFiles;
use trunkline_pool::oauth;

use crate::host_env::value_of_files;
use crate::net::address_policy::{Author, Guard};
use crate::runtime::blocking_pool::OneByOne;
use crate::{Error, ErrorCode};

/// The `oauth` fields of a configuration, in the spelling that the configuration's reader gives
/// them.
#[derive(Clone, Default)]
pub(super) struct ClientSpec {
    pub client_id: Option<String>,
    /// As the configuration has it; [`secret`](ClientSpec::secret) is what is sent.
    pub client_secret: Option<String>,
    /// What the secret is made of where files say it.
    pub secret_of_files: Option<ValueOfFiles>,
    reads_secret: OneByOne,
    pub client_metadata_url: Option<String>,
    pub client_name: Option<String>,
    pub redirect_uri: Option<String>,
    pub scopes: Vec<String>,
    /// The only authorization server that may be signed in with.
    pub issuer: Option<String>,
    pub way: GrantType,
    pub route: Route,
    authorization_url: Option<String>,
    token_url: Option<String>,
    registration_url: Option<String>,
}

/// How a token is come by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GrantType {
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

impl Route {
    fn of(oauth: &Map<String, Value>) -> Route {
        match oauth.get("proxy").and_then(Value::as_str) {
            Some("direct") => Route::Direct,
            _ => Route::Environment,
        }
    }
}

/// Whether the sign-ins of a server take no proxy, whatever the environment names.
pub(crate) fn signs_in_straight(oauth: &Map<String, Value>) -> bool {
    matches!(Route::of(oauth), Route::Direct)
}

impl ClientSpec {
    /// What a flow may reach of a server at `home` that is signed in to with this.
    pub(super) fn guard(&self, home: Url, author: Author) -> Guard {
        let way = match self.way {
            GrantType::Code => oauth::Way::Person,
            GrantType::ClientCredentials => oauth::Way::Client,
        };
        Guard::new(home, self.addresses(), way, author)
    }

    pub(super) fn of(oauth: &Map<String, Value>) -> ClientSpec {
        let text = |name: &str| {
            let text = oauth.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let scopes = oauth.get("scopes").and_then(Value::as_array).into_iter().flatten();
        let way = match text("grant_type").as_deref() {
            Some("client_credentials") => GrantType::ClientCredentials,
            _ => GrantType::Code,
        };
        let route = Route::of(oauth);
        ClientSpec {
            client_id: text("client_id"),
            client_secret: text("client_secret"),
            secret_of_files: None,
            reads_secret: OneByOne::default(),
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

    /// The client's secret; one that a file says is read anew each time (SPEC 18.9).
    ///
    /// # Errors
    /// `invalid_config` for a file that is no value.
    pub(super) async fn secret(&self, server: &Arc<str>) -> Result<Option<String>, Error> {
        let Some(value) = self.secret_of_files.clone() else {
            return Ok(self.client_secret.clone());
        };
        let named = server.clone();
        let read = self.reads_secret.run(move || value_of_files(&named, &value)).await;
        let message = "the file that the client's secret is taken from could not be read";
        let lost = || Error::new(ErrorCode::Internal, message).with_server(&**server);
        read.unwrap_or_else(|| Err(lost())).map(Some)
    }

    /// The addresses that it names itself.
    pub(super) fn addresses(&self) -> Vec<Url> {
        let named =
            [&self.authorization_url, &self.token_url, &self.registration_url, &self.issuer];
        named.into_iter().flatten().filter_map(|url| Url::parse(url).ok()).collect()
    }

    /// The authorization server's metadata, where the configuration says all that is needed of
    /// them.
    pub(super) fn metadata(&self) -> Option<Value> {
        let token = self.token_url.as_ref()?;
        let authorization = match self.way {
            GrantType::Code => self.authorization_url.as_ref()?,
            GrantType::ClientCredentials => self.authorization_url.as_ref().unwrap_or(token),
        };
        let origin = || Url::parse(token).ok().map(|url| url.origin().ascii_serialization());
        Some(json!({
            "issuer": self.issuer.clone().or_else(origin),
            "authorization_endpoint": authorization,
            "token_endpoint": token,
            "registration_endpoint": self.registration_url,
            // A configuration that states the addresses answers for the server that is there.
            "code_challenge_methods_supported": ["S256"],
        }))
    }
}

#[cfg(test)]
mod tests {
    use trunkline_pool::config::Piece;

    use super::*;
    use crate::folder::Folder;

    /// SPEC 18.9: the secret is what its file says whenever it is sent; a file that is away is told
    /// with its field.
    #[tokio::test]
    async fn a_secret_is_read_anew_each_time() {
        let folder = Folder::new();
        let file = folder.join("secret");
        let piece = Piece::file(file.to_str().unwrap());
        let mut client = ClientSpec::of(&Map::new());
        client.secret_of_files = Some(ValueOfFiles::new("oauth.client_secret", [piece]));
        let server = Arc::from("s");
        let error = client.secret(&server).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidConfig);
        assert_eq!(error.detail()["path"], "oauth.client_secret");
        for said in ["first", "second"] {
            std::fs::write(&file, said).unwrap();
            assert_eq!(client.secret(&server).await.unwrap().as_deref(), Some(said));
        }
    }
}
