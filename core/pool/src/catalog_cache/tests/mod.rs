//! What catalogs are kept by, and how.

mod forms;
mod keys;

use serde_json::Value;

use super::*;
use crate::config::ServerSpec;

const ASKER: Asker<'_> = Asker { workspace: b"/w", context: "pool", capabilities: &["roots"] };

fn spec(value: Value) -> ServerSpec {
    ServerSpec::from_value("s", &value).unwrap()
}
