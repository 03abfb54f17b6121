//! The option `cache`.

/// Where what servers listed last is kept (SPEC 14.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CatalogCache {
    /// In `trunkline/catalogs` in the platform's cache folder; `TRUNKLINE_HOME` moves it.
    #[default]
    On,
    /// In the memory of the pool alone.
    Off,
    /// In this folder: a whole path.
    Folder(String),
}

impl CatalogCache {
    /// What a text says; by default it is on.
    pub(super) fn of_text(text: Option<String>) -> CatalogCache {
        match text.as_deref() {
            None | Some("on") => CatalogCache::On,
            Some("off") => CatalogCache::Off,
            Some(folder) => CatalogCache::Folder(folder.to_owned()),
        }
    }
}
