//! What goes through between JavaScript and the library: JSON texts and times.

use std::time::Duration;

use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{ValueType, sys};
use trunkline::{Introduction, List, ListedItem, ShapedTools};

use crate::runtime::text;

/// A JSON text on its way out of an exported function.
pub struct JsonText(pub String);

impl TypeName for JsonText {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for JsonText {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        text::to_js(env, &text.0)
    }
}

impl JsonText {
    /// What a server said of itself.
    pub fn said(said: Introduction) -> JsonText {
        JsonText(said.json().to_owned())
    }
}

/// A list as the text of a JSON array, its definitions unchanged.
pub fn list_text(listed: &[ListedItem]) -> JsonText {
    let mut text = String::new();
    push_array(&mut text, listed);
    JsonText(text)
}

/// A list, its number and its mark, as JSON text. Nothing where JavaScript has the list of that
/// mark: it says so itself, since it may have failed to take what it was given.
pub fn numbered(list: &List, known: Option<&str>) -> Option<JsonText> {
    let mark = mark(list);
    (known != Some(mark.as_str())).then(|| {
        let mut text = format!(r#"{{"revision":{},"mark":"{mark}","items":"#, list.revision());
        push_array(&mut text, list);
        text.push('}');
        JsonText(text)
    })
}

/// The same of the tools in the shape of a model API.
pub fn shaped(tools: &ShapedTools, known: Option<&str>) -> Option<JsonText> {
    let revision = tools.revision();
    (known != Some(revision.to_string().as_str())).then(|| {
        let items = tools.json();
        JsonText(format!(r#"{{"revision":{revision},"mark":"{revision}","items":{items}}}"#))
    })
}

/// What tells a list from another of the same name in its session. The revision says nothing of
/// what is deferred.
fn mark(list: &List) -> String {
    let mut mark = list.revision().to_string();
    if list.iter().any(|item| item.deferred) {
        mark.push(':');
        mark.extend(list.iter().map(|item| if item.deferred { '1' } else { '0' }));
    }
    mark
}

/// Written once: a list is long, and each copy of it takes memory that the process did not have.
fn push_array(text: &mut String, listed: &[ListedItem]) {
    text.reserve(listed.iter().map(|item| item.definition.len() + ROW_BYTES).sum());
    text.push('[');
    for (number, item) in listed.iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        text.push_str(&item.to_json());
    }
    text.push(']');
}

/// The time of so many milliseconds.
pub fn duration(ms: f64) -> Duration {
    Duration::from_secs_f64(ms.clamp(0.0, MOST_MS) / 1e3)
}

/// The longest time that JavaScript may ask for, in milliseconds: 100 years. It keeps `Duration`
/// from overflowing.
const MOST_MS: f64 = 100.0 * 365.0 * 24.0 * 3_600_000.0;

/// About what an item takes beside its definition.
const ROW_BYTES: usize = 256;
