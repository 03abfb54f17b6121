//! From a server to the authorization server that it trusts (RFC 9728, RFC 8414, OpenID Connect
//! Discovery).

use std::sync::Arc;

use reqwest::Url;
use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata};

use super::client_config::{ClientSpec, GrantType};
use super::credentials::Credentials;
use super::errors;
use super::fetch::authorization_server::{Discovered, quiet};
use super::fetch::{Fetch, flow_errors};
use crate::Error;
use crate::net::www_authenticate::Challenge;

/// Finds the authorization server of a server. `challenge` is the `WWW-Authenticate` that it
/// answered with, if it did.
///
/// # Errors
/// `protocol` when a rule is broken on the way, `auth_required` when there is none, and what the
/// network does.
pub(super) async fn discover(
    credentials: &Credentials,
    home: &Url,
    challenge: Option<&str>,
) -> Result<Discovered, Error> {
    let (server, spec) = (&credentials.server, &credentials.spec);
    let guard = spec.guard(home.clone(), credentials.author);
    let fetch = Arc::new(Fetch::new(server, guard, spec.route, &credentials.warnings)?);
    if challenge.is_some_and(Challenge::is_in) {
        fetch.takes_bearer();
    }
    let made = AuthorizationManager::new_with_oauth_http_client(home.clone(), fetch.clone()).await;
    let mut flows = made.map_err(|error| flow_errors::of(error, &fetch))?;
    let configured = spec.metadata().and_then(|metadata| serde_json::from_value(metadata).ok());
    let metadata: AuthorizationMetadata = match configured {
        Some(metadata) => metadata,
        None => published(&flows, &fetch, challenge).await?,
    };
    let issuer = check(&metadata, spec, &fetch).map_err(|error| error.with_server(&**server))?;
    let says = |what: &str| {
        metadata.additional_fields.get(what).and_then(serde_json::Value::as_bool) == Some(true)
    };
    let takes_documents = says("client_id_metadata_document_supported");
    let names_itself = says("authorization_response_iss_parameter_supported");
    flows.set_metadata(metadata.clone());
    Ok(Discovered { flows, fetch, issuer, takes_documents, names_itself, metadata })
}

/// The metadata that the server leads to.
async fn published(
    flows: &AuthorizationManager,
    fetch: &Fetch,
    challenge: Option<&str>,
) -> Result<AuthorizationMetadata, Error> {
    let challenge = Challenge::of(challenge.into_iter()).of_home(fetch.guard().home());
    let resolved = quiet(flows.resolve_metadata_from_challenge(challenge.as_deref())).await;
    let resolved = resolved.map_err(|error| flow_errors::of(error, fetch))?;
    // Addresses that were only guessed are nobody's word.
    if resolved.source.is_discovered() {
        let issuer = resolved.metadata.issuer.as_deref();
        let document = fetch.asked();
        let is_its = |issuer| document.as_ref().is_some_and(|it| publishes(it, issuer));
        if issuer.is_none_or(is_its) {
            return Ok(resolved.metadata);
        }
        let document = document.map(|it| it.to_string()).unwrap_or_default();
        let message = "the authorization server's metadata are published where another's belong";
        let error = errors::differs(message, "issuer", &document, issuer);
        return Err(error.with_server(fetch.server()));
    }
    let error = fetch.take_failure().unwrap_or_else(|| match fetch.foreign_resource() {
        Some(_) => flow_errors::another_resource(fetch),
        None => errors::required("the server does not say which authorization server it trusts")
            .with_hint("set an `Authorization` header in the server's configuration"),
    });
    Err(error.with_server(fetch.server()))
}

/// Holds metadata against the rules; whose they are.
fn check(
    metadata: &AuthorizationMetadata,
    spec: &ClientSpec,
    fetch: &Fetch,
) -> Result<String, Error> {
    let guard = fetch.guard();
    let endpoints = [
        (Some(&metadata.token_endpoint), "the address that tokens come from"),
        (Some(&metadata.authorization_endpoint), "the address to sign in at"),
        (metadata.registration_endpoint.as_ref(), "the address to register at"),
    ];
    for (endpoint, what) in endpoints {
        endpoint.map(|endpoint| guard.check_endpoint(endpoint, what)).transpose()?;
    }
    let methods = metadata.code_challenge_methods_supported.as_deref().unwrap_or_default();
    if spec.way == GrantType::Code && !methods.iter().any(|method| method == "S256") {
        return Err(errors::pkce());
    }
    let Some(issuer) = metadata.issuer.clone() else {
        let asked = fetch.asked().map(|asked| asked.to_string()).unwrap_or_default();
        return Err(errors::another_issuer(&asked, None));
    };
    match &spec.issuer {
        Some(expected) if *expected != issuer => {
            Err(errors::another_issuer(expected, Some(&issuer)))
        }
        Some(_) | None => Ok(issuer),
    }
}

/// Whether an issuer publishes its metadata at that address (RFC 8414 3.1, OpenID Connect Discovery
/// 4.1), with the well-known part before its path or after it: at any other somebody else could
/// speak for it.
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
