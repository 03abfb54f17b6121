//! Servers that the host itself provides to a session.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use trunkline::{Error, ErrorCode, HostConnection, HostServer, Result};

use crate::abi::error::ErrorObject;
use crate::abi::guard::{guard, in_callback};
use crate::abi::raw;
use crate::abi::types::{
    DestroyFn, HostClosedFn, HostConnectionHandle, HostReceiveFn, SessionHandle, Status, Str,
};
use crate::abi::user_data::UserData;
use crate::delivery::handle_registry::{Objects, PoolObject};

/// Provides a server of the host's own to one session: it goes into the session's own source, from
/// where `trunkline_session_acquire` takes it like any other. It is never shared. Providing a name
/// again replaces it for acquires to come. Returns at once.
///
/// Each connection with it has a number of its own and begins the protocol anew: a server that is
/// lost is connected again. What the server says goes to `trunkline_host_send`.
///
/// `receive`: gets the messages of the pool, one JSON-RPC message each. `closed`: may be NULL; told
/// last that a connection is over. Both run on a thread of the connection's own and may block,
/// which delays this server alone; the functions of two connections may run at one time. `destroy`
/// is called on a thread that serves nothing else. Before that the session is over or the name was
/// provided again, every connection is over, and the leases on it are released; on this thread when
/// this fails.
///
/// Errors: `INVALID_CONFIG` for a bad name, `CLOSED`, `BAD_HANDLE`, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_session_provide(
    pool: *mut PoolObject,
    session: SessionHandle,
    server: Str,
    receive: HostReceiveFn,
    closed: HostClosedFn,
    user_data: *mut c_void,
    destroy: DestroyFn,
    err: *mut *mut ErrorObject,
) -> Status {
    let user_data = UserData::new(user_data, destroy);
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let pool = PoolObject::of(pool)?;
            let server = raw::text(server, "server")?;
            if receive.is_none() {
                return Err(raw::invalid("receive", "receive is NULL"));
            }
            let (objects, numbers) = (Arc::downgrade(&pool.objects), Mutex::default());
            let host = Provided { objects, receive, closed, user_data, numbers };
            pool.objects.sessions.find(session)?.provide(server, host)
        })
    }
}

/// Sends a message of a server that the host provides: one JSON-RPC message. Never blocks; may be
/// called from any thread, inside `receive` too.
///
/// Errors: `LIMIT` while too many messages wait to be read, `CLOSED` once the connection is over,
/// `BAD_HANDLE` from its `closed` on, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_host_send(
    pool: *mut PoolObject,
    connection: HostConnectionHandle,
    frame_json: Str,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            let connection = PoolObject::of(pool)?.objects.connections.find(connection)?;
            connection.send(raw::text(frame_json, "frame_json")?)
        })
    }
}

/// Ends a connection from the server's side, as a process does that exits. What was sent before
/// still counts. Repeating it does nothing.
///
/// Errors: `BAD_HANDLE` from its `closed` on, `FORKED`, `INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trunkline_host_close(
    pool: *mut PoolObject,
    connection: HostConnectionHandle,
    err: *mut *mut ErrorObject,
) -> Status {
    // SAFETY: the caller keeps the header's promises about pointers.
    unsafe {
        guard(err, || {
            PoolObject::of(pool)?.objects.connections.find(connection)?.close();
            Ok(())
        })
    }
}

/// The functions of the host that are a server.
struct Provided {
    /// Not kept by it: the pool keeps the server.
    objects: Weak<Objects>,
    receive: HostReceiveFn,
    closed: HostClosedFn,
    user_data: UserData,
    /// The numbers of its connections, by their ids.
    numbers: Mutex<HashMap<u64, u64>>,
}

// SAFETY: the header says that the functions of two connections may run at one time.
unsafe impl Sync for Provided {}

impl Provided {
    /// The number of a connection, which it gets when it is first needed.
    fn number(&self, connection: &HostConnection) -> Result<u64> {
        let mut numbers = self.numbers();
        if let Some(number) = numbers.get(&connection.id()) {
            return Ok(*number);
        }
        let gone = || Error::new(ErrorCode::Closed, "the pool was closed or freed");
        let objects = self.objects.upgrade().ok_or_else(gone)?;
        if !objects.hosted.enter(usize::MAX) {
            return Err(gone());
        }
        let number = objects.connections.insert(connection.clone());
        let number = number.inspect_err(|_| objects.hosted.leave())?;
        numbers.insert(connection.id(), number);
        Ok(number)
    }

    fn numbers(&self) -> MutexGuard<'_, HashMap<u64, u64>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostServer for Provided {
    fn receive(&self, connection: &HostConnection, frame: &str) {
        let (Ok(number), Some(receive)) = (self.number(connection), self.receive) else {
            connection.close();
            return;
        };
        // SAFETY: the host gave the function for this pointer, and the text outlives the call.
        in_callback(|| unsafe { receive(self.user_data.pointer, number, Str::of(frame)) });
    }

    fn closed(&self, connection: &HostConnection) {
        // One that received nothing is one that the host never heard of.
        let Some(number) = self.numbers().remove(&connection.id()) else { return };
        let objects = self.objects.upgrade();
        if let Some(objects) = &objects {
            objects.connections.remove(number);
        }
        if let Some(closed) = self.closed {
            // SAFETY: the host gave the function for this pointer.
            in_callback(|| unsafe { closed(self.user_data.pointer, number) });
        }
        if let Some(objects) = objects {
            objects.hosted.leave();
        }
    }
}
