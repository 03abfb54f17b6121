//! The bounds of a file of grants.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use trunkline_pool::config::PoolKey;

use super::{GRANTS_MAX, GrantKey, Store, TokenRecord, now_ms};
use crate::auth::Author;
use crate::folder::Folder;
use crate::storage::OwnFile;
use crate::storage::token_file::{self, Grants};
use crate::{Error, ErrorCode};

/// A place for one test, which goes with it.
struct Place(Folder);

impl Place {
    fn new() -> Place {
        Place(Folder::new())
    }

    fn file(&self) -> PathBuf {
        self.0.join("tokens.json")
    }
}

fn grant(resource: &str, received_ms: u64, token: &str) -> TokenRecord {
    let id = format!("s::{}", "0".repeat(64));
    let fingerprint = PoolKey::from_connection_id(&id).unwrap().fingerprint;
    TokenRecord {
        key: GrantKey::new(
            "https://issuer.example",
            resource.to_owned(),
            (&fingerprint, Author::Host),
        ),
        client_id: "client".into(),
        client_secret: None,
        client_authentication: None,
        client_expires_at: None,
        takes_bearer: false,
        redirect_uri: "http://localhost:3000/callback".into(),
        scopes: Vec::new(),
        received_ms,
        signed_in_ms: received_ms,
        token: json!({ "access_token": token }),
    }
}

fn own(path: &Path) -> OwnFile {
    OwnFile::new(path, "tokens")
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn all(place: &Place) -> Vec<TokenRecord> {
    match Grants::read(&own(&place.file())).unwrap() {
        token_file::TokenFileContent::Whole(grants) => grants.grants,
        token_file::TokenFileContent::Damaged => panic!("it is damaged"),
    }
}

/// SPEC 15.3: a file does not grow for ever.
#[test]
fn of_too_many_grants_the_oldest_goes() {
    let place = Place::new();
    let mut grants = Grants::default();
    let numbers = (0..GRANTS_MAX as u64).rev();
    grants.grants = numbers.map(|number| grant(&number.to_string(), number, "t")).collect();
    grants.write(&own(&place.file())).unwrap();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    run(store.keep(grant("new", 5, "t"), |key| key.resource == "new")).unwrap();
    let kept = all(&place);
    assert_eq!(kept.len(), GRANTS_MAX);
    assert!(kept.iter().any(|kept| kept.key.resource == "new"));
    assert!(kept.iter().all(|kept| kept.key.resource != "0"), "the oldest is still there");
    run(store.keep(grant("new", 6, "t"), |key| key.resource == "new")).unwrap();
    assert_eq!(all(&place).len(), GRANTS_MAX, "one in the place of its own predecessor");
}

/// SPEC 15.3, I-26: what came before the clock was set back goes before what came since.
#[test]
fn of_too_many_grants_those_of_a_time_to_come_go_first() {
    let place = Place::new();
    let mut grants = Grants::default();
    let numbers = 1..=GRANTS_MAX as u64;
    grants.grants = numbers.map(|number| grant(&number.to_string(), number, "t")).collect();
    let ahead = |days: u64| now_ms() + days * 24 * 60 * 60 * 1000;
    grants.grants[7].received_ms = ahead(365);
    // A clock that goes ahead of this one was not set back.
    grants.grants[8].received_ms = ahead(0) + 60_000;
    grants.write(&own(&place.file())).unwrap();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    run(store.keep(grant("new", 5, "t"), |key| key.resource == "new")).unwrap();
    let kept = all(&place);
    let is_there = |name: &str| kept.iter().any(|kept| kept.key.resource == name);
    assert_eq!(["1", "8", "9", "new"].map(is_there), [true, false, true, true]);
}

/// SPEC 15.3, I-23: what could not be read again is not written.
#[test]
fn a_file_that_would_be_too_long_is_left_as_it_was() {
    let place = Place::new();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    run(store.keep(grant("a", 1, "short"), |key| key.resource == "a")).unwrap();
    let before = std::fs::read(place.file()).unwrap();
    let long = grant("b", 2, &"t".repeat(17 << 20));
    let error = run(store.keep(long, |key| key.resource == "b")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Store);
    assert_eq!(std::fs::read(place.file()).unwrap(), before);
}

/// SPEC 15.3: who waits for another process takes no thread that the one it waits for may need.
#[test]
fn waiting_for_a_renewal_of_another_holds_no_thread() {
    let place = Place::new();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    let kept = grant("a", 1, "t");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let held = store.renewing(&kept.key).await.unwrap();
        let (waiter, key) = (store.clone(), kept.key.clone());
        let waiting = tokio::spawn(async move { waiter.renewing(&key).await.map(drop) });
        tokio::task::yield_now().await;
        let found = tokio::time::timeout(Duration::from_secs(5), store.find(|_| true)).await;
        assert!(found.expect("it waits for a thread").unwrap().is_none());
        assert!(!waiting.is_finished());
        drop(held);
        waiting.await.unwrap().unwrap();
    });
}

/// SPEC 15.3: nothing is said to be forgotten where it cannot be seen whether it is there.
#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_not_said_to_be_forgotten() {
    let place = Place::new();
    let path = place.0.join("folder").join("tokens.json");
    let store = Store::open(path.to_str().unwrap()).unwrap();
    assert!(!run(store.forget(|_| true)).unwrap(), "there is none");
    std::os::unix::fs::symlink("tokens.json", &path).unwrap();
    let error = run(store.forget(|_| true)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Store);
    std::fs::remove_dir_all(place.0.join("folder")).unwrap();
    std::fs::write(place.0.join("folder"), "no folder").unwrap();
    let error = run(store.forget(|_| true)).unwrap_err();
    assert_eq!((error.code(), &error.detail()["path"]), (ErrorCode::Store, &json!(path)));
}

/// What opening says of that file, which it must not wait for.
fn refusal_of(path: &Path) -> Error {
    let (sender, receiver) = std::sync::mpsc::channel();
    let text = path.to_str().unwrap().to_owned();
    std::thread::spawn(move || sender.send(Store::open(&text).map(drop)));
    let opened = receiver.recv_timeout(Duration::from_secs(10)).expect("it waits for a writer");
    let error = opened.expect_err("it is taken");
    assert_eq!((error.code(), &error.detail()["path"]), (ErrorCode::Store, &json!(path)));
    error
}

/// S-12: no link, nothing but a file, of this user and written by nobody else.
#[cfg(unix)]
#[test]
fn what_is_no_file_of_this_user_alone_is_refused_and_left_alone() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    let place = Place::new();
    let real = place.0.join("real.json");
    Grants::default().write(&own(&real)).unwrap();
    symlink(&real, place.file()).unwrap();
    refusal_of(&place.file());
    assert!(place.file().is_symlink());
    std::fs::remove_file(place.file()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.file()).status().unwrap();
    assert!(made.success());
    refusal_of(&place.file());
    std::fs::remove_file(place.file()).unwrap();
    std::fs::write(place.file(), std::fs::read(&real).unwrap()).unwrap();
    std::fs::set_permissions(place.file(), PermissionsExt::from_mode(0o664)).unwrap();
    refusal_of(&place.file());
    std::fs::set_permissions(place.file(), PermissionsExt::from_mode(0o644)).unwrap();
    Store::open(place.file().to_str().unwrap()).unwrap();
    // Who may not give a file away is not the one whom this belongs to.
    match chown(place.file(), Some(65534), None) {
        Ok(()) => drop(refusal_of(&place.file())),
        Err(_) => drop(refusal_of(Path::new("/etc/passwd"))),
    }
}

/// S-12, SPEC 15.3: a file of a later version is neither guessed at nor taken away.
#[test]
fn a_file_of_a_later_version_is_refused_and_left_alone() {
    let place = Place::new();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    let later = r#"{"v":2,"grants":[{"new":"form"}]}"#;
    std::fs::write(place.file(), later).unwrap();
    refusal_of(&place.file());
    for error in [
        run(store.find(|_| true)).unwrap_err(),
        run(store.keep(grant("a", 1, "t"), |_| true)).unwrap_err(),
        run(store.forget(|_| true)).unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::Store);
    }
    assert_eq!(std::fs::read_to_string(place.file()).unwrap(), later);
}

/// S-12: one MiB is read, and no sign-in is lost for want of room but the oldest.
#[test]
fn what_fits_no_more_into_a_file_makes_room() {
    let place = Place::new();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    let long = "t".repeat(300 << 10);
    for number in 0..5 {
        let resource = number.to_string();
        let kept = grant(&resource, number, &long);
        run(store.keep(kept, move |key| key.resource == resource)).unwrap();
    }
    assert!(std::fs::metadata(place.file()).unwrap().len() <= 1 << 20);
    let left: Vec<u64> = all(&place).iter().map(|kept| kept.received_ms).collect();
    assert_eq!(left, [2, 3, 4]);
    std::fs::write(place.file(), format!("{}{}", " ".repeat(1 << 20), r#"{"v":1,"grants":[]}"#))
        .unwrap();
    assert!(matches!(
        Grants::read(&own(&place.file())).unwrap(),
        token_file::TokenFileContent::Damaged
    ));
}

/// S-48: no token is in what is printed of a grant.
#[test]
fn a_grant_shows_no_token() {
    assert!(!format!("{:?}", grant("a", 1, "canary")).contains("canary"));
}

/// SPEC 15.3: a file that does not say when somebody signed in is read as one that does, and a
/// renewal is put there.
#[test]
fn when_somebody_signed_in_need_not_be_in_the_file() {
    let place = Place::new();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    let [old, new] = [5, 6].map(|received_ms| grant("a", received_ms, "t"));
    let new = TokenRecord { key: old.key.clone(), signed_in_ms: 5, ..new };
    run(store.keep(old.clone(), |_| true)).unwrap();
    let text = std::fs::read_to_string(place.file()).unwrap();
    std::fs::write(place.file(), text.replace(r#","signed_in_ms":5"#, "")).unwrap();
    assert_eq!(all(&place)[0].signed_in_ms, 0);
    run(store.replace(old, new.clone())).unwrap();
    assert_eq!(all(&place), [new]);
}

/// S-15, SPEC 15.3: what an authorization server writes into its answer spoils no grant of another.
#[test]
fn a_token_is_read_as_it_was_written() {
    let place = Place::new();
    let mut odd = grant("odd", 1, "t");
    odd.token["extra"] = json!({ "$serde_json::private::RawValue": "no JSON" });
    let grants = [odd, grant("other", 2, "t")];
    let mut written = Grants::default();
    written.grants = grants.to_vec();
    written.write(&own(&place.file())).unwrap();
    assert_eq!(all(&place), grants);
}
