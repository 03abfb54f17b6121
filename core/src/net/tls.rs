//! The TLS set-up of the process.

use std::sync::{Arc, OnceLock};

use rustls_platform_verifier::BuilderVerifierExt;

use super::roots;
use crate::platform::OfProcess;

/// The TLS set-up of the process: with the roots that the environment names, else the platform's
/// verifier.
pub(crate) fn tls() -> std::result::Result<rustls::ClientConfig, String> {
    type Made = std::result::Result<rustls::ClientConfig, String>;
    static TLS: OfProcess<OnceLock<Made>> = OfProcess::new();
    let made = TLS.get().get_or_init(|| {
        let words = |error: rustls::Error| error.to_string();
        let begun = set_up().map_err(words)?;
        let made = match roots::named() {
            Some(roots) => begun.with_root_certificates(roots?),
            None => begun.with_platform_verifier().map_err(words)?,
        };
        Ok(made.with_no_client_auth())
    });
    made.clone()
}

/// One with which nothing is reached over TLS.
pub(crate) fn trusting_nobody() -> std::result::Result<rustls::ClientConfig, String> {
    let made = set_up().map_err(|error| error.to_string())?;
    Ok(made.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

fn set_up() -> std::result::Result<
    rustls::ConfigBuilder<rustls::ClientConfig, rustls::WantsVerifier>,
    rustls::Error,
> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}
