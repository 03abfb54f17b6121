//! Subscriptions to resources: one to a server, however many of a client want it.

use std::collections::BTreeMap;

use serde_json::json;

use super::answers::full;
use super::records::input_step::InputStep;
use super::records::outcome::RouteEnd;
use super::records::outcome::ShownOutcome;
use super::records::subscription::Holder;
use super::records::subscription::ResourceKey;
use super::records::subscription::Subscription;
use super::requests::ClientRequest;
use super::served_client::ServedClient;
use crate::bridge::action::Action;
use crate::bridge::presentation::errors::of_pool;
use crate::bridge::presentation::names::{Target, located};
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::frames;
use crate::bridge::wire::reading::Params;
use crate::error::Error;

impl ServedClient {
    pub(super) fn subscribe(
        &mut self,
        turn: &mut InputStep<'_>,
        request: &ClientRequest<'_>,
    ) -> Result<RouteEnd, Denial> {
        let uri = request.params.text("uri")?;
        let resource = self.resource(turn, &uri)?;
        let is_active = self.hold(turn, &resource, Holder::Session, &uri)?;
        if is_active {
            return Ok(RouteEnd::Answered(ShownOutcome::Result("{}".to_owned())));
        }
        if let Some(subscription) = self.subscriptions.get_mut(&resource) {
            subscription.waiting.push(request.asker.clone());
        }
        Ok(RouteEnd::Later)
    }

    pub(super) fn unsubscribe(
        &mut self,
        turn: &mut InputStep<'_>,
        params: &Params<'_>,
    ) -> Result<(), Denial> {
        let resource = self.resource(turn, &params.text("uri")?)?;
        self.release(turn, &resource, &Holder::Session);
        Ok(())
    }

    pub(super) fn resource(&self, turn: &InputStep<'_>, uri: &str) -> Result<ResourceKey, Denial> {
        let Target { server, own } = located(&self.facts.path, turn.offers, uri)?;
        Ok((server, own))
    }

    /// Wants a resource; whether its server has answered already.
    pub(super) fn hold(
        &mut self,
        turn: &mut InputStep<'_>,
        resource: &ResourceKey,
        holder: Holder,
        shown: &str,
    ) -> Result<bool, Denial> {
        if let Some(subscription) = self.subscriptions.get_mut(resource) {
            subscription.holders.insert(holder, shown.to_owned());
            return Ok(subscription.pending.is_none());
        }
        let max = self.facts.limits.subscriptions;
        if self.subscriptions.len() >= max {
            return Err(full("subscriptions", max));
        }
        let call = self.new_call();
        let holders = BTreeMap::from([(holder, shown.to_owned())]);
        let subscription = Subscription { holders, pending: Some(call), waiting: Vec::new() };
        self.subscriptions.insert(resource.clone(), subscription);
        self.subscribing.insert(call, resource.clone());
        let (server, uri) = resource.clone();
        turn.push(Action::Subscribe { call, server, uri });
        Ok(false)
    }

    /// Wants a resource no more; behind the last one the subscription ends.
    pub(super) fn release(
        &mut self,
        turn: &mut InputStep<'_>,
        resource: &ResourceKey,
        holder: &Holder,
    ) {
        let Some(subscription) = self.subscriptions.get_mut(resource) else { return };
        subscription.holders.remove(holder);
        if !subscription.holders.is_empty() {
            return;
        }
        let Some(ended) = self.subscriptions.remove(resource) else { return };
        match ended.pending {
            Some(call) => {
                self.subscribing.remove(&call);
                turn.push(Action::Cancel { call });
            }
            None => {
                let (server, uri) = resource.clone();
                turn.push(Action::Unsubscribe { server, uri });
            }
        }
        for asker in ended.waiting {
            let message = "the subscription was ended before its server answered";
            let denial = Denial::new(DenialKind::Upstream, message);
            self.answer(turn, &asker, ShownOutcome::Denied(denial));
        }
    }

    /// A server answered a subscription.
    pub(super) fn take_subscribed(
        &mut self,
        turn: &mut InputStep<'_>,
        resource: ResourceKey,
        result: Result<&str, &Error>,
    ) {
        let Some(subscription) = self.subscriptions.get_mut(&resource) else { return };
        subscription.pending = None;
        let waiting = std::mem::take(&mut subscription.waiting);
        let holders: Vec<Holder> = subscription.holders.keys().cloned().collect();
        let outcome = match result {
            Ok(_) => ShownOutcome::Result("{}".to_owned()),
            Err(error) => {
                self.subscriptions.remove(&resource);
                let denial = of_pool(error, Some(&resource.0));
                ShownOutcome::Denied(Denial { kind: DenialKind::BadParams, ..denial })
            }
        };
        for asker in waiting {
            self.answer(turn, &asker, outcome.clone());
        }
        for holder in holders {
            if let Holder::Listen(listen) = holder {
                self.listen_answered(turn, &listen, &resource, result.is_ok());
            }
        }
    }

    /// A resource was updated: everyone who wanted to be told is, by the URI that each gave.
    pub(super) fn take_updated(&mut self, turn: &mut InputStep<'_>, server: &str, uri: &str) {
        let resource = (server.to_owned(), uri.to_owned());
        let Some(subscription) = self.subscriptions.get(&resource) else { return };
        for (holder, shown) in &subscription.holders {
            let (stream, params) = match holder {
                Holder::Session => (self.open_stream, json!({ "uri": shown }).to_string()),
                Holder::Listen(listen) => {
                    let is_acknowledged =
                        self.listens.get(listen).is_some_and(|open| open.is_acknowledged);
                    let params = listen.tagged(&format!(r#""uri":{}"#, frames::text(shown)));
                    (is_acknowledged.then_some(listen.stream), params)
                }
            };
            if let Some(stream) = stream {
                let frame = frames::notification("notifications/resources/updated", &params);
                turn.send(stream, frame, false);
            }
        }
    }
}
