//! What everything that opens a connection has in common: TLS, proxies, cookies, headers and their
//! errors.

pub(crate) mod address_policy;
pub(crate) mod cookies;
pub(crate) mod headers;
pub(crate) mod http_client;
pub(crate) mod http_date;
pub(crate) mod network_errors;
pub(crate) mod proxies;
pub(crate) mod redact;
pub(crate) mod roots;
pub(crate) mod tls;
pub(crate) mod www_authenticate;
