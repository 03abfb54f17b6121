//! What subscribers of the pool hear of changes, in the order in which these were planned (SPEC
//! 13.2, 16.6).
//!
//! A pass takes its turn under the lock under which it is planned, and ends it once it was carried
//! out, on whatever thread. What it has to tell is told when every turn before it is over: the last
//! news of a name is what was planned last. One at a time tells, without the lock; a thread that
//! comes meanwhile leaves it to that one.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;
use trunkline_pool::interface::EventKind;

use super::Config;
use super::desired::Desired;
use super::event_sequencer::SourceEvent;
use crate::events::EventSubject;

/// The turn of one pass. It is over with its end, whatever becomes of the pass: the turns behind it
/// wait for it.
pub(crate) struct EventTurn {
    config: Arc<Config>,
    number: u64,
    news: VecDeque<SourceEvent>,
}

impl EventTurn {
    /// That of a pass that was just planned, with what became of sources for it.
    pub(crate) fn begin(config: &Arc<Config>, desired: &mut Desired) -> EventTurn {
        let (number, news) = (desired.telling.begin(), std::mem::take(&mut desired.news));
        EventTurn { config: config.clone(), number, news }
    }

    /// The pass was carried out; what it made of servers, if that is news, is told before what
    /// became of sources.
    pub(crate) fn end(mut self, rows: Option<Value>) {
        if let Some(rows) = rows {
            self.news.push_front(SourceEvent::Reconciled(rows));
        }
    }
}

impl Drop for EventTurn {
    fn drop(&mut self) {
        let news = std::mem::take(&mut self.news);
        self.config.desired().telling.end(self.number, news);
        self.config.tell_news();
    }
}

impl Config {
    /// Tells what is to be told; and, once that is all of every turn, what waits for approval
    /// unless that was told last (SPEC 12.5).
    fn tell_news(&self) {
        loop {
            let news = {
                let mut desired = self.desired();
                if desired.telling.tells {
                    return;
                }
                let news = match desired.telling.next() {
                    None if desired.telling.turns.is_empty() => {
                        desired.requests_if_news(&self.root).map(SourceEvent::Requests)
                    }
                    next => next,
                };
                let Some(news) = news else { return };
                desired.telling.tells = true;
                news
            };
            self.tell(news);
            self.desired().telling.tells = false;
        }
    }

    fn tell(&self, news: SourceEvent) {
        let publish = |kind, fields: &[(&str, Value)]| {
            self.driver.hub.publish(kind, None, &EventSubject::default(), fields);
        };
        match news {
            SourceEvent::Reconciled(rows) => publish(EventKind::Reconciled, &[("servers", rows)]),
            SourceEvent::Requests(requests) => {
                publish(EventKind::ApprovalNeeded, &[("requests", requests.into())]);
            }
            SourceEvent::Accepted(source, findings) => {
                let mut fields =
                    vec![("source", source.to_string().into()), ("accepted", true.into())];
                fields.extend((!findings.is_empty()).then(|| ("findings", findings.to_json())));
                publish(EventKind::SourceChanged, &fields);
            }
            SourceEvent::Broken(source, error) => {
                let source = Value::from(source.to_string());
                let mut fields = vec![("source", source.clone())];
                for name in ["path", "line"] {
                    fields.extend(error.detail().get(name).map(|value| (name, value.clone())));
                }
                fields.push(("message", error.message().into()));
                publish(EventKind::SourceError, &fields);
                publish(
                    EventKind::SourceChanged,
                    &[("source", source), ("accepted", false.into())],
                );
            }
        }
    }
}
