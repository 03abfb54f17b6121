//! What settings are asked of the host: inputs, secrets, what becomes of an entry, and what
//! commands print.
//!
//! A pass that lacks an answer notes the question and goes on; the answer causes another pass. No
//! lock is held while the host answers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;
use trunkline_pool::json::plain;
use trunkline_pool::options::{HandlerKind, HandlerResult, ServerRequest};

use super::answers::{Ask, HostAnswer, HostQuestion};
use crate::config::Config;
use crate::config::desired::also;
use crate::config::types::RefreshScope;
use crate::runtime::handling::contained;
use crate::transport::run_command;

/// What comes within this time is one pass.
const GATHER: Duration = Duration::from_millis(2);

/// Asks in the background, a few at one time.
pub(crate) fn ask(config: &Arc<Config>, questions: Vec<Ask>) {
    for question in questions {
        let weak = Arc::downgrade(config);
        let permits = config.permits.clone();
        config.driver.spawn(async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            let Some(answer) = answer(&weak, &question).await else { return };
            if let Some(config) = weak.upgrade() {
                answered(&config, &question, answer);
            }
        });
    }
}

/// The host's answer; nothing when nobody needs one any more.
async fn answer(config: &Weak<Config>, ask: &Ask) -> Option<HostAnswer> {
    let config = config.upgrade()?;
    if !config.desired().answers.begin(ask) {
        return None;
    }
    if config.driver.check_open().is_err() {
        return Some(HostAnswer::Refused);
    }
    let driver = config.driver.clone();
    // Nobody who waits for the host keeps the configuration.
    drop(config);
    let kind = match &ask.question {
        HostQuestion::Input(..) => HandlerKind::Inputs,
        HostQuestion::Secret(..) => HandlerKind::Secrets,
        HostQuestion::Entry(..) => HandlerKind::Entries,
        HostQuestion::Command(line) => {
            let (inherit_env, lookups) = (&driver.options.inherit_env, &driver.lookups);
            let printed = run_command(&ask.server, line, &driver.workspace, inherit_env, lookups);
            return Some(match printed.await {
                Ok(text) => HostAnswer::Text(text),
                Err(error) => {
                    tracing::warn!(server = &*ask.server, %error, "a command gave no value");
                    HostAnswer::Refused
                }
            });
        }
    };
    let request = ServerRequest::new(kind, "".into(), kind.name(), &ask.params.to_string());
    let request = request.from_server(ask.server.clone(), 0, 0);
    let handlers = driver.options.handlers.clone();
    if !handlers.has(kind) {
        return Some(HostAnswer::None);
    }
    let begun = catch_unwind(AssertUnwindSafe(|| handlers.answer(request)));
    let Some(handling) = begun.ok().flatten() else { return Some(HostAnswer::Refused) };
    let given = tokio::time::timeout(driver.options.handler_timeout, contained(handling)).await;
    Some(given.map_or(HostAnswer::Refused, |given| read(kind, given)))
}

/// What a handler gave: `{"value": "…"}`, or `{}` when it has none; of an entry the whole object.
fn read(kind: HandlerKind, given: HandlerResult) -> HostAnswer {
    let Ok(text) = given else { return HostAnswer::Refused };
    let Ok(Value::Object(object)) = plain(&text) else {
        return HostAnswer::Refused;
    };
    if kind == HandlerKind::Entries {
        return HostAnswer::Text(text);
    }
    match object.get("value") {
        Some(Value::String(value)) => HostAnswer::Text(value.clone()),
        None | Some(Value::Null) => HostAnswer::None,
        Some(_) => HostAnswer::Refused,
    }
}

/// An answer came: one pass for all that come at about the same time.
fn answered(config: &Arc<Config>, ask: &Ask, answer: HostAnswer) {
    {
        let mut desired = config.desired();
        if !desired.answers.take(&ask.question, ask.number, answer) {
            return;
        }
        if std::mem::replace(&mut desired.gathers, true) {
            return;
        }
    }
    let weak = Arc::downgrade(config);
    config.driver.spawn(async move {
        tokio::time::sleep(GATHER).await;
        if let Some(config) = weak.upgrade() {
            // It fails with the process alone.
            let _ = config
                .change_apart(RefreshScope::No, also(|desired| desired.gathers = false))
                .await;
        }
    });
}
