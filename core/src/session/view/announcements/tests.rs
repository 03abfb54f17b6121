//! What is told, and what is not, when holds come and go amid a change of the lists.

use trunkline_pool::catalog::{Catalog, Filter, ListKind};
use trunkline_pool::state::{Notice, Slot};

use super::*;
use crate::driver::server_config::ConfigOwner;
use crate::session::lease::HoldKind;
use crate::session::lease::lease_state::{EntryView, LeaseState};
use crate::session::view::removed_servers::GONE_MAX;

/// Tools of these names.
fn catalog(names: &[&str]) -> Arc<Catalog> {
    let tools = names.iter().map(|name| serde_json::json!({ "name": name, "inputSchema": {} }));
    let page = serde_json::json!({ "tools": tools.collect::<Vec<_>>() }).to_string();
    let mut catalog = Catalog::default();
    catalog.add_page(ListKind::Tools, &page).unwrap();
    catalog.finish();
    Arc::new(catalog)
}

fn publish(cell: &EntryCell, catalog: &Arc<Catalog>) {
    cell.publish(Slot { catalog: catalog.clone(), ..cell.load().slot.clone() });
}

/// What a session that wants the server sees of it.
fn wanted(cell: Arc<EntryCell>, view: View) -> VisibleServer {
    VisibleServer::Held(LeaseState::new(
        EntryView::new(cell, Arc::new(view)),
        (ConfigOwner::Pool, HoldKind::Want),
    ))
}

/// The notice of a change.
fn change(
    told: &mut AnnouncedState,
    cell: &Arc<EntryCell>,
    (before, after): (&Arc<Catalog>, &Arc<Catalog>),
) {
    let difference = Arc::new(CatalogDifference::between(before, after));
    let (entry, generation) = (cell.entry, Generation(1));
    let (before, after) = (before.clone(), after.clone());
    let notice = Notice::CatalogChanged { entry, generation, before, after, difference };
    let change = ListChange::of(cell, &notice).expect("it is the notice of a change");
    let news = told.listed(&change);
    told.news.extend(news);
}

/// The tools that were added, as far as the news say.
fn added(told: &mut AnnouncedState) -> Vec<String> {
    let mut tells = false;
    let mut added = Vec::new();
    while let Some(news) = told.next(&mut tells) {
        let difference = match news {
            ListEvent::Lists { difference, .. } => difference,
            ListEvent::Change(change, own) => {
                own.unwrap_or_else(|| change.whole.difference().clone())
            }
            ListEvent::HeldBack(..) | ListEvent::Unmatched(..) => continue,
        };
        added.extend(difference.tools.added.iter().map(|name| name.to_string()));
    }
    added
}

/// SPEC 7.2: lists that were published are told by their notice, whatever hold came or went
/// between.
#[test]
fn a_hold_that_comes_or_goes_before_the_notice_of_a_change_loses_nothing_of_it() {
    let (before, after) = (catalog(&["one"]), catalog(&["one", "two"]));
    let cell = EntryCell::listing("s", before.clone());
    let trusted = || View { trust: true, ..View::default() };
    for (older, newer) in [(View::default(), View::default()), (View::default(), trusted())] {
        publish(&cell, &before);
        let mut told = AnnouncedState::default();
        let (older, newer) = (wanted(cell.clone(), older), wanted(cell.clone(), newer));
        told.compare_one(&older);
        publish(&cell, &after);
        told.compare_one(&newer);
        told.release(&cell.server, Some(&older));
        assert_eq!(added(&mut told), Vec::<String>::new());
        change(&mut told, &cell, (&before, &after));
        assert_eq!(added(&mut told), ["two"]);
    }
}

/// SPEC 7.2: what the host gave up itself is not told, and nothing that waited to be told of it.
#[test]
fn a_server_that_is_given_up_is_told_nothing_of() {
    let (before, after) = (catalog(&["one"]), catalog(&["one", "two"]));
    let cell = EntryCell::listing("s", before.clone());
    let mut told = AnnouncedState::default();
    told.compare(&[wanted(cell.clone(), View::default())]);
    change(&mut told, &cell, (&before, &after));
    told.release(&cell.server, None);
    assert_eq!(added(&mut told), Vec::<String>::new());
    assert!(!told.has("s"));
}

/// SPEC 7.4: a session hears what its view admits of a change, and all that it was not told of
/// before.
#[test]
fn what_is_told_of_a_change_begins_with_what_was_told_last() {
    let lists = [&["one"][..], &["one", "two"], &["four", "one", "three", "two"]].map(catalog);
    let [told_of, before, after] = &lists;
    let cell = EntryCell::listing("s", told_of.clone());
    let view = View {
        by_session: Filter { include: None, exclude: vec!["thr*".into()] },
        ..View::default()
    };
    let mut told = AnnouncedState::default();
    told.compare_one(&wanted(cell.clone(), view));
    publish(&cell, after);
    change(&mut told, &cell, (before, after));
    assert_eq!(added(&mut told), ["four", "two"]);
    let more = catalog(&["five", "four", "one", "three", "thrice", "two"]);
    publish(&cell, &more);
    change(&mut told, &cell, (after, &more));
    assert_eq!(added(&mut told), ["five"]);
}

/// How many servers are remembered.
fn remembered(told: &AnnouncedState) -> usize {
    told.servers.len() + told.gone.len()
}

/// SPEC 7.2: a host with a server for each of its tasks hears when the last ones that went are
/// back. The memory of those before does not grow.
#[test]
fn of_servers_that_are_gone_the_last_ones_are_remembered() {
    let lists = catalog(&["one"]);
    let seen = |number: usize| {
        let cell = EntryCell::listing(&format!("task-{number}"), lists.clone());
        wanted(cell, View::default())
    };
    let mut told = AnnouncedState::default();
    for number in 0..5000 {
        told.compare(&[seen(number)]);
        told.compare(&[]);
        assert_eq!(added(&mut told), Vec::<String>::new());
    }
    assert_eq!(remembered(&told), GONE_MAX);
    for (number, is_told) in [(4999, true), (5000 - GONE_MAX, true), (4999 - GONE_MAX, false)] {
        assert_eq!(told.has(&format!("task-{number}")), is_told);
        told.compare(&[seen(number)]);
        assert_eq!(!added(&mut told).is_empty(), is_told, "{number}");
    }
}

/// SPEC 7.2: however many go at once, each is told.
#[test]
fn all_servers_that_go_at_once_are_told() {
    let lists = catalog(&["one"]);
    let cell = |number: usize| EntryCell::listing(&format!("{number:04}"), lists.clone());
    let all: Vec<VisibleServer> =
        (0..2 * GONE_MAX).map(|number| wanted(cell(number), View::default())).collect();
    let mut told = AnnouncedState::default();
    told.compare(&all);
    told.compare(&[]);
    let (mut tells, mut count) = (false, 0);
    while let Some(news) = told.next(&mut tells) {
        assert!(told.has(news.server()), "it announces what the session has");
        count += 1;
    }
    assert_eq!((count, remembered(&told)), (all.len(), GONE_MAX));
}
