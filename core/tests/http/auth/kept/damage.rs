//! Files that cannot be read, and places where nothing can be kept.

use rig::person::{CANARIES, assert_shows_no_secret, sign_in};
use rig::{acquire, host, until};
use serde_json::json;
use trunkline::{ErrorCode, EventMask, Pool, PoolOptions};

use super::{Home, call, refusal};

/// SPEC 15.3: a place where nothing can be kept is refused at once, by its name.
#[test]
fn a_place_where_nothing_can_be_kept_is_refused() {
    let refused = |tokens: &str| {
        let options = PoolOptions::from_json(&json!({ "tokens": tokens }).to_string());
        let made = options.and_then(Pool::new);
        let error = made.err().unwrap_or_else(|| panic!("{tokens:?} is taken"));
        (error.code(), error.detail().clone())
    };
    for partial in ["", "tokens.json", "./tokens.json", "~/tokens.json", "/"] {
        let (code, detail) = refused(partial);
        assert_eq!((code, &detail["path"]), (ErrorCode::InvalidArgument, &json!("tokens")));
    }
    let home = Home::new(json!({}));
    std::fs::create_dir(home.folder()).unwrap();
    let folder = home.folder().to_str().unwrap();
    for unfit in [folder, "/dev/null/tokens.json", "/proc/tokens/tokens.json"] {
        let (code, detail) = refused(unfit);
        assert_eq!((code, &detail["option"]), (ErrorCode::Store, &json!("tokens")), "{unfit}");
        assert!(detail["errno"].as_i64().is_some_and(|errno| errno > 0), "{unfit}");
        assert!(detail["path"].as_str().is_some_and(|path| unfit.starts_with(path)), "{unfit}");
    }
}

/// SPEC 15.3, I-23: where nothing can be written any more the sign-in is good as long as the pool,
/// and the host hears why it is not kept.
#[test]
fn a_file_that_cannot_be_written_is_told_and_loses_no_sign_in() {
    let home = Home::new(json!({}));
    let rig = home.pool();
    std::fs::remove_dir_all(home.folder()).unwrap();
    std::fs::write(home.folder(), "no folder").unwrap();
    host(async {
        let session = home.session(&rig).await;
        refusal(&session).await;
        let finished = sign_in(&rig, "s").await.unwrap();
        assert_eq!(
            (&finished["stored"], &finished["error"]["code"]),
            (&json!(false), &json!("store"))
        );
        assert!(finished["error"]["detail"]["errno"].as_i64().unwrap() > 0);
        call(&acquire(&session, "s").await).await.unwrap();
        assert_shows_no_secret(&rig, None);
    });
}

/// SPEC 15.3, S-12: a damaged file is kept aside, and said to be so.
#[test]
fn a_damaged_file_is_kept_aside() {
    for damaged in ["", "{", "[]", r#"{"v":0,"grants":[]}"#, r#"{"v":1,"grants":[{"issuer":1}]}"#] {
        let home = Home::new(json!({}));
        std::fs::create_dir(home.folder()).unwrap();
        std::fs::write(&home.tokens, damaged).unwrap();
        let rig = home.pool();
        host(async {
            let events = rig.pool.subscribe(EventMask::ALL).unwrap();
            let session = home.session(&rig).await;
            refusal(&session).await;
            sign_in(&rig, "s").await.unwrap();
            let mut seen = String::new();
            until(|| {
                seen.extend(
                    std::iter::from_fn(|| events.try_next()).map(|event| event.json().to_owned()),
                );
                seen.contains(r#""code":"tokens""#)
            });
            CANARIES.iter().for_each(|canary| assert!(!seen.contains(canary), "{seen}"));
            assert_eq!(home.grants().len(), 1, "{damaged}");
        });
        let folder = std::fs::read_dir(home.folder()).unwrap();
        let aside = folder
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_string_lossy().contains("damaged"));
        assert_eq!(std::fs::read_to_string(aside.unwrap()).unwrap(), damaged);
    }
}

/// SPEC 15.3: a save or a look that failed is made good by the next renewal.
#[test]
fn what_could_not_be_kept_once_is_kept_by_the_next_renewal() {
    for blocked in ["tokens.json.new", "tokens.json"] {
        let home = Home::new(json!({ "uses": [20, 20, 100_000] }));
        let first = home.pool();
        host(async {
            let session = home.session(&first).await;
            sign_in(&first, "s").await.unwrap();
            let lease = acquire(&session, "s").await;
            // What is a folder can be neither read nor replaced.
            let (place, aside) = (home.folder().join(blocked), home.folder().join("aside"));
            let was_there = std::fs::rename(&place, &aside).is_ok();
            std::fs::create_dir(&place).unwrap();
            while home.issued() < 2 {
                call(&lease).await.unwrap();
            }
            std::fs::remove_dir(&place).unwrap();
            if was_there {
                std::fs::rename(&aside, &place).unwrap();
            }
            while home.issued() < 3 {
                call(&lease).await.unwrap();
            }
        });
        drop(first);
        let second = home.pool();
        host(async {
            let session = home.session(&second).await;
            call(&acquire(&session, "s").await).await.unwrap();
        });
        assert_eq!((home.issued(), home.grants().len()), (3, 1), "{blocked}");
    }
}
