//! Which folders have to be watched for the declared files, and what a change in one of them means
//! for which file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::path_trail::{Folder, FolderId, Name, Trail, TrailEnd};
use super::types::POLL_INTERVAL;

/// A declared file, shared by all that speaks of it.
pub(super) type Declared = Arc<Path>;

/// The trails of the declared files at one moment.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) trails: BTreeMap<Declared, Trail>,
    /// Each folder once, in the order that the trails pass them; by the first of its paths where it
    /// has several.
    pub(super) folders: Vec<Folder>,
    taken: Option<SystemTime>,
}

/// The files of interest in watched folders.
#[derive(Clone, Default)]
pub(super) struct Interests(HashMap<PathBuf, Entries>);

/// Whom a change at a path concerns.
#[derive(Default)]
pub(super) struct Touched {
    pub(super) files: BTreeSet<Declared>,
    /// Whether the path is on the way to one of them, and not only something in a declared folder.
    pub(super) is_on_the_way: bool,
}

/// Of one folder: who passes it, and by which names.
#[derive(Clone, Default)]
struct Entries {
    everyone: BTreeSet<Declared>,
    by_name: BTreeMap<Name, BTreeSet<Declared>>,
    of_any_name: BTreeSet<Declared>,
}

impl Plan {
    /// Looks every declared file up.
    pub(super) fn of(declared: &BTreeSet<Declared>) -> Plan {
        let taken = Some(SystemTime::now());
        let trails: BTreeMap<Declared, Trail> =
            declared.iter().map(|file| (file.clone(), Trail::of(file))).collect();
        let mut known = BTreeSet::new();
        let steps = trails.values().flat_map(|trail| &trail.steps);
        let folders = steps.map(|step| &step.folder);
        let folders = folders.filter(|folder| known.insert(&folder.id)).cloned().collect();
        Plan { trails, folders, taken }
    }

    pub(super) fn interests(&self) -> Interests {
        let paths: BTreeMap<&FolderId, &PathBuf> =
            self.folders.iter().map(|folder| (&folder.id, &folder.path)).collect();
        let mut interests = Interests::default();
        for (file, trail) in &self.trails {
            for step in &trail.steps {
                let Some(path) = paths.get(&step.folder.id) else { continue };
                let entries = interests.0.entry((*path).clone()).or_default();
                entries.everyone.insert(file.clone());
                let files = match &step.name {
                    Some(name) => entries.by_name.entry(name.clone()).or_default(),
                    None => &mut entries.of_any_name,
                };
                files.insert(file.clone());
            }
        }
        interests
    }

    /// Whether every name that it looked up is one that an earlier plan looked up too.
    pub(super) fn goes_the_way_of(&self, before: &Plan) -> bool {
        let same = |(file, trail): (&Declared, &Trail)| {
            before.trails.get(file).is_some_and(|before| before.steps == trail.steps)
        };
        self.trails.iter().all(same)
    }

    /// Which files lead elsewhere, or were written, since an earlier plan that has them too.
    pub(super) fn changed_since(&self, before: &Plan) -> BTreeSet<Declared> {
        let differs = |(file, trail): &(&Declared, &Trail)| {
            before.trails.get(*file).is_some_and(|before| before != *trail)
        };
        self.trails.iter().filter(differs).map(|(file, _)| file.clone()).collect()
    }

    /// Which files may have been written after this plan looked at them without looking different:
    /// those that had changed just before.
    pub(super) fn fresh(&self) -> BTreeSet<Declared> {
        let is_fresh = |trail: &Trail| match (&trail.end, self.taken) {
            (TrailEnd::There(mark), Some(taken)) => mark
                .changed
                .and_then(|changed| taken.duration_since(changed).ok())
                .is_some_and(|age| age < POLL_INTERVAL),
            (TrailEnd::There(_) | TrailEnd::Missing | TrailEnd::Unknown(_), _) => false,
        };
        let fresh = self.trails.iter().filter(|(_, trail)| is_fresh(trail));
        fresh.map(|(file, _)| file.clone()).collect()
    }

    /// Which files pass one of these folders.
    pub(super) fn through(&self, is_it: impl Fn(&FolderId) -> bool) -> BTreeSet<Declared> {
        let passes = |trail: &Trail| trail.steps.iter().any(|step| is_it(&step.folder.id));
        let files = self.trails.iter().filter(|(_, trail)| passes(trail));
        files.map(|(file, _)| file.clone()).collect()
    }
}

impl Interests {
    /// Whose way a change at this path touches; nobody's, mostly.
    pub(super) fn touched(&self, path: &Path) -> Touched {
        let mut files = BTreeSet::new();
        if let Some(itself) = self.0.get(path) {
            files.extend(itself.everyone.iter().cloned());
        }
        let entries = path.parent().and_then(|folder| self.0.get(folder));
        let named = entries.zip(path.file_name());
        if let Some((entries, name)) = named {
            files.extend(entries.by_name.get(&Name::of(name)).into_iter().flatten().cloned());
        }
        let is_on_the_way = !files.is_empty();
        files
            .extend(named.into_iter().flat_map(|(entries, _)| entries.of_any_name.iter().cloned()));
        Touched { files, is_on_the_way }
    }

    /// Adds what another one is interested in.
    pub(super) fn widen(&mut self, other: Interests) {
        for (path, entries) in other.0 {
            let own = self.0.entry(path).or_default();
            own.everyone.extend(entries.everyone);
            own.of_any_name.extend(entries.of_any_name);
            for (name, files) in entries.by_name {
                own.by_name.entry(name).or_default().extend(files);
            }
        }
    }
}
