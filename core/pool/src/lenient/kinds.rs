//! What belongs where, in the texts that readers with types are fed with. One line more understands
//! one member more.

use super::ValueKind::{
    self, Any, Bool, ByName, Credential, Exact, Flag, Hint, List, Map, Number, Object, Schema,
    Spaced, Text, Words,
};

/// The result of `initialize`.
pub static INITIALIZE: ValueKind = Map(&[
    ("protocolVersion", &Text),
    ("capabilities", &CAPABILITIES),
    ("serverInfo", &IMPLEMENTATION),
    ("instructions", &Text),
    ("_meta", &Object),
]);

/// The result of `server/discover`.
pub static DISCOVER: ValueKind = Map(&[
    ("supportedVersions", &TEXTS),
    ("capabilities", &CAPABILITIES),
    ("instructions", &Text),
    ("_meta", &Map(&[("io.modelcontextprotocol/serverInfo", &IMPLEMENTATION)])),
]);

/// What a server offers.
pub static CAPABILITIES: ValueKind = Map(&[
    ("tools", &LISTED),
    ("prompts", &LISTED),
    ("resources", &LISTED),
    ("logging", &PRESENT),
    ("completions", &PRESENT),
    ("experimental", &ByName(&Object)),
    ("extensions", &ByName(&Object)),
    ("tasks", &Flag(&[("list", &PRESENT), ("cancel", &PRESENT), ("requests", &TASKS)])),
]);

static LISTED: ValueKind = Flag(&[("listChanged", &Bool), ("subscribe", &Bool)]);
static PRESENT: ValueKind = Flag(&[]);
static TASKS: ValueKind = Map(&[("tools", &Map(&[("call", &PRESENT)]))]);

/// Who speaks.
pub static IMPLEMENTATION: ValueKind = Map(&[
    ("name", &Text),
    ("title", &Text),
    ("version", &Text),
    ("description", &Text),
    ("websiteUrl", &Text),
    ("icons", &List(&Map(&[("src", &Text), ("mimeType", &Text), ("sizes", &TEXTS)]))),
]);

/// The definition of a tool, whose arguments a shape shows to a model.
pub static TOOL: ValueKind = Map(&[
    ("name", &Text),
    ("title", &Text),
    ("description", &Text),
    ("inputSchema", &Schema),
    ("outputSchema", &Schema),
    ("annotations", &HINTS),
    ("execution", &EXECUTION),
    ("icons", &List(&Object)),
    ("_meta", &Object),
]);

/// What a tool says of how it may be called: no more of its definition is looked at.
pub static TOOL_CLAIMS: ValueKind = Map(&[("annotations", &HINTS), ("execution", &EXECUTION)]);

static EXECUTION: ValueKind = Map(&[("taskSupport", &Text)]);

static HINTS: ValueKind = Map(&[
    ("title", &Text),
    ("readOnlyHint", &Hint),
    ("destructiveHint", &Hint),
    ("idempotentHint", &Hint),
    ("openWorldHint", &Hint),
]);

/// A result that asks for input.
pub static INPUT_REQUIRED: ValueKind = Map(&[
    ("inputRequests", &ByName(&Map(&[("method", &Text), ("params", &Object)]))),
    ("requestState", &Any),
]);

/// The `error` of a reply.
pub static ERROR: ValueKind = Map(&[("code", &Number), ("message", &Text), ("data", &Any)]);

/// The params of a notification of progress.
pub static PROGRESS: ValueKind = Map(&[
    ("progressToken", &Any),
    ("progress", &Number),
    ("total", &Number),
    ("message", &Words),
    ("_meta", &Any),
]);

/// The params of any other notification, as far as they say what it is about.
pub static NOTIFICATION: ValueKind =
    Map(&[("_meta", &Map(&[])), ("notifications", &Object), ("requestId", &Any), ("uri", &Words)]);

/// The metadata of a protected resource (RFC 9728), or of an authorization server (RFC 8414): what
/// they say tells which.
pub static METADATA: ValueKind = Map(&[
    ("resource", &Exact),
    ("authorization_server", &Exact),
    ("authorization_servers", &SPACED),
    ("bearer_methods_supported", &SPACED),
    ("issuer", &Exact),
    ("authorization_endpoint", &Exact),
    ("token_endpoint", &Exact),
    ("registration_endpoint", &Exact),
    ("jwks_uri", &Exact),
    ("revocation_endpoint", &Exact),
    ("introspection_endpoint", &Exact),
    ("scopes_supported", &SPACED),
    ("response_types_supported", &SPACED),
    ("grant_types_supported", &SPACED),
    ("code_challenge_methods_supported", &SPACED),
    ("token_endpoint_auth_methods_supported", &SPACED),
    ("authorization_response_iss_parameter_supported", &Bool),
    ("client_id_metadata_document_supported", &Bool),
]);

/// The answer to a registration (RFC 7591), or a refusal.
pub static REGISTRATION: ValueKind = Map(&[
    ("client_id", &Credential),
    ("client_secret", &Credential),
    ("client_name", &Text),
    ("client_id_issued_at", &Number),
    ("client_secret_expires_at", &Number),
    ("redirect_uris", &Spaced(&Credential)),
    ("grant_types", &SPACED),
    ("response_types", &SPACED),
    ("scope", &Text),
    ("token_endpoint_auth_method", &Text),
    ("error", &Any),
    ("error_description", &Text),
]);

/// The answer of a token endpoint (RFC 6749), or a refusal.
pub static TOKEN: ValueKind = Map(&[
    ("access_token", &Credential),
    ("token_type", &Text),
    ("expires_in", &Number),
    ("refresh_token", &Credential),
    ("scope", &SPACED),
    ("error", &Any),
    ("error_description", &Text),
    ("error_uri", &Text),
]);

/// All of them, for tests that hold each to the rules of the pass.
pub static ALL: [&ValueKind; 13] = [
    &INITIALIZE,
    &DISCOVER,
    &CAPABILITIES,
    &IMPLEMENTATION,
    &TOOL,
    &TOOL_CLAIMS,
    &INPUT_REQUIRED,
    &ERROR,
    &PROGRESS,
    &NOTIFICATION,
    &METADATA,
    &REGISTRATION,
    &TOKEN,
];

static SPACED: ValueKind = Spaced(&Exact);
static TEXTS: ValueKind = List(&Text);
