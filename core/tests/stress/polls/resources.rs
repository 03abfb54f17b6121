//! Subscriptions of resources.

use super::*;
use rig::{acquire, until};

/// SPEC 7.7, I-04: a subscription that did not come about is taken back, and one that ends has
/// ended.
#[test]
fn a_resource_subscription_may_be_dropped_at_every_poll() {
    rig::alone!();
    let (rig, base) = one_server(&[]);
    let lease = host(acquire(&rig.session("a"), "s"));
    let uri = "test://item/1";
    let count = |method| host(text(&lease, "seen", json!({ "method": method })));
    let all_ended = || count("resources/subscribe") == count("resources/unsubscribe");
    at_every_poll("Lease::subscribe_resource", |cut| {
        let done = host(cut.of(lease.subscribe_resource(uri)));
        if done.is_some() {
            host(lease.unsubscribe_resource(uri)).unwrap();
        }
        until(all_ended);
        done.map(Result::unwrap)
    });
    at_every_poll("Lease::unsubscribe_resource", |cut| {
        host(lease.subscribe_resource(uri)).unwrap();
        let done = host(cut.of(lease.unsubscribe_resource(uri)));
        // A future that is never polled has asked for nothing.
        if cut.polls == 0 {
            host(lease.unsubscribe_resource(uri)).unwrap();
        }
        until(all_ended);
        let touched = host(text(&lease, "touch_resource", json!({ "uri": uri })));
        assert_eq!(touched, "not subscribed");
        done.map(Result::unwrap)
    });
    drop(lease);
    base.returns(&rig);
}
