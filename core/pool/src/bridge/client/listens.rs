//! What modern clients listen to: first what is granted, then what happens, each message with the
//! id of its listen.

use serde_json::{Map, Value, json};

use super::answers::full;
use super::records::call::OpenRequest;
use super::records::input_step::InputStep;
use super::records::listen::Listen;
use super::records::outcome::RouteEnd;
use super::records::outcome::ShownOutcome;
use super::records::subscription::Holder;
use super::records::subscription::ResourceKey;
use super::requests::ClientRequest;
use super::served_client::ServedClient;
use crate::bridge::input::ListKinds;
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::frames;
use crate::json::readable;

/// The lists: the member of the filter, the capability, and the notification.
const LISTS: [(&str, &str, &str); 3] = [
    ("toolsListChanged", "tools", "notifications/tools/list_changed"),
    ("promptsListChanged", "prompts", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "resources", "notifications/resources/list_changed"),
];

/// The notifications that these lists changed.
pub(super) fn changes(kinds: ListKinds) -> impl Iterator<Item = &'static str> {
    let flags = [kinds.tools, kinds.prompts, kinds.resources];
    let changed = LISTS.iter().zip(flags).filter(|(_, is_changed)| *is_changed);
    changed.map(|((.., method), _)| *method)
}

impl ListKinds {
    pub(super) fn and(self, other: ListKinds) -> ListKinds {
        ListKinds {
            tools: self.tools && other.tools,
            prompts: self.prompts && other.prompts,
            resources: self.resources && other.resources,
        }
    }

    pub(super) fn or(self, other: ListKinds) -> ListKinds {
        ListKinds {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }
}

impl ServedClient {
    pub(super) fn listen(
        &mut self,
        turn: &mut InputStep<'_>,
        request: &ClientRequest<'_>,
    ) -> Result<RouteEnd, Denial> {
        let max = self.facts.limits.listens;
        if self.listens.len() >= max {
            return Err(full("listens", max));
        }
        let filter = request.params.get("notifications").and_then(readable);
        let filter = filter.filter(Value::is_object).ok_or_else(|| {
            Denial::new(DenialKind::BadParams, "`params.notifications` is not an object")
        })?;
        if filter["taskIds"].is_array() {
            let needed = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
            let message = "`params.notifications.taskIds` needs tasks, which are not served here";
            return Err(Denial::new(DenialKind::MissingCapability, message)
                .with(json!({ "requiredCapabilities": needed })));
        }
        let introducing = self.introducing(turn.offers);
        let [tools, prompts, resources] = LISTS
            .map(|(member, capability, _)| filter[member] == true && introducing.has(capability));
        let lists = ListKinds { tools, prompts, resources };
        let uris = filter["resourceSubscriptions"].as_array().into_iter().flatten();
        let uris: Vec<String> = uris.filter_map(|uri| Some(uri.as_str()?.to_owned())).collect();
        let asker = request.asker.clone();
        self.listens.insert(asker.clone(), Listen { lists, ..Listen::default() });
        for uri in uris {
            // One that is unknown, or too many, is left out of what is granted.
            let Ok(resource) = self.resource(turn, &uri) else { continue };
            let held = self.hold(turn, &resource, Holder::Listen(asker.clone()), &uri);
            let Ok(is_active) = held else { continue };
            if let Some(listen) = self.listens.get_mut(&asker) {
                listen.resources.insert(resource, (uri, is_active.then_some(true)));
            }
        }
        self.acknowledge(turn, &asker);
        Ok(RouteEnd::Later)
    }

    /// A server granted or refused a resource of a listen.
    pub(super) fn listen_answered(
        &mut self,
        turn: &mut InputStep<'_>,
        asker: &OpenRequest,
        resource: &ResourceKey,
        is_granted: bool,
    ) {
        let Some(listen) = self.listens.get_mut(asker) else { return };
        if let Some((_, granted)) = listen.resources.get_mut(resource) {
            *granted = Some(is_granted);
        }
        self.acknowledge(turn, asker);
    }

    /// Says what is granted, once every server has answered.
    fn acknowledge(&mut self, turn: &mut InputStep<'_>, asker: &OpenRequest) {
        let Some(listen) = self.listens.get_mut(asker) else { return };
        let is_open = listen.resources.values().any(|(_, granted)| granted.is_none());
        if is_open || listen.is_acknowledged {
            return;
        }
        listen.is_acknowledged = true;
        listen.resources.retain(|_, (_, granted)| *granted == Some(true));
        let flags = [listen.lists.tools, listen.lists.prompts, listen.lists.resources];
        let mut granted: Map<String, Value> = LISTS
            .iter()
            .zip(flags)
            .filter(|(_, is_granted)| *is_granted)
            .map(|((member, ..), _)| ((*member).to_owned(), Value::from(true)))
            .collect();
        if !listen.resources.is_empty() {
            let uris: Vec<&String> = listen.resources.values().map(|(uri, _)| uri).collect();
            granted.insert("resourceSubscriptions".to_owned(), json!(uris));
        }
        let missed = std::mem::take(&mut listen.missed);
        let params = asker.tagged(&format!(r#""notifications":{}"#, Value::Object(granted)));
        let method = "notifications/subscriptions/acknowledged";
        turn.send(asker.stream, frames::notification(method, &params), false);
        for method in changes(missed) {
            turn.send(asker.stream, frames::notification(method, &asker.tagged("")), false);
        }
    }

    /// Lists changed: each listen that asked for them is told.
    pub(super) fn tell_listens(&mut self, turn: &mut InputStep<'_>, kinds: ListKinds) {
        for (asker, listen) in &mut self.listens {
            let kinds = kinds.and(listen.lists);
            if !listen.is_acknowledged {
                listen.missed = listen.missed.or(kinds);
                continue;
            }
            for method in changes(kinds) {
                turn.send(asker.stream, frames::notification(method, &asker.tagged("")), false);
            }
        }
    }

    /// Ends a listen that its client gave up: nothing more is sent for it.
    pub(super) fn drop_listen(&mut self, turn: &mut InputStep<'_>, asker: &OpenRequest) -> bool {
        let Some(listen) = self.listens.remove(asker) else { return false };
        let holder = Holder::Listen(asker.clone());
        for resource in listen.resources.keys() {
            self.release(turn, resource, &holder);
        }
        true
    }

    /// Ends every listen with its result, as the endpoint ends.
    pub(super) fn end_listens(&mut self, turn: &mut InputStep<'_>) {
        let askers: Vec<OpenRequest> = self.listens.keys().cloned().collect();
        for asker in askers {
            self.drop_listen(turn, &asker);
            if !self.is_http() {
                let params = format!(r#"{{"requestId":{}}}"#, asker.id);
                let frame = frames::notification("notifications/cancelled", &params);
                turn.send(asker.stream, frame, false);
            }
            let id = &asker.id;
            let body = format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#);
            let result = self.listen_result(turn, &body);
            self.answer(turn, &asker, ShownOutcome::Result(result));
        }
    }

    /// The result of a listen: the one result whose id of the listen stays.
    fn listen_result(&self, turn: &InputStep<'_>, body: &str) -> String {
        let identity = self.introducing(turn.offers).identity();
        let meta = body.strip_suffix("}}").unwrap_or(body);
        format!(
            r#"{meta},"io.modelcontextprotocol/serverInfo":{identity}}},"resultType":"complete"}}"#
        )
    }
}
