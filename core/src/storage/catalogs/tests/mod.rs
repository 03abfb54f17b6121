//! Catalogs on the disk: what comes back, what others put there, and many processes at once.

mod files;
#[cfg(unix)]
mod processes;
mod room;

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use serde_json::json;
use trunkline_pool::catalog::{CacheScope, ListKind};
use trunkline_pool::catalog_cache::{Asker, TEXT_BYTES_MAX, WrittenHash};
use trunkline_pool::config::ServerSpec;

use super::*;
use crate::folder::Folder;

/// What waits so long hangs.
const HANG: Duration = Duration::from_secs(60);

/// A folder for one test, which goes with it.
struct Place(Folder);

impl Place {
    fn new() -> Place {
        Place(Folder::new())
    }

    /// Where the catalogs are; not there at first.
    fn cache(&self) -> PathBuf {
        self.0.join("trunkline/catalogs")
    }

    fn file(&self, key: &CacheKey) -> PathBuf {
        self.cache().join(key.digits() + ".json")
    }

    /// The catalogs of one more pool.
    fn open(&self) -> Opened {
        Opened::at(&self.cache())
    }

    /// The folder itself.
    fn disk(&self) -> Disk {
        let option = CatalogCache::Folder(self.cache().to_str().unwrap().to_owned());
        Disk::of_option(&option).unwrap().unwrap()
    }

    /// What one more pool knows of a key once it has looked.
    fn found(&self, key: &CacheKey) -> CatalogLookup {
        self.open().looked_up(key)
    }

    /// The names of the files there, without those that stand for locks.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.cache()) else { return Vec::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with("catalogs.")).collect();
        names.sort();
        names
    }
}

/// The catalogs of a pool, and what it was warned of.
struct Opened {
    catalogs: Arc<Catalogs>,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Opened {
    fn at(folder: &Path) -> Opened {
        let option = CatalogCache::Folder(folder.to_str().unwrap().to_owned());
        let catalogs = Catalogs::open(&option, Runtime::shared(1, || {}).unwrap()).unwrap();
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let told = warnings.clone();
        catalogs.on_warning(move |message| told.lock().unwrap().push(message.to_owned()));
        Opened { catalogs, warnings }
    }

    fn looked_up(&self, key: &CacheKey) -> CatalogLookup {
        let [known] = self.all_looked_up(std::array::from_ref(key));
        known
    }

    /// What is known of these after one look.
    fn all_looked_up<const COUNT: usize>(
        &self,
        keys: &[CacheKey; COUNT],
    ) -> [CatalogLookup; COUNT] {
        let (send, receive) = mpsc::channel();
        self.catalogs.look_up(keys.to_vec(), HANG, move |told| send.send(told).unwrap());
        assert_eq!(receive.recv_timeout(HANG), Ok(LookUp::Over));
        keys.each_ref().map(|key| self.catalogs.known(key))
    }

    /// Keeps it, and waits until that is over.
    fn keep(&self, key: &CacheKey, catalog: &Arc<Catalog>) {
        self.keep_listing(key, catalog, &ListingTerms::default());
    }

    fn keep_listing(&self, key: &CacheKey, catalog: &Arc<Catalog>, listing: &ListingTerms) {
        self.catalogs.keep(key, catalog, listing);
        self.settle();
    }

    fn settle(&self) {
        let (send, receive) = mpsc::channel();
        let catalogs = self.catalogs.clone();
        self.catalogs.runtime.handle().spawn(async move {
            catalogs.settled(HANG).await;
            send.send(()).unwrap();
        });
        receive.recv_timeout(HANG).unwrap();
        assert!(!guard(&self.catalogs.queue).is_at_work());
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }
}

fn key(server: &str) -> CacheKey {
    let spec = ServerSpec::from_value("s", &json!({ "command": "c" })).unwrap();
    let asker = Asker { workspace: b"/", context: "pool", capabilities: &[] };
    CacheKey::new(server, &WrittenHash::literal(&spec), asker)
}

/// So many tools, each with the same text.
fn catalog_of(tools: usize, text: &str) -> Arc<Catalog> {
    let tool =
        |number| json!({ "name": format!("t{number}"), "inputSchema": {}, "description": text });
    let page = json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() });
    let mut catalog = Catalog::default();
    catalog.add_page(ListKind::Tools, &page.to_string()).unwrap();
    catalog.finish();
    Arc::new(catalog)
}

fn catalog(text: &str) -> Arc<Catalog> {
    catalog_of(3, text)
}
