//! An authorization server that was found.

use std::sync::Arc;

use rmcp::transport::auth::{AuthorizationManager, AuthorizationMetadata};
use serde_json::json;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use trunkline_pool::oauth::Authentication;

use super::Fetch;

/// An authorization server that may be asked.
pub(in crate::auth) struct Discovered {
    /// It knows the metadata, and no client yet.
    pub flows: AuthorizationManager,
    pub fetch: Arc<Fetch>,
    pub issuer: String,
    /// Whether it takes the address of a document for a client.
    pub takes_documents: bool,
    /// Whether its answers have to say whose they are (RFC 9207).
    pub names_itself: bool,
    pub metadata: AuthorizationMetadata,
}

impl Discovered {
    /// The client proves in this way who it is, as its registration says, whatever the metadata do.
    pub(in crate::auth) fn prove_by(&mut self, authentication: Option<Authentication>) {
        let Some(authentication) = authentication else { return };
        let supported = json!([authentication.name()]);
        let name = "token_endpoint_auth_methods_supported".to_owned();
        self.metadata.additional_fields.insert(name, supported);
        self.flows.set_metadata(self.metadata.clone());
    }
}

/// The flows of rmcp without their log, which holds codes (S-48).
pub(in crate::auth) async fn quiet<T>(flow: impl Future<Output = T>) -> T {
    flow.with_subscriber(NoSubscriber::default()).await
}
