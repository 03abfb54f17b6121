//! What of the host a server was not given, in the error of its start.

use rig::remote::refused;
use rig::{Rig, host};
use serde_json::{Value, json};

use crate::environment::set;

const AUTHORITY: &str = "/srv/canary-authority.pem";
const PROXY: &str = "http://canary:canary@127.0.0.1:9";

/// What a program says that cannot get to where it wants.
const SAYS: &str = "Error: unable to get local issuer certificate";

/// SPEC 18.10: a certificate variable and a proxy of the host are named, where the server was not
/// given them and says what they may mend. Their values are not.
#[test]
fn a_start_that_fails_names_what_the_server_was_not_given() {
    rig::alone!();
    set(&[("NODE_EXTRA_CA_CERTS", AUTHORITY), ("HTTPS_PROXY", PROXY)]);
    let (authority, proxy) = ("NODE_EXTRA_CA_CERTS", "HTTPS_PROXY");
    for (says, pool, more, named) in [
        (SAYS, json!([]), json!({}), &[proxy, authority][..]),
        ("connect ECONNREFUSED 10.0.0.1:443", json!([]), json!({}), &[proxy, authority]),
        ("no such option", json!([]), json!({}), &[]),
        (SAYS, json!([proxy]), json!({}), &[authority]),
        (SAYS, json!([]), json!({ "inherit_env": [authority] }), &[proxy]),
        (
            SAYS,
            json!([]),
            json!({ "env": { "https_proxy": "http://proxy.example" } }),
            &[authority],
        ),
        (SAYS, json!([]), json!({ "env": { authority: null, proxy: null } }), &[]),
    ] {
        let rig = Rig::new(json!({ "inherit_env": pool }));
        let mut server = rig.server(&["--stderr-text", says, "--exit-at-start", "1"]);
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = host(refused(&rig, server));
        let told = error.to_json();
        let withheld = error.detail().get("withheld").and_then(Value::as_array);
        // The machine of the test may have others.
        let ours = withheld.into_iter().flatten().filter_map(Value::as_str);
        let ours: Vec<&str> = ours.filter(|name| [authority, proxy].contains(name)).collect();
        assert_eq!(ours, named, "{told}");
        let hint = error.hint().unwrap_or_default();
        for name in [authority, proxy] {
            assert_eq!(hint.contains(&format!("`{name}`")), named.contains(&name), "{told}");
        }
        assert_eq!(hint.contains("`inherit_env`"), withheld.is_some(), "{told}");
        assert!(!told.to_string().contains("canary"), "{told}");
    }
}
