//! Pools of unit tests: what they have is a script of the shell, and they are soon closed.

use serde_json::{Value, json};

use crate::{Pool, PoolOptions, Servers};

/// A server that shakes hands, and answers besides what those lines of a `case` give a result to.
macro_rules! speaking {
    ($cases:literal) => {
        concat!(
            r#"
while read -r line; do
    id=$(expr "$line" : '.*"id":\([0-9]*\)')
    case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}' ;;
"#,
            $cases,
            r#"
        *) continue ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
"#
        )
    };
}
pub(crate) use speaking;

/// A pool with these options and servers, which keeps nothing.
pub(crate) async fn pool_with(mut options: Value, servers: Value) -> Pool {
    options["cache"] = "off".into();
    (options["exit_grace_ms"], options["kill_grace_ms"]) = (50.into(), 50.into());
    let pool = Pool::new(PoolOptions::from_json(&options.to_string()).unwrap()).unwrap();
    reconcile(&pool, servers).await;
    pool
}

pub(crate) async fn reconcile(pool: &Pool, servers: Value) {
    pool.reconcile(Servers::from_json(&servers.to_string()).unwrap()).await.unwrap();
}

/// The plainest server. Another word is another configuration.
pub(crate) fn server(word: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", SERVER, word] })
}

/// Speaks just enough: a handshake and one tool.
pub(crate) const SERVER: &str = speaking!(
    r#"        *'"tools/list"'*) result='{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}' ;;"#
);
