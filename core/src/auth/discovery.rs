//! From a server to the authorization server that it trusts (RFC 9728, RFC 8414, OpenID Connect Discovery).

use std::sync::Arc;

use reqwest::Url;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata};
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use super::challenge::Challenge;
use super::client::{ClientSpec, Way};
use super::failure;
use super::fetch::Fetch;
use super::guard::Guard;
use crate::Error;

/// An authorization server that may be asked.
pub(super) struct Discovered {
    /// It knows the metadata, and no client yet.
    pub flows: AuthorizationManager,
    pub fetch: Arc<Fetch>,
    pub issuer: String,
    /// Whether it takes the address of a document for a client.
    pub takes_documents: bool,
    /// Whether its answers have to say whose they are (RFC 9207).
    pub names_itself: bool,
}

/// Finds the authorization server of a server. `challenge` is the `WWW-Authenticate` that it answered with, if it did.
///
/// # Errors
/// `protocol` when a rule is broken on the way, `auth_required` when there is none, and what the network does.
pub(super) async fn discover(
    server: &Arc<str>,
    spec: &ClientSpec,
    home: &Url,
    challenge: Option<&str>,
) -> Result<Discovered, Error> {
    let guard = Guard::new(home.clone(), spec.addresses());
    let fetch = Arc::new(Fetch::new(server, guard)?);
    let made = AuthorizationManager::new_with_oauth_http_client(home.clone(), fetch.clone()).await;
    let mut flows = made.map_err(|error| failure::of(error, &fetch))?;
    let configured = spec.metadata().and_then(|metadata| serde_json::from_value(metadata).ok());
    let metadata: AuthorizationMetadata = match configured {
        Some(metadata) => metadata,
        None => published(&flows, &fetch, challenge).await?,
    };
    let issuer =
        check(&metadata, spec, fetch.guard()).map_err(|error| error.with_server(&**server))?;
    let says = |what: &str| {
        metadata.additional_fields.get(what).and_then(serde_json::Value::as_bool) == Some(true)
    };
    let takes_documents = says("client_id_metadata_document_supported");
    let names_itself = says("authorization_response_iss_parameter_supported");
    flows.set_metadata(metadata);
    Ok(Discovered { flows, fetch, issuer, takes_documents, names_itself })
}

/// The metadata that the server leads to.
async fn published(
    flows: &AuthorizationManager,
    fetch: &Fetch,
    challenge: Option<&str>,
) -> Result<AuthorizationMetadata, Error> {
    let challenge = Challenge::of(challenge.into_iter()).of_home(fetch.guard().home());
    let resolved = quiet(flows.resolve_metadata_from_challenge(challenge.as_deref())).await;
    let resolved = resolved.map_err(|error| failure::of(error, fetch))?;
    // Addresses that were only guessed are nobody's word.
    if resolved.source.is_discovered() {
        let issuer = resolved.metadata.issuer.as_deref();
        let is_its = |issuer| fetch.asked().is_some_and(|document| publishes(&document, issuer));
        return match issuer.is_none_or(is_its) {
            true => Ok(resolved.metadata),
            false => Err(another_issuer()),
        };
    }
    let error = fetch.take_failure().unwrap_or_else(|| {
        failure::required("the server does not say which authorization server it trusts")
            .with_hint("set an `Authorization` header in the server's configuration")
    });
    Err(error.with_server(fetch.server()))
}

/// Holds metadata against the rules; whose they are.
fn check(
    metadata: &AuthorizationMetadata,
    spec: &ClientSpec,
    guard: &Guard,
) -> Result<String, Error> {
    let endpoints = [
        (Some(&metadata.token_endpoint), "the address that tokens come from"),
        (Some(&metadata.authorization_endpoint), "the address to sign in at"),
        (metadata.registration_endpoint.as_ref(), "the address to register at"),
    ];
    for (endpoint, what) in endpoints {
        endpoint.map(|endpoint| guard.check_endpoint(endpoint, what)).transpose()?;
    }
    let methods = metadata.code_challenge_methods_supported.as_deref().unwrap_or_default();
    if spec.way == Way::Code && !methods.iter().any(|method| method == "S256") {
        return Err(failure::pkce());
    }
    let issuer = metadata.issuer.clone().ok_or_else(another_issuer)?;
    if spec.issuer.as_ref().is_some_and(|expected| *expected != issuer) {
        return Err(another_issuer());
    }
    Ok(issuer)
}

fn another_issuer() -> Error {
    failure::broken("the authorization server is not the one that was asked", "issuer")
}

/// Whether that is one of the addresses at which an issuer publishes its metadata (RFC 8414 3.1, OpenID Connect Discovery 4.1), the well-known
/// part before its path or after it: at any other somebody else could speak for it.
fn publishes(document: &Url, issuer: &str) -> bool {
    let Ok(issuer) = Url::parse(issuer) else { return false };
    let path = issuer.path().trim_matches('/');
    let kinds = ["oauth-authorization-server", "openid-configuration"];
    let is_at = |place: String| document.path().trim_matches('/') == place.trim_matches('/');
    document.origin() == issuer.origin()
        && kinds.iter().any(|kind| {
            is_at(format!(".well-known/{kind}/{path}"))
                || is_at(format!("{path}/.well-known/{kind}"))
                || is_at(format!(".well-known/{kind}"))
        })
}

/// The flows of rmcp without their log, which holds codes (S-48).
pub(super) async fn quiet<T>(flow: impl Future<Output = T>) -> T {
    flow.with_subscriber(NoSubscriber::default()).await
}
