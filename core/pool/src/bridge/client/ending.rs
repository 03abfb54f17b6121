//! Ends: of a request, a stream, a client and the endpoint.

use super::records::call::OpenRequest;
use super::records::input_step::InputStep;
use super::records::subscription::Holder;
use super::served_client::ClientStage;
use super::served_client::ServedClient;
use crate::bridge::action::Action;
use crate::bridge::ids::{CallId, StreamId};

impl ServedClient {
    /// A client gives up a request.
    pub(super) fn cancel_request(&mut self, turn: &mut InputStep<'_>, asker: &OpenRequest) {
        if self.drop_listen(turn, asker) {
            return self.leave_unanswered(turn, asker.stream);
        }
        if let Some(call) = self.requests.get(&self.request_key(asker)).copied() {
            self.cancel_call(turn, call);
        }
    }

    /// Cancels a call: its questions are given up, and its client is answered nothing.
    fn cancel_call(&mut self, turn: &mut InputStep<'_>, call: CallId) {
        let Some(open) = self.calls.remove(&call) else { return };
        self.withdraw_questions(turn, call, &open);
        if let Some(handle) = &open.handle {
            self.parked.remove(handle);
        }
        turn.push(Action::Cancel { call });
        if let Some(asker) = &open.asker {
            self.requests.remove(&self.request_key(asker));
            self.leave_unanswered(turn, asker.stream);
        }
    }

    /// A stream is gone. Over HTTP a legacy client may come back for what was not sent.
    pub(super) fn take_stream_closed(&mut self, turn: &mut InputStep<'_>, stream: StreamId) {
        if self.open_stream == Some(stream) {
            self.open_stream = None;
        }
        if self.is_http() && !self.is_modern() {
            return;
        }
        // Nothing can be sent on it any more.
        self.posts.remove(&stream);
        let is_of_stream = |asker: &&OpenRequest| asker.stream == stream;
        let listens: Vec<OpenRequest> = self.listens.keys().filter(is_of_stream).cloned().collect();
        for asker in listens {
            self.drop_listen(turn, &asker);
        }
        let calls: Vec<CallId> = self
            .calls
            .iter()
            .filter(|(_, open)| open.asker.as_ref().is_some_and(|asker| asker.stream == stream))
            .map(|(call, _)| *call)
            .collect();
        let before = turn.actions.len();
        for call in calls {
            self.cancel_call(turn, call);
        }
        let is_sent =
            |action: &Action| matches!(action, Action::Send { stream: to, .. } if *to == stream);
        let behind = turn.actions.split_off(before);
        turn.actions.extend(behind.into_iter().filter(|action| !is_sent(action)));
    }

    pub(super) fn take_tick(&mut self, turn: &mut InputStep<'_>) {
        let now = turn.now.moment;
        self.give_up_parked(turn, |until| until <= now);
        let idle_at = self.last_heard.after(self.facts.limits.idle);
        if self.is_idle() && idle_at <= now {
            self.close(turn);
        }
    }

    /// Whether nothing is open for this client.
    pub(super) fn is_idle(&self) -> bool {
        self.stage == ClientStage::Open
            && self.open_stream.is_none()
            && self.posts.is_empty()
            && self.calls.is_empty()
            && self.parked.is_empty()
            && self.listens.is_empty()
    }

    /// The endpoint ends: what is open is answered, and nothing new is taken.
    pub(super) fn drain(&mut self, turn: &mut InputStep<'_>) {
        if self.stage != ClientStage::Open {
            return;
        }
        self.stage = ClientStage::Draining;
        self.end_listens(turn);
        // No client can come back for them.
        self.give_up_parked(turn, |_| true);
    }

    pub(super) fn end_if_drained(&mut self, turn: &mut InputStep<'_>) {
        let is_answered = self.calls.is_empty()
            && self.posts.is_empty()
            && self.subscriptions.values().all(|subscription| subscription.pending.is_none());
        if self.stage == ClientStage::Draining && is_answered {
            self.close(turn);
        }
    }

    /// The client is over: everything of it is cancelled.
    pub(super) fn close(&mut self, turn: &mut InputStep<'_>) {
        if self.stage == ClientStage::Closed {
            return;
        }
        self.stage = ClientStage::Closed;
        let calls: Vec<CallId> = self.calls.keys().copied().collect();
        for call in calls {
            self.cancel_call(turn, call);
        }
        self.parked.clear();
        let listens: Vec<OpenRequest> = self.listens.keys().cloned().collect();
        for asker in listens {
            self.drop_listen(turn, &asker);
            self.leave_unanswered(turn, asker.stream);
        }
        let resources: Vec<_> = self.subscriptions.keys().cloned().collect();
        for resource in resources {
            self.release(turn, &resource, &Holder::Session);
        }
        let streams: Vec<StreamId> = std::mem::take(&mut self.posts).into_keys().collect();
        let open = self.open_stream.take().filter(|_| self.is_http());
        for stream in streams.into_iter().chain(open) {
            turn.push(Action::End { stream });
        }
        turn.push(Action::Close);
    }
}
