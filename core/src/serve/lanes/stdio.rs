//! One message a line on stdin and stdout: the client that started this process.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::bounds::LaneBounds;
use super::front::Front;
use super::guard::OriginGuard;
use super::http::sessions::LegacySessions;
use super::lines;
use super::quotas::Quotas;
use crate::Result;
use crate::serve::lane::{Clients, Principal, PrincipalKind, ServedPath};

/// Serves one client until it closes its side.
///
/// A dropped future ends the session.
///
/// # Errors
/// None today: the names of a stdio lane are its own.
pub(in crate::serve) async fn serve(
    clients: Arc<dyn Clients>,
    path: ServedPath,
    bounds: LaneBounds,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) -> Result<()> {
    let quotas = Quotas::new(&bounds);
    let guard = OriginGuard::new(None, &[], &[])?;
    let sessions = LegacySessions::default();
    let front = Arc::new(Front { clients, bounds, guard, tokens: None, quotas, sessions });
    let who = Principal { kind: PrincipalKind::Stdio, name: "stdio".into(), profile: None };
    lines::serve(front, (reader, writer), who, path).await;
    Ok(())
}
