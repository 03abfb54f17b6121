//! The bounds of a file of grants.

use std::path::PathBuf;

use serde_json::json;
use trunkline_pool::config::PoolKey;

use super::file::{self, Grants};
use super::{GRANTS_MAX, Kept, Key, Store};
use crate::ErrorCode;

/// A place for one test, which goes with it.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Place {
        let name = format!("trunkline-store-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        Place(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("tokens.json")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn grant(resource: &str, received_ms: u64, token: &str) -> Kept {
    let id = format!("s::{}", "0".repeat(64));
    let fingerprint = PoolKey::from_connection_id(&id).unwrap().fingerprint;
    Kept {
        key: Key::new("https://issuer.example", resource.to_owned(), &fingerprint),
        client_id: "client".into(),
        client_secret: None,
        redirect_uri: "http://localhost:3000/callback".into(),
        scopes: Vec::new(),
        received_ms,
        token: json!({ "access_token": token }),
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn all(place: &Place) -> Vec<Kept> {
    match Grants::read(&place.file()).unwrap() {
        file::Read::Whole(grants) => grants.grants,
        file::Read::Damaged => panic!("it is damaged"),
    }
}

/// SPEC 15.3: a file does not grow for ever.
#[test]
fn of_too_many_grants_the_oldest_goes() {
    let place = Place::new("many");
    let mut grants = Grants::default();
    let numbers = (0..GRANTS_MAX as u64).rev();
    grants.grants = numbers.map(|number| grant(&number.to_string(), number, "t")).collect();
    grants.write(&place.file()).unwrap();
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    run(store.keep(grant("new", 5, "t"), |key| key.resource == "new")).unwrap();
    let kept = all(&place);
    assert_eq!(kept.len(), GRANTS_MAX);
    assert!(kept.iter().any(|kept| kept.key.resource == "new"));
    assert!(kept.iter().all(|kept| kept.key.resource != "0"), "the oldest is still there");
    run(store.keep(grant("new", 6, "t"), |key| key.resource == "new")).unwrap();
    assert_eq!(all(&place).len(), GRANTS_MAX, "one in the place of its own predecessor");
}

/// SPEC 15.3, I-23: what could not be read again is not written.
#[test]
fn a_file_that_would_be_too_long_is_left_as_it_was() {
    let place = Place::new("long");
    let store = Store::open(place.file().to_str().unwrap()).unwrap();
    run(store.keep(grant("a", 1, "short"), |key| key.resource == "a")).unwrap();
    let before = std::fs::read(place.file()).unwrap();
    let long = grant("b", 2, &"t".repeat(17 << 20));
    let error = run(store.keep(long, |key| key.resource == "b")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Store);
    assert_eq!(std::fs::read(place.file()).unwrap(), before);
}

/// S-48: no token is in what is printed of a grant.
#[test]
fn a_grant_shows_no_token() {
    assert!(!format!("{:?}", grant("a", 1, "canary")).contains("canary"));
}
