//! Servers that say their environment back in what they say of themselves, in both eras: no copy
//! that the library writes has it.

use std::path::Path;

use rig::{Rig, host};
use serde_json::{Value, json};
use trunkline::{AcquireOptions, Servers};

use crate::canaries::{look, look_in_the_file, script, sent, shown, with_events};

/// The shell's words for a server of each era: everything that it says of itself has its secret. It
/// lists nothing.
const SPEAKS: &str = r#"
info="{\"name\":\"n $KEY\",\"title\":\"t $KEY\",\"version\":\"v $KEY\",\"description\":\"d $KEY\",\"websiteUrl\":\"https://e.test/$KEY\",\"icons\":[{\"src\":\"data:,$KEY\"}],\"of $KEY\":1}"
able="{\"tools\":{\"of\":\"$KEY\"},\"logging\":{\"of\":\"$KEY\"},\"experimental\":{\"e $KEY\":{\"of\":\"$KEY\"}}}"
while read -r line; do
    id=$(expr "$line" : '.*"id":\([0-9]*\)')
    [ -n "$id" ] || continue
    said="\"error\":{\"code\":-32601,\"message\":\"no such method\"}"
    case "$1 $line" in
        modern*'"server/discover"'*) said="\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":$able,\"instructions\":\"use $KEY\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":$info}}" ;;
        legacy*'"initialize"'*) said="\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":$able,\"serverInfo\":$info,\"instructions\":\"use $KEY\"}" ;;
        *'"tools/list"'*) said="\"result\":{\"resultType\":\"complete\",\"tools\":[]}" ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$said}"
done
"#;

fn server(rig: &Rig, era: &str, secret: String) -> Value {
    let mut server = script(rig, SPEAKS, era);
    server["env"] = json!({ "KEY": secret });
    server
}

/// Asks each what it says of itself, and looks at all that is shown of that.
pub fn all(rig: &Rig, home: &Path) {
    let servers = json!({
        "introduces": server(rig, "legacy", sent("env that an introduction says back")),
        "discovers": server(rig, "modern", sent("env that an introduction of the newer era says back")),
    });
    with_events(rig, || {
        host(async {
            let servers = Servers::from_json(&servers.to_string()).unwrap();
            rig.pool.reconcile(servers).await.unwrap();
            let session = rig.session("a");
            let names = ["introduces", "discovers"];
            for (name, revision) in names.into_iter().zip(["2025-11-25", "2026-07-28"]) {
                let options = AcquireOptions::default();
                let lease = session.acquire(name, None, &options).await.unwrap();
                let said = lease.introduction().unwrap();
                shown::keep("introduction", format!("{said:?} {}", said.json()));
                assert_eq!(said.protocol_version(), revision);
                assert_eq!(said.instructions().as_deref(), Some("use [redacted]"));
                assert_eq!(said.server_info()["title"], "t [redacted]");
                look_in_the_file(home, name);
            }
            look(rig, &session, &names);
            session.close(None);
        });
    });
}
