//! What ordinary authorization servers answer that is odd, and what of it is wrong: a table of what
//! they say, and what must come of it.

use rig::person::{assert_shows_no_secret, call, guarded, sign_in};
use rig::remote::Remote;
use rig::{Rig, acquire, host};
use serde_json::{Value, json};
use trunkline::{Error, EventMask};

use super::hostile::attempt;

const CASES: &str = include_str!("answers.json");

/// SPEC 18.2, 18.7: what is odd signs in; what is wrong is refused, and the error says what was
/// expected and what was found.
#[test]
fn odd_answers_are_understood_and_wrong_ones_say_what_is_wrong() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        if let Err(why) = check(case) {
            wrong.push(format!("{}: {why}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn origin(remote: &Remote) -> String {
    remote.url.trim_end_matches("/mcp").to_owned()
}

fn check(case: &Value) -> Result<(), String> {
    let rig = Rig::new(json!({}));
    let (remote, config) = guarded(&rig, &case["ways"], case["oauth"].clone());
    let expected = case["expect"].to_string().replace("$origin", &origin(&remote));
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let came = host(attempt(&rig, config, case, &mut || {}));
    assert_shows_no_secret(&rig, came.as_ref().err().map(|(_, error)| error));
    let found = match &came {
        Ok(()) => json!("signed in"),
        Err((at, error)) => {
            let mut found = json!({ "at": at, "code": error.code().name() });
            for name in ["refused", "expected", "found", "error", "status", "authentication"] {
                if let Some(what) = error.detail().get(name) {
                    found[name] = what.clone();
                }
            }
            found
        }
    };
    if found != expected {
        return Err(format!("{found}, not {expected}; {came:?}"));
    }
    check_words(&came)
}

/// What a person reads names both values, too.
fn check_words(came: &Result<(), (&'static str, Error)>) -> Result<(), String> {
    let Err((_, error)) = came else { return Ok(()) };
    let values =
        ["expected", "found", "error", "authentication"].map(|name| error.detail().get(name));
    let unsaid = values.into_iter().flatten().filter_map(Value::as_str);
    match unsaid.into_iter().find(|value| !error.message().contains(*value)) {
        Some(value) => Err(format!("{value:?} is not in {:?}", error.message())),
        None => Ok(()),
    }
}

/// SPEC 18.7: the resource is sent as its document has it, when a token is renewed too: the
/// authorization server takes no other.
#[test]
fn a_renewal_is_for_the_resource_as_its_document_has_it() {
    for resource in ["$origin", "$origin/", "$origin/mcp/"] {
        let rig = Rig::new(json!({}));
        host(async {
            let ways = json!({ "resource": { "resource": resource }, "uses": [1, 1000] });
            let (remote, config) = guarded(&rig, &ways, json!({}));
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            sign_in(&rig, "s").await.unwrap();
            call(&acquire(&session, "s").await).await.unwrap();
            let requests = remote.requests();
            let issued = requests.iter().filter(|request| request["path"] == "/token").count();
            assert_eq!(issued, 2, "the sign-in and a renewal, for {resource}");
        });
    }
}

/// SPEC 18.7: a token of no kind, or of a kind of its own, is sent as a bearer token is, and a
/// warning says so.
#[test]
fn a_token_of_no_known_kind_is_told_by_a_warning() {
    for (kind, words) in [(Value::Null, "no `token_type`"), (json!("user"), "`user`")] {
        let rig = Rig::new(json!({}));
        host(async {
            let ways = json!({ "token": { "token_type": kind } });
            let (_remote, config) = guarded(&rig, &ways, json!({}));
            rig.configure(json!({ "s": config })).await;
            let events = rig.pool.subscribe(EventMask::ALL).unwrap();
            let session = rig.session("a");
            rig::person::refusal(&session).await;
            sign_in(&rig, "s").await.unwrap();
            let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
            let said = |text: &str| text.contains("\"token_type\"") && text.contains(words);
            assert!(all.iter().any(|event| said(event.json())), "{all:?}");
        });
    }
}
