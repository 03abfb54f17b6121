//! What servers write as schemas of arguments, one row each, and what holds of every row in every
//! shape (SPEC 18.2, 18.8).

use std::collections::HashSet;

use serde_json::{Value, json};

use super::*;
use crate::error::ErrorCode;

/// All but the protocol's own.
pub(super) const FITTING: [ToolFormat; 5] = [
    ToolFormat::OpenAi,
    ToolFormat::OpenAiResponses,
    ToolFormat::Anthropic,
    ToolFormat::Gemini,
    ToolFormat::Any,
];

/// A name, a schema as it is written, and the arguments that a model has to be shown.
const ROWS: &[(&str, &str, &[&str])] = &[
    ("nothing", "{}", &[]),
    ("an empty list for a schema", "[]", &[]),
    ("no properties", r#"{"type":"object"}"#, &[]),
    ("an empty list for properties", r#"{"type":"object","properties":[]}"#, &[]),
    ("null for properties", r#"{"type":"object","properties":null}"#, &[]),
    ("a text for properties", r#"{"type":"object","properties":"none"}"#, &[]),
    ("a list for a property", r#"{"properties":{"a":[],"b":null,"c":7}}"#, &["a", "b", "c"]),
    (
        "empty lists for maps, deep inside",
        r#"{"properties":{"opt":{"type":"object","properties":[]},"list":{"type":"array","items":[]},"deep":{"anyOf":[[],{"properties":{"x":{"items":[]}}}]}}}"#,
        &["opt", "list", "deep"],
    ),
    (
        "empty lists beside",
        r#"{"properties":{"a":{}},"$defs":[],"definitions":[],"patternProperties":[],"dependentRequired":[],"additionalProperties":[]}"#,
        &["a"],
    ),
    (
        "null members",
        r#"{"properties":{"a":{"items":null,"type":null,"description":null}},"required":null,"oneOf":null,"$ref":null}"#,
        &["a"],
    ),
    (
        "members of a wrong type",
        r#"{"properties":{"a":{"minimum":"1","type":"any","description":7,"required":true,"exclusiveMinimum":true,"oneOf":{}}},"required":"a"}"#,
        &["a"],
    ),
    (
        "types in capitals",
        r#"{"type":"Object","properties":{"a":{"type":"STRING"},"b":{"type":["String","Null"]}}}"#,
        &["a", "b"],
    ),
    ("branches of nothing", r#"{"properties":{"a":{"anyOf":[]}},"oneOf":[]}"#, &["a"]),
    (
        "a reference at the top",
        r##"{"$ref":"#/$defs/Args","$defs":{"Args":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"]},"A":{"type":"string"}}}"##,
        &["a"],
    ),
    (
        "references in a row at the top",
        r##"{"$ref":"#/definitions/B","definitions":{"B":{"$ref":"#/definitions/C"},"C":{"allOf":[{"$ref":"#/definitions/D"},{"properties":{"c":{}}}]},"D":{"properties":{"d":{}}}}}"##,
        &["c", "d"],
    ),
    ("a reference at the top to itself", r##"{"$ref":"#","properties":{"a":{}}}"##, &["a"]),
    (
        "branches that refer",
        r##"{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{"A":{"properties":{"a":{}}},"B":{"properties":{"b":{}}}}}"##,
        &["a", "b"],
    ),
    (
        "a reference into a branch",
        r##"{"oneOf":[{"properties":{"a":{"type":"object","properties":{"x":{"type":"string"}}}}}],"properties":{"b":{"$ref":"#/oneOf/0/properties/a"}}}"##,
        &["a", "b"],
    ),
    (
        "a branch that refers into another",
        r##"{"anyOf":[{"properties":{"a":{"$ref":"#/anyOf/1/properties/b"}}},{"properties":{"b":{"items":{"$ref":"#/anyOf/0"},"type":"array"}}}]}"##,
        &["a", "b"],
    ),
    (
        "a reference to the whole",
        r##"{"properties":{"$n":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},"required":["$n"]}"##,
        &["children"],
    ),
    (
        "a reference to the whole, with branches",
        r##"{"anyOf":[{"properties":{"a":{"$ref":"#"}}},{"$ref":"#/$defs/T"}],"$defs":{"T":{"properties":{"t":{"$ref":"#/anyOf/0"}}}}}"##,
        &["a", "t"],
    ),
    (
        "a reference to a renamed argument",
        r##"{"properties":{"filter[app]":{"type":"object","properties":{"id":{}}},"b":{"$ref":"#/properties/filter[app]"},"c":{"$ref":"#/properties/filter%5Bapp%5D/properties/id"}}}"##,
        &["b", "c"],
    ),
    (
        "a reference with an escaped name",
        r##"{"properties":{"a":{"$ref":"#/$defs/x~1y~0z"},"b":{"$ref":"#/$defs/n%20m"}},"$defs":{"x/y~z":{},"n m":{}}}"##,
        &["a", "b"],
    ),
    (
        "a reference to an anchor",
        r##"{"properties":{"a":{"$ref":"#node"}},"anyOf":[{"properties":{"b":{"$anchor":"node","type":"string"}}}]}"##,
        &["a", "b"],
    ),
    (
        "a reference by the document's address",
        r##"{"$id":"https://e.test/s","properties":{"a":{"$ref":"https://e.test/s#/$defs/A"},"b":{"$ref":"https://e.test/s"}},"$defs":{"A":{}}}"##,
        &["a", "b"],
    ),
    (
        "a document within",
        r##"{"properties":{"a":{"$ref":"item"}},"$defs":{"item":{"$id":"item","$defs":{"x":{}},"properties":{"y":{"$ref":"#/$defs/x"}}}}}"##,
        &["a"],
    ),
    (
        "references that lead nowhere",
        r##"{"properties":{"a":{"$ref":"#/$defs/None"},"b":{"$ref":"https://e.test/other.json"},"c":{"$ref":"#/properties/a/title"},"d":{"$ref":"none"}}}"##,
        &["a", "b", "c", "d"],
    ),
    (
        "a name of a moved part that is taken",
        r##"{"$defs":{"kept_1":{"type":"string"}},"properties":{"a":{"$ref":"#/anyOf/0"},"b":{"$ref":"#/$defs/kept_1"}},"anyOf":[{"required":["a"]}]}"##,
        &["a", "b"],
    ),
    (
        "names that are keywords",
        r##"{"type":"object","properties":{"properties":{"type":"string"},"required":{"type":"string"},"type":{"type":"string"},"items":{"type":"string"},"enum":{"type":"string"},"anyOf":{"type":"string"},"default":{"type":"string"},"_id":{"type":"string"},"from":{"type":"string"},"constructor":{"type":"string"},"__proto__":{"type":"string"},"deep":{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{"type":"string"},"properties":{"type":"array"}},"required":["$ref"]}},"required":["properties","type"]}"##,
        &[
            "properties",
            "required",
            "type",
            "items",
            "enum",
            "anyOf",
            "default",
            "_id",
            "from",
            "constructor",
            "__proto__",
            "deep",
        ],
    ),
    (
        "names that begin with a dollar",
        r##"{"properties":{"$ref":{"type":"string"},"$defs":{"type":"string"},"ok":{}},"required":["$ref","ok"]}"##,
        &["ok"],
    ),
    (
        "names that Anthropic refuses",
        r##"{"properties":{"filter[app]":{"type":"string"},"filter_app_":{},"$top":true,"naïve":{},"page.size":{},"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":{},"":{},"a b":{},"a]":{},"a[":{}},"required":["filter[app]"],"additionalProperties":false}"##,
        &["filter_app_", "page.size"],
    ),
    (
        "what speaks of renamed arguments",
        r##"{"properties":{"$a":{},"b":{}},"dependentRequired":{"$a":["b"],"b":["$a"]},"propertyNames":{"pattern":"^[$b]"},"if":{"required":["$a"]},"then":{"required":["b"]},"not":{"required":["$a","b"]}}"##,
        &["b"],
    ),
    (
        "values that look like schemas",
        r##"{"properties":{"a":{"const":{"$ref":"#/no","items":[]},"default":{"properties":[]},"enum":[[],null],"examples":[{"$ref":"#/no"}]}}}"##,
        &["a"],
    ),
    ("an array without items", r#"{"properties":{"a":{"type":"array"}}}"#, &["a"]),
    (
        "what each way requires",
        r#"{"allOf":[{"properties":{"a":{}},"required":["a"]},{"anyOf":[{"properties":{"b":{}},"required":["b"]}]}],"oneOf":[{"required":["c","d"]},{"required":["d"]}],"properties":{"c":{},"d":{}}}"#,
        &["a", "b", "c", "d"],
    ),
    (
        "arguments of conditions",
        r##"{"properties":{"a":{}},"if":{"required":["a"]},"then":{"properties":{"b":{}},"required":["b"]},"else":{"$ref":"#/$defs/C"},"$defs":{"C":{"properties":{"c":{}}}}}"##,
        &["a", "b", "c"],
    ),
    (
        "arguments of conditions in a branch",
        r#"{"additionalProperties":false,"properties":{"a":{}},"required":["a","b"],"allOf":[{"if":{"properties":{"a":{"const":1}}},"then":{"properties":{"b":{"title":"one"}}},"else":{"properties":{"b":{"title":"more"}}}}]}"#,
        &["a", "b"],
    ),
    (
        "arguments that others bring along",
        r#"{"properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"b":{}},"required":["b"]}},"dependencies":{"a":{"properties":{"c":{}}}}}"#,
        &["a", "b", "c"],
    ),
];

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Each schema inside of one, itself included.
fn schemas(schema: &Value) -> Vec<&Value> {
    let mut found = vec![schema];
    if let Value::Object(members) = schema {
        found.extend(keywords::inner(members).flat_map(schemas));
    }
    found
}

/// SPEC 18.8: whatever a server writes, each target is given an object whose arguments are all to
/// be seen, with names that it takes.
#[test]
fn every_row_is_an_object_whose_arguments_can_be_seen() {
    for (row, written, shown) in ROWS {
        for shape in FITTING {
            let fitted = fitted_whole(shape, written);
            let schema = read(&fitted.text);
            assert_eq!(schema["type"], "object", "{row}, {shape:?}: {schema}");
            let properties = schema["properties"].as_object().expect("they are a map");
            for name in *shown {
                assert!(properties.contains_key(*name), "{row}, {shape:?}, {name}: {schema}");
            }
            if matches!(shape, ToolFormat::Anthropic | ToolFormat::Any) {
                let is_taken = |name: &String| {
                    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
                    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
                };
                assert!(properties.keys().all(is_taken), "{row}, {shape:?}: {schema}");
            } else {
                assert!(fitted.names.is_empty(), "{row}, {shape:?}");
            }
            let again = fitted_whole(shape, &fitted.text);
            assert_eq!(again.text, fitted.text, "{row}, {shape:?}: what is fitted once fits");
            assert_eq!(again.left_out, [], "{row}, {shape:?}");
        }
    }
}

/// SPEC 18.8: every reference that led somewhere leads somewhere, and none is left that does not.
#[test]
fn every_reference_of_every_row_leads_somewhere() {
    for (row, written, _) in ROWS {
        for shape in FITTING {
            let schema = read(&fitted(shape, written));
            let targets = references::Targets::of(&schema);
            for referring in schemas(&schema) {
                let Some(reference) = referring.get("$ref").and_then(Value::as_str) else {
                    continue;
                };
                let of_a_document = *row == "a document within";
                assert!(
                    targets.find(reference).is_some() || of_a_document,
                    "{row}, {shape:?}: {reference} in {schema}"
                );
            }
        }
    }
}

/// SPEC 18.2: where a map belongs no empty list is left, and no null.
#[test]
fn no_row_has_a_list_or_null_where_a_map_belongs() {
    for (row, written, _) in ROWS {
        for shape in FITTING {
            let schema = read(&fitted(shape, written));
            for inner in schemas(&schema) {
                assert!(inner.is_object() || inner.is_boolean(), "{row}, {shape:?}: {schema}");
                for (name, value) in inner.as_object().into_iter().flatten() {
                    let takes = keywords::takes(name);
                    let is_list = value.as_array().is_some_and(Vec::is_empty);
                    let may_be_one = matches!(takes, None | Some(keywords::Takes::Names));
                    assert!(!is_list || may_be_one, "{row}, {shape:?}, {name}: {schema}");
                    assert!(
                        !value.is_null() || takes.is_none(),
                        "{row}, {shape:?}, {name}: {schema}"
                    );
                }
            }
        }
    }
}

/// SPEC 18.8: a renamed argument goes back under the server's own name, and what is required is
/// what was.
#[test]
fn every_renamed_argument_of_every_row_finds_back() {
    for (row, written, _) in ROWS {
        let before = read(&fitted(ToolFormat::OpenAi, written));
        for shape in [ToolFormat::Anthropic, ToolFormat::Any] {
            let fitted = fitted_whole(shape, written);
            let schema = read(&fitted.text);
            let own = |name: &str| {
                let found = fitted.names.iter().find(|(shaped, _)| *shaped == name);
                found.map_or(name.to_owned(), |(_, own)| own.to_owned())
            };
            let names = |schema: &Value| -> Vec<String> {
                schema["properties"].as_object().unwrap().keys().map(|name| own(name)).collect()
            };
            assert_eq!(names(&schema), names(&before), "{row}");
            let required = |schema: &Value| -> Vec<String> {
                let names = schema["required"].as_array().cloned().unwrap_or_default();
                names.iter().map(|name| own(name.as_str().unwrap())).collect()
            };
            assert_eq!(required(&schema), required(&before), "{row}");
            for (name, property) in schema["properties"].as_object().unwrap() {
                let arguments = json!({ name: [1.50, "x"] }).to_string();
                let back = read(&fitted.names.back(&arguments).unwrap());
                assert_eq!(back, json!({ own(name): [1.50, "x"] }), "{row}, {name}");
                // A model is told what it is called.
                let is_renamed = own(name) != *name;
                assert!(!is_renamed || property["title"] == own(name), "{row}: {schema}");
            }
        }
    }
}

/// SPEC 18.8: what is not in what a target is given is told, with the place where it stood.
#[test]
fn what_is_left_out_is_told() {
    let told = |shape: ToolFormat, schema: Value| -> Vec<String> {
        let definition = json!({ "name": "n", "inputSchema": schema }).to_string();
        shape.fit(&definition).left_out.into_iter().map(|it| it.path).collect()
    };
    let none: [&str; 0] = [];
    assert_eq!(told(ToolFormat::Anthropic, json!({ "properties": [], "required": null })), none);
    assert_eq!(
        told(ToolFormat::Anthropic, json!({ "anyOf": [{ "required": ["a"] }] })),
        ["/anyOf"]
    );
    assert_eq!(told(ToolFormat::Gemini, json!({ "anyOf": [{ "required": ["a"] }] })), none);
    assert_eq!(told(ToolFormat::OpenAi, json!({ "not": {}, "enum": [] })), ["/enum", "/not"]);
    let wrong = json!({ "properties": { "a/b": { "minimum": "1", "$ref": "#/none" }, "c": 1 } });
    let expected = ["/properties/a~1b/minimum", "/properties/c", "/properties/a~1b/$ref"];
    assert_eq!(told(ToolFormat::Any, wrong.clone()), expected);
    assert_eq!(told(ToolFormat::Mcp, wrong), none);
    let speaking = json!({ "properties": { "$a": {} }, "if": { "required": ["$a"] }, "then": {} });
    assert_eq!(told(ToolFormat::Anthropic, speaking.clone()), ["/if", "/then"]);
    let definition = json!({ "name": "n", "inputSchema": speaking }).to_string();
    let fit = ToolFormat::Anthropic.fit(&definition).to_json().unwrap();
    let renamed: HashSet<&Value> = fit["renamed"].as_object().unwrap().values().collect();
    assert_eq!(renamed, HashSet::from([&json!("$a")]));
    let unreadable = r#"{"name":"n","inputSchema":{"maximum":1e999}}"#;
    assert_eq!(ToolFormat::Any.fit(unreadable).left_out[0].path, "");
    assert_eq!(ToolFormat::Any.fit(r#"{"name":"n","inputSchema":{}}"#).to_json(), None);
}

/// SPEC 18.8: a name depends on the server's own alone, so that a changed list never gives an
/// argument what was meant for another.
#[test]
fn a_name_stays_when_others_come() {
    let names = |properties: Value| -> Vec<(String, String)> {
        let definition = json!({ "name": "n", "inputSchema": { "properties": properties } });
        let fit = ToolFormat::Anthropic.fit(&definition.to_string());
        fit.names.iter().map(|(shaped, own)| (own.to_owned(), shaped.to_owned())).collect()
    };
    let [alone] = &names(json!({ "a[": {} }))[..] else { panic!("one is renamed") };
    let among = names(json!({ "a]": {}, "a_": {}, "a[": {} }));
    assert!(among.contains(alone), "{among:?}");
    assert!(among.len() == 2 && among[0].1 != among[1].1, "{among:?}");
    // One that is taken goes to the server's own, and the renamed one takes the next.
    let taken = names(json!({ "a[": {}, alone.1.as_str(): {} }));
    assert_ne!(taken[0], *alone);
}

/// SPEC 18.8, 5.3: what a model says goes on byte for byte but for the names, and never twice.
#[test]
fn arguments_go_back_byte_for_byte() {
    let definition = r#"{"name":"n","inputSchema":{"properties":{"$a":{},"b":{}}}}"#;
    let names = ToolFormat::Any.fit(definition).names;
    let (shaped, own) = names.iter().next().unwrap();
    assert_eq!(own, "$a");
    let back = |text: &str| names.back(text).map(|text| text.into_owned());
    let given = format!(r#"{{ "{shaped}" : 1.50e2, "b":{{"{shaped}":1}} }}"#);
    assert_eq!(back(&given).unwrap(), format!(r#"{{"$a":1.50e2,"b":{{"{shaped}":1}}}}"#));
    for other in ["", "7", "{", r#"{"$a":1,"x":2}"#] {
        assert_eq!(back(other).unwrap(), other);
    }
    let own_arguments =
        |shape: ToolFormat| shape.own_arguments(definition, &given).unwrap().into_owned();
    assert_eq!(own_arguments(ToolFormat::Any), back(&given).unwrap());
    assert_eq!(own_arguments(ToolFormat::OpenAi), given);
    let error = back(&format!(r#"{{"$a":1,"{shaped}":2}}"#)).unwrap_err();
    assert_eq!(
        (error.code(), &error.detail()["path"]),
        (ErrorCode::InvalidArgument, &json!("arguments"))
    );
}

/// SPEC 18.8: a schema full of references to what is taken out grows within bounds.
#[test]
fn what_is_put_beside_the_definitions_is_bounded() {
    let branches: Vec<Value> =
        (0..300).map(|number| json!({ "title": number.to_string() })).collect();
    let properties: serde_json::Map<String, Value> = (0..300)
        .map(|number| (format!("p{number}"), json!({ "$ref": format!("#/anyOf/{number}") })))
        .collect();
    let schema = json!({ "properties": properties, "anyOf": branches });
    let fitted = fitted_whole(ToolFormat::Any, &schema.to_string());
    let read = read(&fitted.text);
    assert_eq!(read["$defs"].as_object().unwrap().len(), 64);
    assert_eq!(fitted.left_out.len(), 300 - 64 + 1);
    let targets = references::Targets::of(&read);
    let references = schemas(&read).into_iter().filter_map(|schema| schema["$ref"].as_str());
    assert!(references.into_iter().all(|reference| targets.find(reference).is_some()));
}
