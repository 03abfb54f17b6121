//! The streams of changes that one connection has open, and what each is about.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::list_capabilities::ListCapabilities;

/// What a stream is about.
#[derive(Clone, Debug)]
pub(in crate::client) enum Topic {
    Lists(ListCapabilities),
    Resource(Box<str>),
}

/// How much of what was asked for a server announces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::client) enum AnnouncedShare {
    Nothing,
    /// Some of the lists: the others are looked at by the keep-alive.
    Part,
    Whole,
}

/// What one connection listens to.
#[derive(Default)]
pub(in crate::client) struct Listens {
    /// The open streams, by the ids of their requests.
    streams: Mutex<HashMap<u64, Listening>>,
    /// The tasks that keep the streams of resources open.
    resources: Mutex<HashMap<Box<str>, AbortHandle>>,
}

/// An open stream.
pub(in crate::client) struct Listening {
    pub topic: Topic,
    /// Who waits for the acknowledgement.
    pub waits: Option<oneshot::Sender<Value>>,
}

impl Topic {
    /// The notifications that are asked for.
    pub(in crate::client) fn filter(&self) -> Value {
        match self {
            Topic::Lists(lists) => {
                let kinds = [
                    ("toolsListChanged", lists.tools_change),
                    ("promptsListChanged", lists.prompts_change),
                    ("resourcesListChanged", lists.resources_change),
                ];
                let asked = kinds.into_iter().filter(|(_, changes)| *changes);
                asked.map(|(name, _)| (name.to_owned(), Value::from(true))).collect()
            }
            Topic::Resource(uri) => json!({ "resourceSubscriptions": [uri] }),
        }
    }

    /// How much of it the server granted.
    pub(in crate::client) fn grant(&self, granted: &Value) -> AnnouncedShare {
        match self {
            Topic::Lists(_) => {
                let filter = self.filter();
                let mut asked = filter.as_object().into_iter().flatten();
                let is_granted = |(name, _): (&String, &Value)| granted[name] == true;
                match (asked.clone().any(is_granted), asked.all(is_granted)) {
                    (false, _) => AnnouncedShare::Nothing,
                    (true, false) => AnnouncedShare::Part,
                    (true, true) => AnnouncedShare::Whole,
                }
            }
            Topic::Resource(uri) => {
                let uris = granted["resourceSubscriptions"].as_array();
                match uris.is_some_and(|uris| uris.iter().any(|granted| *granted == **uri)) {
                    true => AnnouncedShare::Whole,
                    false => AnnouncedShare::Nothing,
                }
            }
        }
    }
}

impl Listens {
    pub(in crate::client) fn streams(&self) -> MutexGuard<'_, HashMap<u64, Listening>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::client) fn resources(&self) -> MutexGuard<'_, HashMap<Box<str>, AbortHandle>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
