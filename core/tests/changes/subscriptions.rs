//! Subscriptions to resources on a shared connection.

use serde_json::{Value, json};
use trunkline::interface::EventKind;
use trunkline::{EventMask, Lease, Session, Subscription};

use crate::rig::{Rig, acquire, text};
use crate::{crash, host, rig, seen, until};

const ONE: &str = "test://one";
const TWO: &str = "test://two";

/// A session, its hold, and its stream of updates and returns.
struct Subscriber {
    session: Session,
    lease: Lease,
    events: Subscription,
}

impl Subscriber {
    async fn new(rig: &Rig, id: &str) -> Subscriber {
        let session = rig.session(id);
        let lease = acquire(&session, "s").await;
        let kinds = EventKind::ResourceUpdated.bit() | EventKind::Reconnected.bit();
        let events = session.subscribe(EventMask(kinds)).unwrap();
        Subscriber { session, lease, events }
    }

    /// What it was told since it was asked last: the URIs, and `reconnected`.
    fn told(&self) -> Vec<String> {
        let told = std::iter::from_fn(|| self.events.try_next());
        let word = |event: trunkline::Event| {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            let uri = event.get("uri").unwrap_or(&event["type"]);
            uri.as_str().unwrap().to_owned()
        };
        told.map(word).collect()
    }
}

/// Touches a resource; what the server announced has been told when this returns.
async fn touch(lease: &Lease, uri: &str) -> bool {
    let answer = text(lease, "touch_resource", json!({ "uri": uri })).await;
    text(lease, "echo", json!({ "message": "after it" })).await;
    answer == "announced"
}

/// SPEC 7.7: of two sessions and two resources the server hears of each once, also after a reconnect; each session hears of its own;
/// what nobody wants any more is not renewed.
#[test]
fn the_wire_sees_each_resource_once_and_again_after_a_reconnect() {
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (a, b) = (Subscriber::new(&rig, "a").await, Subscriber::new(&rig, "b").await);
        let c = Subscriber::new(&rig, "c").await;
        for (lease, uri) in [(&a.lease, ONE), (&a.lease, TWO), (&b.lease, ONE), (&b.lease, ONE)] {
            lease.subscribe_resource(uri).await.unwrap();
        }
        assert_eq!(seen(&c.lease, "resources/subscribe").await, 2);
        assert!(touch(&c.lease, ONE).await && touch(&c.lease, TWO).await);
        assert_eq!(a.told(), [ONE, TWO]);
        assert_eq!(b.told(), [ONE]);
        assert_eq!(c.told(), [""; 0]);

        crash(&c.lease).await;
        until(async || c.lease.generation() == 2 && c.told() == ["reconnected"]).await;
        until(async || seen(&c.lease, "resources/subscribe").await == 2).await;
        assert!(touch(&c.lease, ONE).await && touch(&c.lease, TWO).await);
        assert_eq!(a.told(), ["reconnected", ONE, TWO]);
        assert_eq!(b.told(), ["reconnected", ONE]);
        assert_eq!(seen(&c.lease, "resources/subscribe").await, 2);

        a.lease.unsubscribe_resource(ONE).await.unwrap();
        assert_eq!(seen(&c.lease, "resources/unsubscribe").await, 0);
        // The close of a session is the end of its subscriptions.
        b.session.close(None);
        until(async || seen(&c.lease, "resources/unsubscribe").await == 1).await;
        assert!(!touch(&c.lease, ONE).await && touch(&c.lease, TWO).await);
        assert_eq!(a.told(), [TWO]);

        crash(&c.lease).await;
        until(async || c.told() == ["reconnected"]).await;
        until(async || seen(&c.lease, "resources/subscribe").await == 1).await;
        assert!(!touch(&c.lease, ONE).await && touch(&c.lease, TWO).await);
    });
}
