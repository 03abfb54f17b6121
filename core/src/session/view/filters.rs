//! Filters and marks that do nothing: the host is warned of each once, and `explain` says it (SPEC
//! 18.11).

use trunkline_pool::explain::IdleFilter;
use trunkline_pool::interface::{EventKind, words};
use trunkline_pool::state::Generation;
use trunkline_pool::view::{ByWhom, UnknownServer, Unmatched};

use super::SessionView;
use crate::driver::EntryCell;
use crate::events::EventSubject;
use crate::session::session_core::SessionCore;

impl SessionCore {
    /// Warns of the patterns that match nothing of what a server listed: of those of its
    /// configuration once for all sessions.
    pub(crate) fn warn_of_unmatched(
        &self,
        (cell, generation): (&EntryCell, Generation),
        unmatched: &[Unmatched],
    ) {
        let of = |by: ByWhom| -> Vec<Unmatched> {
            unmatched.iter().filter(|it| it.by == by).cloned().collect()
        };
        let about = EventSubject::entry(&cell.named, generation);
        for it in self.driver.warned.anew(&cell.server, &of(ByWhom::Server)) {
            self.warn(None, &about, it.message(&cell.server));
        }
        for it in self.warned.patterns.anew(&cell.server, &of(ByWhom::Session)) {
            self.warn(Some(self), &about, it.message(&cell.server));
        }
    }

    /// Warns of the servers that its filters name and nobody knows, once any server is known.
    pub(crate) fn warn_of_unknown_servers(&self) {
        for it in self.warned.servers.anew("", &self.unknown_servers()) {
            self.warn(Some(self), &EventSubject::default(), it.message());
        }
    }

    fn warn(&self, session: Option<&SessionCore>, about: &EventSubject, message: String) {
        let fields = [("code", words::warning_code::FILTER.into()), ("message", message.into())];
        let told = session.map(|session| &session.recipient);
        self.driver.hub.publish(EventKind::Warning, told, about, &fields);
    }

    /// The servers that its filters and marks name, and nobody knows. A pool that has none yet is
    /// still to be told of them.
    fn unknown_servers(&self) -> Vec<UnknownServer> {
        let options = self.options();
        if !options.has_filters() {
            return Vec::new();
        }
        let mut known = self.config.running().all_names();
        known.extend(self.config.claimed_names());
        known.extend(self.own_names());
        if known.is_empty() {
            return Vec::new();
        }
        UnknownServer::all(&options, known.iter().map(|name| &**name))
    }

    /// What of its filters does nothing, and has to do with that server, or with one that it is
    /// mistaken for.
    pub(crate) fn idle_filters(&self, view: &SessionView, server: &str) -> Vec<IdleFilter> {
        let patterns = view.sight(server).into_iter().flat_map(|sight| {
            sight.unmatched().into_iter().map(|it| IdleFilter::Pattern(server.to_owned(), it))
        });
        let concerns =
            |it: &UnknownServer| it.server == server || it.meant.as_deref() == Some(server);
        let servers = self.unknown_servers().into_iter().filter(concerns).map(IdleFilter::Server);
        patterns.chain(servers).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::events::Warned;

    /// SPEC 18.11: each is told once, and again when it was mended meanwhile; servers do not mix.
    #[test]
    fn what_is_so_is_told_once() {
        let warned = Warned::default();
        let rounds: [(&str, &[u8], &[u8]); 7] = [
            ("s", &[1, 2], &[1, 2]),
            ("s", &[1, 2], &[]),
            ("t", &[1], &[1]),
            ("s", &[2, 3], &[3]),
            ("s", &[1], &[1]),
            ("s", &[], &[]),
            ("s", &[1], &[1]),
        ];
        for (server, now, told) in rounds {
            assert_eq!(warned.anew(server, now), told, "{server} {now:?}");
        }
    }
}
