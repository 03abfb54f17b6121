//! What happens without a request: changed lists, and the stream that a legacy session has for it.

use super::listens::changes;
use super::records::input_step::InputStep;
use super::served_client::ServedClient;
use crate::bridge::action::Action;
use crate::bridge::ids::StreamId;
use crate::bridge::input::ListKinds;
use crate::bridge::wire::frames;

impl ServedClient {
    /// A stream for what happens: it takes the place of an earlier one.
    pub(super) fn take_stream(&mut self, turn: &mut InputStep<'_>, stream: StreamId) {
        let earlier = self.open_stream.replace(stream);
        if let Some(earlier) = earlier.filter(|earlier| *earlier != stream && self.is_http()) {
            turn.push(Action::End { stream: earlier });
        }
        let missed = std::mem::take(&mut self.missed);
        self.take_lists_changed(turn, missed);
    }

    pub(super) fn take_lists_changed(&mut self, turn: &mut InputStep<'_>, kinds: ListKinds) {
        if self.is_modern() {
            return self.tell_listens(turn, kinds);
        }
        // Who is not initialized has seen no list.
        if self.opened.is_none() {
            return;
        }
        match self.open_stream {
            Some(stream) => {
                for method in changes(kinds) {
                    turn.send(stream, frames::notification(method, ""), false);
                }
            }
            None => self.missed = self.missed.or(kinds),
        }
    }
}
