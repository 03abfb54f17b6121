//! Accepting tools whose definition changed (SPEC 7.6).
//!
//! A digest that is accepted already is accepted again, so that two people may decide at once.

use tokio::sync::oneshot;
use trunkline_pool::state::PoolInput;
use trunkline_pool::text::digest_from_hex;

use super::{KEEPING_WAIT_MAX, Pool};
use crate::driver::TicketReply;
use crate::{Error, ErrorCode, Result};

impl Pool {
    /// Accepts the definition of a tool that is kept back: from then on it is listed and can be
    /// called, in every session and through every later connection of the same configuration; also
    /// while its server is not connected. Of a server that needed approval it is accepted in later
    /// processes too, with the approval: a save that fails is a `warning`, and takes a second here
    /// at the most. `tool` is the server's own name, `digest` is `difference.to` of the
    /// `tool_quarantined` event (or of `status`), so that what is accepted is what was shown.
    /// Accepting again does nothing.
    ///
    /// Dropping the future leaves it open whether the tool was accepted.
    ///
    /// # Errors
    /// `stale_approval` when the tool has changed again since, `tool_not_found` when the server
    /// lists no tool of that name now or did last, `invalid_argument` for a server that the pool
    /// never saw or a digest that is none (`detail.path`), `limit` (`remembered_tools`), `closing`,
    /// `closed`, `forked`.
    pub async fn accept_tool(&self, server: &str, tool: &str, digest: &str) -> Result<()> {
        let driver = &self.0.driver;
        driver.check_process()?;
        driver.check_open()?;
        let accepted = async {
            let digest = digest_from_hex(digest)
                .ok_or_else(|| wrong("digest", "a digest has 64 hex digits, in lower case"))?;
            let number = driver.known_server(server);
            let number =
                number.ok_or_else(|| wrong("server", "the pool knows no server of that name"))?;
            let (send, receive) = oneshot::channel();
            let question = |ticket, _: &mut _| PoolInput::AcceptTool {
                ticket,
                server: number,
                tool: tool.into(),
                digest,
            };
            driver.ask(question, Box::new(move |answered| drop(send.send(answered))));
            match receive.await {
                Ok(TicketReply::ToolAccepted) => {
                    self.0.config.accepted_is_kept(KEEPING_WAIT_MAX).await;
                    Ok(())
                }
                Ok(TicketReply::Refused(error)) => Err(error),
                Ok(_) | Err(_) => Err(Error::new(ErrorCode::Internal, "the pool gave no answer")),
            }
        };
        accepted.await.map_err(|error| error.with_server(server))
    }
}

fn wrong(path: &str, message: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path)
}
