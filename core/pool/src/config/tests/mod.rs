//! A server's configuration: shapes, faults, identity and secrecy.

mod bounds;
mod identity;
mod secrecy;
mod shapes;
mod sharing;
mod strictness;

use serde_json::Value;

use super::ServerSpec;

/// Parses what must be right.
fn spec(value: Value) -> ServerSpec {
    ServerSpec::from_value("s", &value).unwrap()
}

/// The path of the field that a wrong configuration is refused for.
fn fault(value: Value) -> String {
    let error = ServerSpec::from_value("s", &value).unwrap_err();
    assert_eq!(error.code(), crate::ErrorCode::InvalidConfig);
    assert_eq!(error.server(), Some("s"));
    error.detail()["path"].as_str().unwrap().to_owned()
}
