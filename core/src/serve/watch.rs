//! What a served client is told unasked: changes of its lists and resources, and the time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use trunkline_pool::bridge::{BridgeInput, ListKinds};
use trunkline_pool::interface::EventKind;
use trunkline_pool::state::Moment;

use super::client::PoolClient;
use crate::{Event, EventMask, Result, Subscription};

/// What changes the lists of a client, or a resource.
const WATCHED: [EventKind; 5] = [
    EventKind::ToolsChanged,
    EventKind::PromptsChanged,
    EventKind::ResourcesChanged,
    EventKind::ResourceUpdated,
    EventKind::ServerReady,
];

/// Lets a client hear what changes, until it is over.
///
/// # Errors
/// `closed`, `forked`.
pub(super) fn watch(client: &Arc<PoolClient>) -> Result<()> {
    let mask = WATCHED.iter().fold(0, |mask, kind| mask | 1 << *kind as u8);
    let events = client.session.subscribe(EventMask(mask))?;
    client.driver.spawn(attend(client.clone(), events));
    Ok(())
}

async fn attend(client: Arc<PoolClient>, events: Subscription) {
    loop {
        let mut changed = std::pin::pin!(client.changed.notified());
        changed.as_mut().enable();
        if client.is_over() {
            return;
        }
        let deadline = client.next_deadline();
        tokio::select! {
            event = events.next() => match event {
                Some(event) => tell(&client, event, &events),
                // The session was closed: by its pool, if not by its client.
                None => return client.end(),
            },
            () = until(&client, deadline) => client.input(BridgeInput::Tick),
            () = changed => {}
        }
    }
}

/// Waits for a moment of the pool's clock.
async fn until(client: &PoolClient, deadline: Option<Moment>) {
    match deadline {
        Some(deadline) => {
            let left = deadline.0.saturating_sub(client.driver.now().0);
            tokio::time::sleep(Duration::from_nanos(left)).await;
        }
        None => std::future::pending().await,
    }
}

/// Tells everything that happened until now, each list once.
fn tell(client: &PoolClient, first: Event, events: &Subscription) {
    let mut kinds = ListKinds::default();
    let mut next = Some(first);
    while let Some(event) = next {
        match event.kind() {
            EventKind::ToolsChanged => kinds.tools = true,
            EventKind::PromptsChanged => kinds.prompts = true,
            EventKind::ResourcesChanged => kinds.resources = true,
            EventKind::ResourceUpdated => updated(client, event.json()),
            // A server came, or some of what happened is not known.
            _ => kinds = ListKinds { tools: true, prompts: true, resources: true },
        }
        next = events.try_next();
    }
    if kinds != ListKinds::default() {
        client.input(BridgeInput::ListsChanged { kinds });
    }
}

fn updated(client: &PoolClient, event: &str) {
    let Ok(event) = serde_json::from_str::<Map<String, Value>>(event) else { return };
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    if let (Some(server), Some(uri)) = (text("server"), text("uri")) {
        client.input(BridgeInput::ResourceUpdated { server, uri });
    }
}
