//! What belongs where, in the texts that readers with types are fed with. One line more understands one member more.

use super::Kind::{self, Any, Bool, ByName, Flag, List, Map, Number, Object, Schema, Text, Words};

/// The result of `initialize`.
pub static INITIALIZE: Kind = Map(&[
    ("protocolVersion", &Text),
    ("capabilities", &CAPABILITIES),
    ("serverInfo", &IMPLEMENTATION),
    ("instructions", &Text),
    ("_meta", &Object),
]);

/// The result of `server/discover`.
pub static DISCOVER: Kind = Map(&[
    ("supportedVersions", &TEXTS),
    ("capabilities", &CAPABILITIES),
    ("instructions", &Text),
    ("_meta", &Map(&[("io.modelcontextprotocol/serverInfo", &IMPLEMENTATION)])),
]);

/// What a server offers.
pub static CAPABILITIES: Kind = Map(&[
    ("tools", &LISTED),
    ("prompts", &LISTED),
    ("resources", &LISTED),
    ("logging", &PRESENT),
    ("completions", &PRESENT),
    ("experimental", &ByName(&Object)),
    ("extensions", &ByName(&Object)),
    ("tasks", &Flag(&[("list", &PRESENT), ("cancel", &PRESENT), ("requests", &TASKS)])),
]);

static LISTED: Kind = Flag(&[("listChanged", &Bool), ("subscribe", &Bool)]);
static PRESENT: Kind = Flag(&[]);
static TASKS: Kind = Map(&[("tools", &Map(&[("call", &PRESENT)]))]);

/// Who speaks.
pub static IMPLEMENTATION: Kind = Map(&[
    ("name", &Text),
    ("title", &Text),
    ("version", &Text),
    ("description", &Text),
    ("websiteUrl", &Text),
    ("icons", &List(&Map(&[("src", &Text), ("mimeType", &Text), ("sizes", &TEXTS)]))),
]);

/// The definition of a tool.
pub static TOOL: Kind = Map(&[
    ("name", &Text),
    ("title", &Text),
    ("description", &Text),
    ("inputSchema", &Schema),
    ("outputSchema", &Schema),
    ("annotations", &HINTS),
    ("execution", &Map(&[("taskSupport", &Text)])),
    ("icons", &List(&Object)),
    ("_meta", &Object),
]);

static HINTS: Kind = Map(&[
    ("title", &Text),
    ("readOnlyHint", &Bool),
    ("destructiveHint", &Bool),
    ("idempotentHint", &Bool),
    ("openWorldHint", &Bool),
]);

/// A result that asks for input.
pub static INPUT_REQUIRED: Kind = Map(&[
    ("inputRequests", &ByName(&Map(&[("method", &Text), ("params", &Object)]))),
    ("requestState", &Any),
]);

/// The `error` of a reply.
pub static ERROR: Kind = Map(&[("code", &Number), ("message", &Text), ("data", &Any)]);

/// The params of a notification of progress.
pub static PROGRESS: Kind = Map(&[
    ("progressToken", &Any),
    ("progress", &Number),
    ("total", &Number),
    ("message", &Words),
    ("_meta", &Any),
]);

/// The params of any other notification, as far as they say what it is about.
pub static NOTIFICATION: Kind =
    Map(&[("_meta", &Map(&[])), ("notifications", &Object), ("requestId", &Any), ("uri", &Words)]);

/// The metadata of a protected resource (RFC 9728).
pub static PROTECTED_RESOURCE: Kind = Map(&[
    ("resource", &Text),
    ("authorization_servers", &TEXTS),
    ("scopes_supported", &TEXTS),
    ("bearer_methods_supported", &TEXTS),
]);

/// The metadata of an authorization server (RFC 8414).
pub static AUTHORIZATION_SERVER: Kind = Map(&[
    ("issuer", &Text),
    ("authorization_endpoint", &Text),
    ("token_endpoint", &Text),
    ("registration_endpoint", &Text),
    ("jwks_uri", &Text),
    ("revocation_endpoint", &Text),
    ("introspection_endpoint", &Text),
    ("scopes_supported", &TEXTS),
    ("response_types_supported", &TEXTS),
    ("grant_types_supported", &TEXTS),
    ("code_challenge_methods_supported", &TEXTS),
    ("token_endpoint_auth_methods_supported", &TEXTS),
    ("authorization_response_iss_parameter_supported", &Bool),
    ("client_id_metadata_document_supported", &Bool),
]);

/// The answer to a registration (RFC 7591).
pub static REGISTRATION: Kind = Map(&[
    ("client_id", &Text),
    ("client_secret", &Text),
    ("client_name", &Text),
    ("client_id_issued_at", &Number),
    ("client_secret_expires_at", &Number),
    ("redirect_uris", &TEXTS),
    ("grant_types", &TEXTS),
    ("response_types", &TEXTS),
    ("scope", &Text),
    ("token_endpoint_auth_method", &Text),
]);

/// The answer of a token endpoint (RFC 6749).
pub static TOKEN: Kind = Map(&[
    ("access_token", &Text),
    ("token_type", &Text),
    ("expires_in", &Number),
    ("refresh_token", &Text),
    ("scope", &Text),
    ("error", &Text),
    ("error_description", &Text),
    ("error_uri", &Text),
]);

static TEXTS: Kind = List(&Text);
