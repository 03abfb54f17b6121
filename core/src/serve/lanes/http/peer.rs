//! Who is at the other side of a connection.

use std::sync::{Mutex, PoisonError};

use crate::serve::lane::Principal;
use crate::serve::lanes::front::Front;
use crate::serve::lanes::quotas::{QuotaKind, Seat};

/// The other side of a connection.
pub(in crate::serve::lanes) struct Peer {
    /// Who it is, where the system says so.
    pub user: Option<Principal>,
    /// The share of the one whose requests it carries.
    seat: Mutex<Option<Seat>>,
}

impl Peer {
    /// One that has to show a token.
    pub(in crate::serve::lanes) fn of_port() -> Peer {
        Peer { user: None, seat: Mutex::new(None) }
    }

    /// One that the system names; without a seat it has too many connections.
    pub(in crate::serve::lanes) fn of_socket(user: Principal, seat: Option<Seat>) -> Peer {
        Peer { user: Some(user), seat: Mutex::new(seat) }
    }

    /// Counts the connection as one of this principal's, if that has room for it.
    pub(super) fn is_seated(&self, front: &Front, who: &Principal) -> bool {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if seat.as_ref().is_some_and(|seat| seat.who() == who) {
            return true;
        }
        *seat = front.quotas.take(who, QuotaKind::Connections, 1);
        seat.is_some()
    }
}
