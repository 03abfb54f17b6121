//! Requests that go to a server: which one, with which params, and what the client carries for
//! them.

use serde_json::json;

use super::answers::full;
use super::records::call::OpenCall;
use super::records::input_step::InputStep;
use super::records::outcome::RouteEnd;
use super::records::outcome::ShownOutcome;
use super::requests::ClientRequest;
use super::served_client::ServedClient;
use crate::bridge::action::{Action, CallNeeds};
use crate::bridge::methods::{MethodRow, Route};
use crate::bridge::presentation::names::{Target, located, named};
use crate::bridge::presentation::schemas::wrapped;
use crate::bridge::seal::{CarriedState, SealFault, digest, unseal};
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::edit::{Edit, edited, put, stamped};
use crate::bridge::wire::frames::text;
use crate::bridge::wire::param_headers;
use crate::bridge::wire::reading::Params;
use crate::catalog::ListKind;
use crate::config::Era;
use crate::json::{canonical, readable};

/// The members with which a modern client answers what it was asked for.
const STATE: &str = "requestState";
const RESPONSES: &str = "inputResponses";

/// Where a request goes.
struct Destination {
    target: Target,
    era: Era,
    /// The name or URI that the client gave.
    shown: String,
    /// The member of the params that names it, and its value for the server.
    naming: (&'static str, String),
}

impl ServedClient {
    pub(super) fn forward(
        &mut self,
        turn: &mut InputStep<'_>,
        row: &'static MethodRow,
        request: ClientRequest<'_>,
    ) -> Result<RouteEnd, Denial> {
        let destination = self.destination(turn, row, &request.params)?;
        let Destination { target, era, .. } = &destination;
        if row.route == Route::ByReference && !completes(turn, &target.server) {
            let nothing = json!({ "completion": { "values": [], "total": 0, "hasMore": false } });
            let result = self.own_result(turn, nothing.to_string());
            return Ok(RouteEnd::Answered(ShownOutcome::Result(result)));
        }
        let tool = (row.route == Route::ByName(ListKind::Tools))
            .then(|| turn.offers.item(&target.server, ListKind::Tools, &target.own))
            .flatten();
        if let (Some(tool), Some(headers), true) = (tool, request.headers, self.is_modern()) {
            param_headers::check(headers, tool.definition, request.params.get("arguments"))?;
        }
        let binding = self.binding(row, target, &request.params);
        let mut carried = Vec::new();
        if self.is_modern() && row.takes_input() {
            match self.carried(turn, &request.params, &binding)? {
                Some(CarriedState::Parked(handle)) => {
                    return self.resume(turn, &handle, request);
                }
                Some(CarriedState::Anew) => {}
                Some(CarriedState::OfServer(state)) => {
                    carried.extend(responses(&request.params)?);
                    carried.extend(state.map(|state| (STATE, text(&state))));
                }
                None => carried.extend(responses(&request.params)?),
            }
        }
        if *era == Era::Legacy {
            carried.clear();
        }
        let max = self.facts.limits.calls;
        if self.calls.len() >= max {
            return Err(full("calls", max));
        }
        let wraps_content = !self.is_modern()
            && *era == Era::Modern
            && tool.is_some_and(|tool| wrapped(tool.definition).is_some());
        let params = self.forwarded(&request.params, &destination.naming, &carried);
        self.begin(turn, row, (destination, params), request, (binding, wraps_content));
        Ok(RouteEnd::Later)
    }

    fn begin(
        &mut self,
        turn: &mut InputStep<'_>,
        row: &'static MethodRow,
        (destination, params): (Destination, String),
        request: ClientRequest<'_>,
        (binding, wraps_content): ([u8; 32], bool),
    ) {
        let call = self.new_call();
        let Destination { target, era, shown, .. } = destination;
        let meta = request.meta;
        let relays_input = self.is_modern() && era == Era::Modern && row.takes_input();
        let needs = CallNeeds {
            progress: meta.progress_token.is_some(),
            log_level: if self.is_modern() { meta.log_level } else { self.log_level },
            capabilities: relays_input.then(|| meta.capabilities.to_json(false)),
            relays_input,
        };
        self.requests.insert(self.request_key(&request.asker), call);
        let open = OpenCall {
            asker: Some(request.asker),
            server: target.server.clone(),
            server_era: era,
            method: row,
            shown,
            meta,
            wraps_content,
            binding,
            handle: None,
            queued: Vec::new(),
            visits: Vec::new(),
        };
        self.calls.insert(call, open);
        let (server, method) = (target.server, row.name.to_owned());
        turn.push(Action::Call { call, server, method, params, needs });
    }

    fn destination(
        &self,
        turn: &InputStep<'_>,
        row: &MethodRow,
        params: &Params<'_>,
    ) -> Result<Destination, Denial> {
        let (path, offers) = (&self.facts.path, turn.offers);
        let (target, shown, naming) = match row.route {
            Route::ByName(kind) => {
                let name = params.text("name")?;
                let target = named(path, offers, kind, &name)?;
                let naming = ("name", text(&target.own));
                (target, name, naming)
            }
            Route::ByReference => {
                let reference = params.get("ref").unwrap_or("null");
                let (target, shown) = self.referred(turn, reference)?;
                let own = text(&target.own);
                let edit = |name: &str, _: &str| match name {
                    "name" | "uri" => Edit::Put(own.clone()),
                    _ => Edit::Keep,
                };
                let naming = ("ref", edited(reference, edit, &[]).unwrap_or_default());
                (target, shown, naming)
            }
            _ => {
                let uri = params.text("uri")?;
                let target = located(path, offers, &uri)?;
                let naming = ("uri", text(&target.own));
                (target, uri, naming)
            }
        };
        let era = offers.server(&target.server).map(|server| server.era);
        let message = "no server of that name is served here";
        let era = era.ok_or_else(|| Denial::new(DenialKind::Upstream, message))?;
        Ok(Destination { target, era, shown, naming })
    }

    /// What the `ref` of a completion leads to.
    fn referred(&self, turn: &InputStep<'_>, reference: &str) -> Result<(Target, String), Denial> {
        let read = readable(reference).unwrap_or_default();
        let (path, offers) = (&self.facts.path, turn.offers);
        let wrong = |denial: Denial| Denial { kind: DenialKind::BadParams, ..denial };
        match (read["type"].as_str(), read["name"].as_str(), read["uri"].as_str()) {
            (Some("ref/prompt"), Some(name), _) => {
                named(path, offers, ListKind::Prompts, name).map(|target| (target, name.to_owned()))
            }
            (Some("ref/resource"), _, Some(uri)) => {
                let target = located(path, offers, uri).map_err(wrong)?;
                Ok((target, uri.to_owned()))
            }
            _ => {
                let message = "`params.ref` names no prompt and no resource";
                Err(Denial::new(DenialKind::BadParams, message))
            }
        }
    }

    /// The params for the server: its own name, no member of this leg, and what is carried.
    fn forwarded(
        &self,
        params: &Params<'_>,
        naming: &(&'static str, String),
        carried: &[(&str, String)],
    ) -> String {
        let dropped: &[&str] = if self.is_modern() { &[STATE, RESPONSES] } else { &[] };
        let members: Vec<String> = params
            .without(dropped)
            .filter_map(|(name, value)| match name {
                "_meta" => stamped(Some(value), &[]).map(|meta| (name, meta)),
                _ if name == naming.0 => Some((name, naming.1.clone())),
                _ => Some((name, value.to_owned())),
            })
            .chain(carried.iter().map(|(name, value)| (*name, value.clone())))
            .map(|(name, value)| format!("{}:{value}", text(name)))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// What a state of this request is bound to: who asks which server what.
    fn binding(&self, row: &MethodRow, target: &Target, params: &Params<'_>) -> [u8; 32] {
        let path = self.facts.path.to_string();
        let mut parts: Vec<&[u8]> = vec![
            path.as_bytes(),
            self.facts.principal.as_bytes(),
            target.server.as_bytes(),
            row.name.as_bytes(),
            target.own.as_bytes(),
        ];
        // The client writes its params again, in whatever form.
        let written = |value: &str| canonical(value).unwrap_or_else(|_| value.to_owned());
        let mut members: Vec<(&str, String)> = params
            .without(&["_meta", STATE, RESPONSES])
            .map(|(name, value)| (name, written(value)))
            .collect();
        members.sort();
        for (name, value) in &members {
            parts.extend([name.as_bytes(), value.as_bytes()]);
        }
        digest(&parts)
    }

    /// The state that a modern client brings back.
    fn carried(
        &self,
        turn: &InputStep<'_>,
        params: &Params<'_>,
        binding: &[u8; 32],
    ) -> Result<Option<CarriedState>, Denial> {
        let Some(sealed) = params.optional_text(STATE)? else { return Ok(None) };
        let opened = unseal(&self.facts.key, &sealed, turn.now.unix_seconds, binding);
        opened.map(Some).map_err(|fault| match fault {
            SealFault::Forged => {
                let message = "`params.requestState` was not made here for this request";
                Denial::new(DenialKind::BadParams, message)
            }
            SealFault::Expired => expired(),
        })
    }
}

/// The state of a request is over.
pub(super) fn expired() -> Denial {
    let message = "`params.requestState` has expired: send the request anew, without it";
    Denial::new(DenialKind::BadParams, message)
}

/// What the client answers, checked to be an object.
pub(super) fn responses(params: &Params<'_>) -> Result<Option<(&'static str, String)>, Denial> {
    let Some(responses) = params.get(RESPONSES) else { return Ok(None) };
    match put(edited(responses, |_, _| Edit::Keep, &[])) {
        Edit::Put(_) => Ok(Some((RESPONSES, responses.to_owned()))),
        _ => {
            let message = "`params.inputResponses` is not an object";
            Err(Denial::new(DenialKind::BadParams, message))
        }
    }
}

/// Whether a server completes anything.
fn completes(turn: &InputStep<'_>, server: &str) -> bool {
    let said = turn.offers.server(server).and_then(|server| server.introduction);
    said.is_none_or(|said| {
        readable(said.capabilities).is_some_and(|read| !read["completions"].is_null())
    })
}
