//! What readers with types are fed with: tables that the next odd server extends by a line.

use serde_json::Value;

use super::kinds::*;
use super::walk::number;
use super::*;
use crate::base::random::Random;

/// A kind, a text as it came, and the text as it is read.
const READ: &[(&ValueKind, &str, &str)] = &[
    (&INITIALIZE, r#"{"capabilities":[]}"#, r#"{"capabilities":{}}"#),
    (&INITIALIZE, r#"{"capabilities":[ ]}"#, r#"{"capabilities":{}}"#),
    (&INITIALIZE, r#"{"capabilities":null,"instructions":null}"#, "{}"),
    (&INITIALIZE, r#"{"a":null,"b":1,"c":null,"d":2}"#, r#"{"b":1,"d":2}"#),
    (&INITIALIZE, r#"{"capabilities":{"tools":[]}}"#, r#"{"capabilities":{"tools":{}}}"#),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":null,"prompts":{}}}"#,
        r#"{"capabilities":{"prompts":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":true,"prompts":false}}"#,
        r#"{"capabilities":{"tools":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":"yes","prompts":7,"resources":[{"name":"a"}]}}"#,
        r#"{"capabilities":{"tools":{},"prompts":{},"resources":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":"false","prompts":{}}}"#,
        r#"{"capabilities":{"prompts":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":{"listChanged":null}}}"#,
        r#"{"capabilities":{"tools":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":{"listChanged":"true"}}}"#,
        r#"{"capabilities":{"tools":{"listChanged":true}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"tools":{"listChanged":7}}}"#,
        r#"{"capabilities":{"tools":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"experimental":[]}}"#,
        r#"{"capabilities":{"experimental":{}}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"capabilities":{"experimental":{"a":[],"b":null,"c":7}}}"#,
        r#"{"capabilities":{"experimental":{"a":{}}}}"#,
    ),
    (&INITIALIZE, r#"{"capabilities":"all","serverInfo":"me"}"#, "{}"),
    (
        &INITIALIZE,
        r#"{"serverInfo":{"name":"n","version":1.0}}"#,
        r#"{"serverInfo":{"name":"n","version":"1.0"}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"serverInfo":{"name":"n","version":null,"icons":null}}"#,
        r#"{"serverInfo":{"name":"n"}}"#,
    ),
    (
        &INITIALIZE,
        r#"{"serverInfo":{"icons":[null,7,{"src":"u","sizes":null}]}}"#,
        r#"{"serverInfo":{"icons":[{"src":"u"}]}}"#,
    ),
    (&INITIALIZE, r#"{"instructions":"a \ud83d b"}"#, r#"{"instructions":"a \ufffd b"}"#),
    (&INITIALIZE, r#"{"instructions":["a"],"_meta":[]}"#, r#"{"_meta":{}}"#),
    (&INITIALIZE, r#"{"_meta":{"a":null,"b":[]}}"#, r#"{"_meta":{"a":null,"b":[]}}"#),
    (
        &DISCOVER,
        r#"{"supportedVersions":["a",null,7],"_meta":null}"#,
        r#"{"supportedVersions":["a","7"]}"#,
    ),
    (
        &TOOL,
        r#"{"annotations":[],"outputSchema":[],"_meta":[]}"#,
        r#"{"annotations":{},"outputSchema":{},"_meta":{}}"#,
    ),
    (
        &TOOL,
        r#"{"annotations":{"readOnlyHint":"true","idempotentHint":null,"openWorldHint":false}}"#,
        r#"{"annotations":{"openWorldHint":false}}"#,
    ),
    (
        &TOOL,
        r#"{"name":"n","title":{"en":"N"},"description":["d"],"annotations":"no","outputSchema":"text"}"#,
        r#"{"name":"n"}"#,
    ),
    (&TOOL, r#"{"outputSchema":[{"type":"object"}],"icons":7,"_meta":true}"#, "{}"),
    (
        &TOOL,
        r#"{"outputSchema":true,"execution":"task","description":7}"#,
        r#"{"description":"7"}"#,
    ),
    (
        &TOOL,
        r#"{"inputSchema":{"properties":{"a":null,"b":{"items":[null]}},"x":null}}"#,
        r#"{"inputSchema":{"properties":{"a":{},"b":{"items":[{}]}}}}"#,
    ),
    (
        &TOOL_CLAIMS,
        r#"{"title":7,"annotations":{"readOnlyHint":1,"idempotentHint":true},"execution":[]}"#,
        r#"{"title":7,"annotations":{"idempotentHint":true},"execution":{}}"#,
    ),
    (&TOOL, r#"{"title":null,"icons":null,"execution":[]}"#, r#"{"execution":{}}"#),
    (
        &INPUT_REQUIRED,
        r#"{"inputRequests":[],"requestState":null}"#,
        r#"{"inputRequests":{},"requestState":null}"#,
    ),
    (
        &INPUT_REQUIRED,
        r#"{"inputRequests":{"k":{"method":"m","params":[]}}}"#,
        r#"{"inputRequests":{"k":{"method":"m","params":{}}}}"#,
    ),
    (&ERROR, r#"{"code":"-32601","message":null,"data":null}"#, r#"{"code":-32601,"data":null}"#),
    (&PROGRESS, r#"{"progress":"0.5","total":null,"message":7}"#, r#"{"progress":0.5}"#),
    (&PROGRESS, r#"{"progress":"NaN","total":"Infinity","message":{}}"#, "{}"),
    (&PROGRESS, r#"{"progress":1e400,"total":" 1","message":true}"#, r#"{"total":1}"#),
    (
        &REGISTRATION,
        r#"{"client_id":7,"redirect_uris":null,"client_secret_expires_at":"0"}"#,
        r#"{"client_id":"7","client_secret_expires_at":0}"#,
    ),
    (
        &TOKEN,
        r#"{"access_token":"t","expires_in":"3600","refresh_token":null,"scope":null}"#,
        r#"{"access_token":"t","expires_in":3600}"#,
    ),
    (
        &TOKEN,
        r#"{"access_token":7,"refresh_token":"\udc00","scope":" a  b ","error":null}"#,
        r#"{"access_token":"7","scope":["a","b"],"error":null}"#,
    ),
    (
        &METADATA,
        r#"{"issuer":"i","scopes_supported":null,"grant_types_supported":[null]}"#,
        r#"{"issuer":"i","grant_types_supported":[]}"#,
    ),
    (
        &METADATA,
        r#"{"issuer":7,"jwks_uri":"\ud800","authorization_servers":[7,"a b","\ud800"]}"#,
        r#"{"authorization_servers":["a b"]}"#,
    ),
    (
        &METADATA,
        r#"{"scopes_supported":"","client_id_metadata_document_supported":"True"}"#,
        r#"{"scopes_supported":[],"client_id_metadata_document_supported":true}"#,
    ),
    (&ValueKind::Schema, r#"{"properties":[]}"#, r#"{"properties":{}}"#),
    (
        &ValueKind::Schema,
        r#"{"properties":{"a":[],"b":null,"c":true}}"#,
        r#"{"properties":{"a":{},"b":{},"c":true}}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"properties":{"o":{"type":"object","properties":[]}}}"#,
        r#"{"properties":{"o":{"type":"object","properties":{}}}}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"items":[],"additionalProperties":[],"not":null}"#,
        r#"{"items":{},"additionalProperties":{}}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"items":[[],{"properties":[]}]}"#,
        r#"{"items":[{},{"properties":{}}]}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"anyOf":[],"oneOf":[{"properties":[]},null]}"#,
        r#"{"anyOf":[],"oneOf":[{"properties":{}},{}]}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"$defs":[],"definitions":{"a":{"items":[]}}}"#,
        r#"{"$defs":{},"definitions":{"a":{"items":{}}}}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"dependentRequired":[],"patternProperties":[]}"#,
        r#"{"dependentRequired":{},"patternProperties":{}}"#,
    ),
    (
        &ValueKind::Schema,
        r#"{"description":null,"title":null,"required":null,"type":"object"}"#,
        r#"{"type":"object"}"#,
    ),
    (&ValueKind::Schema, "[]", "{}"),
];

/// SPEC 18.2, 18.3.
#[test]
fn what_is_odd_is_read_as_it_is_meant() {
    for (kind, text, expected) in READ {
        assert_eq!(lenient(text, kind), *expected, "{text}");
        let again = lenient(expected, kind);
        assert!(matches!(again, Cow::Borrowed(_)), "{expected} is {again}");
    }
}

/// SPEC 18.2: what is nobody's business here, byte for byte.
#[test]
fn what_is_not_odd_passes_as_it_is() {
    for (kind, text) in [
        (&ValueKind::Any, r#"{"a":null,"b":[]}"#),
        (&ValueKind::Any, "null"),
        (&ValueKind::Object, r#"{ "a" : null }"#),
        (&ValueKind::Schema, r#"{"const":null,"enum":[null,[]],"default":[],"examples":[null]}"#),
        (&ValueKind::Schema, r#"{"properties":{"a":{"default":null,"const":[]}}}"#),
        (&ValueKind::Schema, r#"{"properties":"x","items":7,"required":[],"type":[]}"#),
        (&ValueKind::Schema, r#"{ "type" : "object" , "x" : [ ] }"#),
        (&ValueKind::Schema, "true"),
        (
            &ValueKind::Schema,
            r#"{"properties":{"properties":{"type":"string"},"default":{"properties":{}}}}"#,
        ),
        (&INITIALIZE, r#"{"protocolVersion":"v","capabilities":{"x":[]},"other":[]}"#),
        (&INITIALIZE, "not json"),
        (&INITIALIZE, "null"),
        (&INITIALIZE, r#"{"a":1"#),
        (&ERROR, r#"{"code":-1,"message":"m","data":{"a":null,"b":[]}}"#),
    ] {
        let read = lenient(text, kind);
        assert!(matches!(read, Cow::Borrowed(_)), "{text} is {read}");
    }
}

/// SPEC 18.2: a property is no keyword, whatever its name is.
#[test]
fn a_property_that_is_called_like_a_keyword_is_one() {
    let text = r#"{"properties":{"default":{"properties":[]},"enum":[],"const":null}}"#;
    let expected = r#"{"properties":{"default":{"properties":{}},"enum":{},"const":{}}}"#;
    assert_eq!(lenient(text, &ValueKind::Schema), expected);
}

/// SPEC 18.2: what does not fit is told by its place; what is `null`, or fits when it is read, is
/// not.
#[test]
fn what_does_not_fit_is_told() {
    let unfit = |text| unfit(text, &TOOL);
    let text = r#"{"name":"n","title":{},"description":null,"annotations":{"readOnlyHint":"yes","a/b":7},"outputSchema":"x","icons":[7]}"#;
    assert_eq!(unfit(text), ["/title", "/annotations/readOnlyHint", "/outputSchema"]);
    let text = r#"{"title":["a"],"description":7,"inputSchema":{"type":7},"annotations":"no"}"#;
    assert_eq!(unfit(text), ["/title", "/annotations"]);
    assert!(
        ["", "7", r#"{"name":"n","inputSchema":{"properties":[]}}"#]
            .iter()
            .all(|it| unfit(it).is_empty())
    );
}

/// SPEC 18.3.
#[test]
fn half_a_pair_is_the_character_that_says_so() {
    for (text, expected) in [
        (r#""\ud83d""#, r#""\ufffd""#),
        (r#""\uDE00""#, r#""\ufffd""#),
        (r#""\ud83d\n""#, r#""\ufffd\n""#),
        (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
        (r#""\ud83dx\ude00""#, r#""\ufffdx\ufffd""#),
        (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
        (r#"{"\ud800":["\udfff"]}"#, r#"{"\ufffd":["\ufffd"]}"#),
    ] {
        assert_eq!(whole_characters(text), expected, "{text}");
        assert!(serde_json::from_str::<Value>(expected).is_ok());
    }
    for text in [
        r#""\ud83d\ude00""#,
        r#""\\ud83d""#,
        r#""\u00e4\ud7ff\ue000""#,
        "\"\\",
        "\\u",
        "\\ud8",
        "é",
    ] {
        assert!(matches!(whole_characters(text), Cow::Borrowed(_)), "{text}");
    }
}

/// SPEC 18.2.
#[test]
fn a_number_is_a_finite_one_and_may_be_a_text() {
    for (text, expected) in
        [("1", "1"), ("\"1\"", "1"), ("-0.5", "-0.5"), ("\"1e3\"", "1e3"), ("\" 1 \"", "1")]
    {
        assert_eq!(number(text), Some(expected));
    }
    for text in [
        "\"NaN\"",
        "\"inf\"",
        "1e400",
        "\"\"",
        "\"1 1\"",
        "\"+1\"",
        "\"0x1\"",
        "true",
        "null",
        "[1]",
        "\"\\u0031\"",
        "\"01\"",
    ] {
        assert_eq!(number(text), None, "{text}");
    }
}

/// Whatever comes: the result is JSON where the text was, it is its own result, and nothing that is
/// not odd is lost.
#[test]
fn generated_texts_are_read_once_and_for_all() {
    const PIECES: &[&str] = &[
        "null",
        "[]",
        "{}",
        "7",
        "\"7\"",
        "true",
        "\"\\ud800\"",
        "[null]",
        "{\"a\":null}",
        "\"text\"",
    ];
    const NAMES: &[&str] = &[
        "capabilities",
        "tools",
        "serverInfo",
        "properties",
        "items",
        "default",
        "x",
        "\\u0061",
        "anyOf",
        "listChanged",
    ];
    fn text(random: &mut Random, depth: usize) -> String {
        let white = ["", " ", "\n"][random.below(3)];
        match random.below(if depth == 0 { 1 } else { 3 }) {
            0 => format!("{white}{}", PIECES[random.below(PIECES.len())]),
            1 => {
                let items: Vec<String> =
                    (0..random.below(4)).map(|_| text(random, depth - 1)).collect();
                format!("[{white}{}{white}]", items.join(","))
            }
            _ => {
                let member = |random: &mut Random| {
                    format!(
                        "{white}\"{}\"{white}:{}",
                        NAMES[random.below(NAMES.len())],
                        text(random, depth - 1)
                    )
                };
                let members: Vec<String> = (0..random.below(5)).map(|_| member(random)).collect();
                format!("{{{}{white}}}", members.join(","))
            }
        }
    }
    let mut random = Random::new(41);
    for _ in 0..10_000 {
        let text = text(&mut random, 5);
        for kind in ALL.into_iter().chain([&ValueKind::Schema, &ValueKind::Object]) {
            let read = lenient(&text, kind);
            assert!(is_value(&read), "{text} is {read}");
            assert_eq!(lenient(&read, kind), read, "{text}");
        }
    }
}
