//! A host whose process gets no more threads (SPEC 9.6, 16.2): what needs none goes on, what needs
//! one says so, and nothing of it stays.

#![cfg(target_os = "linux")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rig::{Rig, acquire, host, text};
use serde_json::json;
use trunkline::{AcquireOptions, ErrorCode, LoadOptions, Pool, PoolOptions};

/// Whether the process gets no more.
static DENIED: AtomicBool = AtomicBool::new(false);

/// Panics of any thread: each would be on the host's stderr.
static PANICS: AtomicUsize = AtomicUsize::new(0);

type Body = extern "C" fn(*mut c_void) -> *mut c_void;

type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Body,
    *mut c_void,
) -> c_int;

/// In place of the system's, for all of this process.
///
/// # Safety
/// As of the system's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    body: Body,
    given: *mut c_void,
) -> c_int {
    if DENIED.load(Ordering::SeqCst) {
        return libc::EAGAIN;
    }
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) };
    assert!(!found.is_null());
    // SAFETY: this is what the system has under that name.
    let create: Create = unsafe { std::mem::transmute::<*mut c_void, Create>(found) };
    // SAFETY: the caller's promises are handed on.
    unsafe { create(thread, attributes, body, given) }
}

/// SPEC 9.6, 16.2.
#[test]
fn a_process_without_threads_is_told_so_and_goes_on() {
    rig::alone!();
    std::panic::set_hook(Box::new(|panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        eprintln!("{panic}");
    }));
    let told = |it: trunkline::Error| (it.code(), it.detail().get("limit").cloned());
    let none = (ErrorCode::Limit, Some(json!("threads")));
    DENIED.store(true, Ordering::SeqCst);
    let pool = Pool::new(PoolOptions::from_json(r#"{"cache":"off"}"#).unwrap());
    assert_eq!(told(pool.err().unwrap()), none);
    DENIED.store(false, Ordering::SeqCst);
    let rig = Rig::in_workspace(json!({ "trusted": true, "approvals": "memory" }));
    let file = rig.path("servers.json");
    std::fs::write(&file, json!({ "mcpServers": { "f": rig.server(&[]) } }).to_string()).unwrap();
    let folder = std::env::temp_dir().to_string_lossy().into_owned();
    host(async {
        let session = rig.session("a");
        DENIED.store(true, Ordering::SeqCst);
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let loaded = rig.pool.load(&file, &LoadOptions::default()).await.unwrap();
        assert_eq!(loaded["servers"]["f"]["action"], "added");
        let refused = session.acquire("s", None, &AcquireOptions::default()).await.err().unwrap();
        assert_eq!((refused.code(), refused.is_retryable()), (ErrorCode::SpawnFailed, true));
        let roots = rig.pool.set_roots(std::slice::from_ref(&folder)).await;
        assert_eq!(told(roots.unwrap_err()), none);
        DENIED.store(false, Ordering::SeqCst);
        for server in ["s", "f"] {
            let lease = acquire(&session, server).await;
            assert_eq!(text(&lease, "echo", json!({ "message": "hi" })).await, "hi");
        }
        rig.pool.set_roots(&[folder]).await.unwrap();
        rig.pool.close().await.unwrap();
    });
    assert_eq!(PANICS.load(Ordering::SeqCst), 0);
}
