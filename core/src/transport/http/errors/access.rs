//! How far a refusal for want of credentials reaches: to its request alone, or to the connection
//! (SPEC 8.4, 18.4).

use std::sync::atomic::{AtomicU32, Ordering};

use reqwest::StatusCode;

/// So many requests in a row that are refused with 401 say that the connection is let in no more.
const REFUSED_MAX: u32 = 3;

/// What a refused request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport::http) enum RequestPurpose {
    /// To open the connection.
    Opening,
    /// The list of tools.
    Tools,
    /// Another list.
    List,
    /// Anything else: the wish of one caller.
    Call,
}

/// Whether what the connection sends is still let in.
#[derive(Debug, Default)]
pub(in crate::transport::http) struct AccessState {
    /// Requests in a row that were refused with 401.
    refused: AtomicU32,
}

impl AccessState {
    /// A request succeeded.
    pub(in crate::transport::http) fn taken(&self) {
        self.refused.store(0, Ordering::Relaxed);
    }

    /// A request was refused for want of credentials; whether that ends the connection.
    pub(in crate::transport::http) fn refused(
        &self,
        status: StatusCode,
        purpose: RequestPurpose,
    ) -> bool {
        let is_unknown = status == StatusCode::UNAUTHORIZED;
        let in_a_row = match is_unknown {
            true => self.refused.fetch_add(1, Ordering::Relaxed).saturating_add(1),
            false => 0,
        };
        match purpose {
            RequestPurpose::Opening | RequestPurpose::Tools => true,
            RequestPurpose::List => is_unknown,
            RequestPurpose::Call => in_a_row >= REFUSED_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 4.4, 8.4, 18.4: what the first refusal for each purpose ends.
    #[test]
    fn a_refusal_ends_the_connection_where_that_is_of_no_use_without_it() {
        for (purpose, status, ends) in [
            (RequestPurpose::Opening, 401, true),
            (RequestPurpose::Opening, 403, true),
            (RequestPurpose::Tools, 401, true),
            (RequestPurpose::Tools, 403, true),
            (RequestPurpose::List, 401, true),
            (RequestPurpose::List, 403, false),
            (RequestPurpose::Call, 401, false),
            (RequestPurpose::Call, 403, false),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(
                AccessState::default().refused(status, purpose),
                ends,
                "{purpose:?} {status}"
            );
        }
    }

    /// SPEC 18.4: the third call in a row that is refused with 401.
    #[test]
    fn calls_in_a_row_that_are_refused_end_the_connection() {
        let (unknown, forbidden) = (StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN);
        let standing = AccessState::default();
        let refused = |status| standing.refused(status, RequestPurpose::Call);
        assert!(!refused(unknown) && !refused(unknown));
        standing.taken();
        assert!(!refused(unknown) && !refused(unknown));
        assert!(!refused(forbidden), "it says that the credentials are known");
        assert!(refused(unknown));
    }
}
