//! Threads that use, release and free the handles of one table.

use std::sync::Arc;

use shuttle::thread;

use super::{Kind, Table};
use crate::schedules::check;

fn table() -> Arc<Table<Arc<str>>> {
    Arc::new(Table::new(Kind::Lease, 1, Vec::new()))
}

/// S-46: a handle stands for its own object or for none, no matter who takes its place meanwhile,
/// and each object is given back once.
#[test]
fn a_handle_never_stands_for_another_object() {
    check(|| {
        let table = table();
        let ours: Arc<str> = "ours".into();
        let handle = table.insert(ours.clone()).unwrap();
        let (releasing, finding, freeing) = (table.clone(), table.clone(), table.clone());
        let released = thread::spawn(move || {
            let released = releasing.remove(handle);
            assert_eq!(releasing.remove(handle), None);
            assert!(releasing.find(handle).is_err(), "found after its release");
            let next = releasing.insert("another's".into());
            (released.into_iter().count(), next.ok())
        });
        let found = thread::spawn(move || {
            if let Ok(object) = finding.find(handle) {
                assert_eq!(&*object, "ours");
            }
            finding
                .remove(handle)
                .into_iter()
                .inspect(|object| assert_eq!(&**object, "ours"))
                .count()
        });
        let cleared = thread::spawn(move || {
            let all = freeing.clear();
            all.into_iter().filter(|object| &**object == "ours").count()
        });
        let (released, next) = released.join().unwrap();
        assert_ne!(next, Some(handle));
        assert_eq!(released + found.join().unwrap() + cleared.join().unwrap(), 1);
        assert_eq!(Arc::strong_count(&ours), 1);
    });
}

/// An operation that ends while its handle is being released, and its pool freed: its object is in
/// the table or comes back.
#[test]
fn what_is_filled_late_comes_back() {
    check(|| {
        let table = table();
        let object: Arc<str> = "operation".into();
        let handle = table.reserve().unwrap();
        let (releasing, freeing) = (table.clone(), table.clone());
        let released = thread::spawn(move || releasing.remove(handle).into_iter().count());
        let cleared = thread::spawn(move || freeing.clear().len());
        let back = table.fill(handle, object.clone()).into_iter().count();
        assert_eq!(back + released.join().unwrap() + cleared.join().unwrap(), 1);
        assert_eq!(Arc::strong_count(&object), 1);
    });
}

/// SPEC 5.5: an operation that is cancelled while it is put in is cancelled by one of the two.
#[test]
fn what_is_revoked_while_it_is_filled_is_given_out_once() {
    check(|| {
        let table = table();
        let handle = table.reserve().unwrap();
        let revoking = table.clone();
        let revoked = thread::spawn(move || revoking.revoke(handle).unwrap());
        let back = table.fill(handle, "operation".into()).into_iter().count();
        assert_eq!(back + revoked.join().unwrap().into_iter().count(), 1);
    });
}
