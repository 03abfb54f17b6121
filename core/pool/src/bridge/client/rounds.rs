//! What a modern client is asked for in the place of a result, and the state that it carries.

use serde_json::{Map, Value, json};

use super::records::call::OpenCall;
use super::records::input_step::InputStep;
use super::records::outcome::ShownOutcome;
use super::served_client::ServedClient;
use crate::bridge::seal::{CarriedState, seal};
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::edit::{Edit, edited, stamped};
use crate::json::members;

/// How long a client may take until it comes back with a state of a server.
const STATE_SECONDS: u64 = 60 * 60;

impl ServedClient {
    /// The request of a modern server for input, with its state sealed.
    pub(super) fn relayed(
        &self,
        turn: &InputStep<'_>,
        open: &OpenCall,
        result: &str,
        identity: &str,
    ) -> ShownOutcome {
        let wrong = |message: &str, method: Option<&str>| {
            let attached = json!({ "server": open.server, "method": method });
            ShownOutcome::Denied(Denial::new(DenialKind::Upstream, message).with(attached))
        };
        if !self.is_modern() {
            return wrong("the server asks for input, and the pool did not give it", None);
        }
        let read = members(result).unwrap_or_default();
        let get = |name: &str| {
            let found = read.iter().rfind(|(had, _)| had == name);
            found.map(|(_, value)| value.get()).filter(|value| *value != "null")
        };
        let requests = get("inputRequests").map(members);
        for (_, request) in requests.and_then(Result::ok).unwrap_or_default() {
            let request = serde_json::from_str::<Value>(request.get()).unwrap_or_default();
            let method = request["method"].as_str().unwrap_or_default();
            if open.meta.capabilities.lacks(method, &request["params"].to_string()).is_some() {
                let message = "the server asks for input that the client did not declare";
                return wrong(message, Some(method));
            }
        }
        let state = match get("requestState").map(serde_json::from_str::<String>) {
            None => CarriedState::OfServer(None),
            Some(Ok(state)) => CarriedState::OfServer(Some(state)),
            Some(Err(_)) => return wrong("the `requestState` of the server is not a string", None),
        };
        let leaves_out = ["resultType", "requestState", "_meta", "ttlMs", "cacheScope"];
        let edit = |name: &str, _: &str| match leaves_out.contains(&name) {
            true => Edit::Drop,
            false => Edit::Keep,
        };
        let until = turn.now.unix_seconds.saturating_add(STATE_SECONDS);
        let sealed = self.sealed(open, &state, until);
        let body = edited(result, edit, &[]).unwrap_or_else(|| "{}".to_owned());
        ShownOutcome::Result(asking(&body, &sealed, get("_meta"), identity))
    }

    /// Addresses that are to be opened before a legacy server goes on: the request is sent anew.
    pub(super) fn visits(
        &self,
        turn: &InputStep<'_>,
        open: &OpenCall,
        visits: &[Value],
        identity: &str,
    ) -> ShownOutcome {
        let mut requests = Map::new();
        for (place, visit) in visits.iter().enumerate() {
            let params = json!({ "mode": "url", "message": visit["message"], "url": visit["url"] });
            if let Some(needed) =
                open.meta.capabilities.lacks("elicitation/create", &params.to_string())
            {
                let message = "the server wants an address to be opened, and the client did not \
                               declare that it does so";
                let attached = json!({ "requiredCapabilities": needed });
                return ShownOutcome::Denied(
                    Denial::new(DenialKind::MissingCapability, message).with(attached),
                );
            }
            let request = json!({ "method": "elicitation/create", "params": params });
            requests.insert((place + 1).to_string(), request);
        }
        let body = json!({ "inputRequests": requests }).to_string();
        let until = turn.now.unix_seconds.saturating_add(STATE_SECONDS);
        let sealed = self.sealed(open, &CarriedState::Anew, until);
        ShownOutcome::Result(asking(&body, &sealed, None, identity))
    }

    pub(super) fn sealed(&self, open: &OpenCall, state: &CarriedState, until: u64) -> String {
        seal(&self.facts.key, state, until, &open.binding)
    }
}

/// A result that asks for input.
pub(super) fn asking(body: &str, sealed: &str, meta: Option<&str>, identity: &str) -> String {
    let meta = stamped(meta, &[("io.modelcontextprotocol/serverInfo", identity)]);
    let sealed = Value::from(sealed).to_string();
    let mut ours = vec![("resultType", "\"input_required\""), ("requestState", sealed.as_str())];
    ours.extend(meta.as_deref().map(|meta| ("_meta", meta)));
    edited(body, |_, _| Edit::Keep, &ours).unwrap_or_else(|| body.to_owned())
}
