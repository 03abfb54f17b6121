//! What was not heard between two streams: the lists are read again, but not as often as streams
//! can end.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::Instant;

use crate::transport::http::http_session::HttpSession;

/// Between two times that lists are read again for this reason. A server that ends its streams all
/// the time must not be listed all the time.
const RELIST_INTERVAL: Duration = Duration::from_secs(30);

/// The gaps of one connection.
#[derive(Debug, Default)]
pub(in crate::transport::http) struct Gaps {
    made_up: Option<Instant>,
    is_owed: bool,
}

impl Gaps {
    /// Something may not have been heard.
    pub(in crate::transport::http) fn note(&mut self) {
        self.is_owed = true;
    }

    /// Makes up for what was missed, when it is time. Meant to run beside what follows the stream;
    /// never ends.
    pub(in crate::transport::http) async fn make_up(
        &mut self,
        channel: &HttpSession,
    ) -> Infallible {
        if self.is_owed {
            if let Some(made_up) = self.made_up {
                tokio::time::sleep_until(made_up + RELIST_INTERVAL).await;
            }
            self.made_up = Some(Instant::now());
            self.is_owed = false;
            if let Ok(inbound) = channel.inbound() {
                inbound.gap();
            }
        }
        std::future::pending().await
    }
}
