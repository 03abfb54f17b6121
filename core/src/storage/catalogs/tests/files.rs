//! One file: what comes back of it, and what others put in its place.

use futures_util::FutureExt as _;

use super::*;

/// SPEC 4.1, 14.2, S-12: what was listed is known to the pools that come after, in files of this
/// user alone, named by nothing that was written.
#[test]
fn a_catalog_outlives_its_pool() {
    let folder = Place::new();
    let (key, other) = (key("../evil"), key("other"));
    let first = folder.open();
    assert_eq!(first.catalogs.known(&key), CatalogLookup::Unknown);
    assert_eq!(first.looked_up(&key), CatalogLookup::Unknown);
    assert!(!folder.cache().exists(), "looking makes nothing");
    first.keep(&key, &catalog("one"));
    assert_eq!(first.catalogs.known(&key), CatalogLookup::Catalog(catalog("one")));
    assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("one")));
    assert_eq!(folder.found(&other), CatalogLookup::Unknown);
    assert_eq!(folder.names(), [format!("{}.json", key.digits())]);
    assert_eq!(first.warnings(), Vec::<String>::new());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&folder.file(&key)), mode(&folder.cache())), (0o600, 0o700));
        assert_eq!(mode(&folder.0.join("trunkline")), 0o700);
    }
}

/// SPEC 14.1: what starts waits for what is about to be shown, but not for ever.
#[test]
fn a_start_waits_for_what_is_shown_but_not_for_ever() {
    let opened = Place::new().open();
    let catalogs = opened.catalogs.clone();
    let is_over = || catalogs.shown().now_or_never().is_some();
    assert!(is_over());
    let showing = [catalogs.showing(), catalogs.showing()];
    assert!(!is_over());
    let (send, receive) = mpsc::channel();
    let waits = catalogs.clone();
    let waits = async move {
        waits.shown().await;
        send.send(()).unwrap();
    };
    catalogs.runtime.handle().spawn(waits);
    assert_eq!(receive.recv_timeout(HANG), Ok(()));
    let [one, other] = showing;
    drop(one);
    assert!(!is_over());
    drop(other);
    assert!(is_over());
}

/// SPEC 14.2: without the option nothing is on the disk, and the pool remembers all the same.
#[test]
fn without_a_cache_the_pool_alone_remembers() {
    let runtime = Runtime::shared(1, || {}).unwrap();
    let catalogs = Catalogs::open(&CatalogCache::Off, runtime).unwrap();
    let off = Opened { catalogs, warnings: Arc::default() };
    off.keep(&key("s"), &catalog("one"));
    assert_eq!(off.looked_up(&key("s")), CatalogLookup::Catalog(catalog("one")));
    assert_eq!(off.looked_up(&key("t")), CatalogLookup::Unknown);
}

/// S-12: a path that would be another one from another directory is refused.
#[test]
fn a_path_that_is_not_whole_is_refused() {
    for path in ["catalogs", "./a", "~/a", "", "On"] {
        let option = CatalogCache::Folder(path.to_owned());
        let error = Catalogs::open(&option, Runtime::shared(1, || {}).unwrap()).err().unwrap();
        assert_eq!(error.code(), crate::ErrorCode::InvalidArgument);
        assert_eq!(error.detail()["path"], "cache");
    }
}

/// SPEC 14.2, S-47: what is for somebody alone is in no file, and what was kept for everybody goes
/// with it. Here it is known.
#[test]
fn a_private_catalog_is_in_no_file() {
    let folder = Place::new();
    let (key, opened) = (key("s"), folder.open());
    let private = ListingTerms { scope: CacheScope::Private, ..ListingTerms::default() };
    opened.keep_listing(&key, &catalog("mine"), &private);
    assert!(!folder.cache().exists());
    assert_eq!(opened.catalogs.known(&key), CatalogLookup::Catalog(catalog("mine")));
    opened.keep(&key, &catalog("everybody's"));
    assert_eq!(folder.names().len(), 1);
    opened.keep_listing(&key, &catalog("mine"), &private);
    assert_eq!(folder.names(), Vec::<String>::new());
    assert_eq!(folder.found(&key), CatalogLookup::Unknown);
}

/// SPEC 14.2: an empty list takes nothing from the processes to come, which ask the server
/// themselves.
#[test]
fn an_empty_catalog_leaves_the_file() {
    let folder = Place::new();
    let (key, opened) = (key("s"), folder.open());
    opened.keep(&key, &catalog("one"));
    opened.keep(&key, &Arc::default());
    assert_eq!(opened.catalogs.known(&key), CatalogLookup::Nothing);
    assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("one")));
}

/// SPEC 14.2: a file is written when there is something new in it, and not because a server lists
/// the same again.
#[test]
fn the_same_list_is_not_written_again() {
    let folder = Place::new();
    let (key, opened) = (key("s"), folder.open());
    opened.keep(&key, &catalog("one"));
    let written = || folder.file(&key).metadata().unwrap().modified().unwrap();
    let first = written();
    opened.keep(&key, &catalog("one"));
    folder.open().keep(&key, &catalog("one"));
    assert_eq!(written(), first);
    opened.keep(&key, &catalog("two"));
    assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("two")));
}

/// S-12, SPEC 14.2: a damaged file is as if there were none, nobody is told, and the next listing
/// mends it.
#[test]
fn what_is_damaged_is_a_miss_and_is_mended() {
    let folder = Place::new();
    let key = key("s");
    folder.open().keep(&key, &catalog("one"));
    let sound = std::fs::read(folder.file(&key)).unwrap();
    let later = String::from_utf8(sound.clone()).unwrap().replacen("\"v\":1", "\"v\":2", 1);
    let too_long = [sound.clone(), vec![b' '; 1 << 20]].concat();
    for damaged in [b"".to_vec(), sound[..sound.len() / 2].to_vec(), later.into(), too_long] {
        std::fs::write(folder.file(&key), damaged).unwrap();
        let opened = folder.open();
        assert_eq!(opened.looked_up(&key), CatalogLookup::Unknown);
        opened.keep(&key, &catalog("one"));
        assert_eq!(opened.warnings(), Vec::<String>::new());
        assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("one")));
    }
}

/// SPEC 14.2: a list that grew too long for a file leaves none behind: what was kept before is out
/// of date. Here it is known.
#[test]
fn a_list_that_grew_too_long_takes_its_old_file_with_it() {
    let folder = Place::new();
    let (key, opened) = (key("s"), folder.open());
    opened.keep(&key, &catalog("short"));
    assert_eq!(folder.names().len(), 1);
    let long = catalog_of(3, &"x".repeat(TEXT_BYTES_MAX / 2));
    opened.keep(&key, &long);
    assert_eq!(folder.names(), Vec::<String>::new());
    assert_eq!(opened.catalogs.known(&key), CatalogLookup::Catalog(long));
    assert_eq!(opened.warnings(), Vec::<String>::new());
}

/// SPEC 14.2: what cannot be read or written spoils nothing else of the same look, or of the same
/// write.
#[test]
fn what_cannot_be_read_or_written_spoils_itself_alone() {
    let folder = Place::new();
    let keys = ["a", "b", "c"].map(key);
    let spoil = |key| std::fs::create_dir(folder.file(key)).unwrap();
    let first = folder.open();
    for key in [&keys[0], &keys[2]] {
        first.keep(key, &catalog("one"));
    }
    spoil(&keys[1]);
    let opened = folder.open();
    assert_eq!(opened.all_looked_up(&keys), {
        let one = CatalogLookup::Catalog(catalog("one"));
        [one.clone(), CatalogLookup::Unknown, one]
    });
    assert_eq!(opened.warnings().len(), 1, "{:?}", opened.warnings());

    let disk = folder.disk();
    let keep = |key: &CacheKey| {
        let kept = Kept::of(&catalog("two"), &ListingTerms::default(), now_ms()).unwrap();
        (key.clone(), Write::Keep(kept))
    };
    let remove = |key: &CacheKey| (key.clone(), Write::Remove);
    disk.write(&[keep(&keys[1]), remove(&keys[0]), keep(&keys[2])]).unwrap_err();
    assert_eq!(folder.found(&keys[0]), CatalogLookup::Unknown);
    assert_eq!(folder.found(&keys[2]), CatalogLookup::Catalog(catalog("two")));
}

/// S-12: the file of another key, under this one's name, is none.
#[test]
fn the_catalog_of_another_server_is_a_miss() {
    let folder = Place::new();
    folder.open().keep(&key("s"), &catalog("one"));
    std::fs::copy(folder.file(&key("s")), folder.file(&key("t"))).unwrap();
    assert_eq!(folder.found(&key("t")), CatalogLookup::Unknown);
}

/// S-12: what another could have put there is not read, not followed and not written over; the pool
/// is told once, and goes on.
#[cfg(unix)]
#[test]
fn what_is_not_this_users_alone_is_left_alone() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    type Attack<'a> = &'a dyn Fn(&Place, &Path);
    let elsewhere = |folder: &Place| folder.0.join("elsewhere");
    let attacks: [(&str, Attack<'_>); 5] = [
        ("a link", &|folder, file| {
            std::fs::rename(file, elsewhere(folder)).unwrap();
            symlink(elsewhere(folder), file).unwrap();
        }),
        ("a link to nothing", &|folder, file| {
            std::fs::remove_file(file).unwrap();
            symlink(elsewhere(folder), file).unwrap();
        }),
        ("a file that others may write", &|_, file| mode(file, 0o666)),
        ("a folder", &|_, file| {
            std::fs::remove_file(file).unwrap();
            std::fs::create_dir(file).unwrap();
        }),
        ("a pipe", &|_, file| {
            std::fs::remove_file(file).unwrap();
            let made = std::process::Command::new("mkfifo").arg(file).status().unwrap();
            assert!(made.success());
        }),
    ];
    for (what, attack) in attacks {
        let folder = Place::new();
        let key = key("s");
        folder.open().keep(&key, &catalog("one"));
        attack(&folder, &folder.file(&key));
        let before = std::fs::read(elsewhere(&folder)).ok();
        let kind = folder.file(&key).symlink_metadata().unwrap().file_type();
        let opened = folder.open();
        assert_eq!(opened.looked_up(&key), CatalogLookup::Unknown, "{what}");
        for text in ["two", "three"] {
            opened.keep(&key, &catalog(text));
        }
        assert_eq!(opened.catalogs.known(&key), CatalogLookup::Catalog(catalog("three")), "{what}");
        assert_eq!(std::fs::read(elsewhere(&folder)).ok(), before, "{what}");
        let after = folder.file(&key).symlink_metadata().unwrap().file_type();
        assert_eq!(after, kind, "{what}");
        let warnings = opened.warnings();
        assert_eq!(warnings.len(), 2, "{what}: {warnings:?}");
        assert!(warnings[0].contains("read") && warnings[1].contains("written"), "{warnings:?}");
    }
}

/// S-12: in a folder that others may write nothing is read and nothing is written.
#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Place::new();
    let key = key("s");
    folder.open().keep(&key, &catalog("one"));
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.cache(), open).unwrap();
    let opened = folder.open();
    assert_eq!(opened.looked_up(&key), CatalogLookup::Unknown);
    opened.keep(&key, &catalog("two"));
    assert_eq!(opened.warnings().len(), 1, "{:?}", opened.warnings());
    let kept = std::fs::read_to_string(folder.file(&key)).unwrap();
    assert!(kept.contains("one") && !kept.contains("two"));
}

/// SPEC 14.2: where nothing can be made, and where everything goes while the pool runs, nobody has
/// an error.
#[test]
fn a_folder_that_goes_or_cannot_be_made_is_nobodys_error() {
    let folder = Place::new();
    let key = key("s");
    let opened = folder.open();
    std::fs::write(folder.0.join("trunkline"), "no folder").unwrap();
    for text in ["one", "two"] {
        opened.keep(&key, &catalog(text));
        assert_eq!(opened.catalogs.known(&key), CatalogLookup::Catalog(catalog(text)));
    }
    assert_eq!(opened.warnings().len(), 1, "{:?}", opened.warnings());
    std::fs::remove_file(folder.0.join("trunkline")).unwrap();
    opened.keep(&key, &catalog("three"));
    assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("three")));
    std::fs::remove_dir_all(folder.0.join("trunkline")).unwrap();
    assert_eq!(folder.found(&key), CatalogLookup::Unknown);
    opened.keep(&key, &catalog("three"));
    assert_eq!(folder.found(&key), CatalogLookup::Catalog(catalog("three")));
}
