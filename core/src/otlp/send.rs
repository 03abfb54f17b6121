//! How batches are sent: one request after another, each within its time and before the end of the
//! exporter.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;

use super::export::{Export, internal};
use crate::net::http_client::plain;
use crate::net::proxies::proxy_of;
use crate::net::tls::tls;
use crate::{Error, ErrorCode, Result};

type ExportResponse = std::result::Result<Response<Bytes>, HttpError>;

/// What both exporters send with.
#[derive(Clone, Debug)]
pub(super) struct Sender(pub(super) Arc<Sending>);

pub(super) struct Sending {
    client: reqwest::Client,
    /// What the client works on: in the threads of the providers, which have no runtime. Present
    /// until drop.
    runtime: Option<tokio::runtime::Runtime>,
    timeout: Duration,
    deadline: watch::Receiver<Option<Instant>>,
    losses: Arc<Losses>,
}

/// What was not taken.
#[derive(Default)]
pub(super) struct Losses {
    /// Requests.
    pub(super) count: AtomicU64,
    /// Whether the last was one: of those in a row the first is logged.
    is_losing: AtomicBool,
}

impl Sending {
    pub(super) fn new(
        (to, address): (&Export, &Url),
        deadline: watch::Receiver<Option<Instant>>,
        losses: Arc<Losses>,
    ) -> Result<Sending> {
        let no_trust = |why: String| {
            let message = format!("there is no TLS to be had for telemetry: {why}");
            Error::new(ErrorCode::ConnectFailed, message)
        };
        let builder = plain(tls().map_err(no_trust)?)
            // Seconds are between two requests, and nothing is open meanwhile.
            .pool_max_idle_per_host(0);
        let builder = if proxy_of(address)?.is_some() { builder } else { builder.no_proxy() };
        let client = builder.build().map_err(|error| internal(&error.without_url()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = Some(runtime.map_err(|error| internal(&error))?);
        Ok(Sending { client, runtime, timeout: to.timeout, deadline, losses })
    }

    fn send(&self, request: Request<Bytes>) -> ExportResponse {
        let runtime = self.runtime.as_ref().ok_or("the exporter has ended")?;
        let sent = runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.wait_until_over() => Err("the exporter ends".into()),
                sent = tokio::time::timeout(self.timeout, self.exchange(request)) => match sent {
                    Ok(sent) => sent,
                    Err(_) => Err("it took too long".into()),
                },
            }
        });
        let why: Option<HttpError> = match &sent {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(answer.status().to_string().into()),
            Err(error) => Some(error.to_string().into()),
        };
        let was_losing = self.losses.is_losing.swap(why.is_some(), Ordering::Relaxed);
        if let Some(why) = why {
            self.losses.count.fetch_add(1, Ordering::Relaxed);
            if !was_losing {
                tracing::warn!(%why, "telemetry was lost");
            }
        }
        sent
    }

    async fn exchange(&self, request: Request<Bytes>) -> ExportResponse {
        let mut answer =
            self.client.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
        let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err("its answer is too long".into());
            }
            body.extend_from_slice(&chunk);
        }
        let mut answer = Response::new(body.into());
        (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
        Ok(answer)
    }

    /// Waits until nothing may be sent any more.
    async fn wait_until_over(&self) {
        let mut deadline = self.deadline.clone();
        let known = deadline.wait_for(Option::is_some).await.ok().and_then(|known| *known);
        // Without one its sender is gone, and nobody wants anything sent.
        if let Some(known) = known {
            tokio::time::sleep_until(known).await;
        }
    }
}

/// A receiver answers with a count of what it refused, if anything.
const ANSWER_BYTES_MAX: usize = 64 << 10;

impl HttpClient for Sender {
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = ExportResponse> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        // The thread is the provider's own, which has nothing else to do.
        Box::pin(async move { self.0.send(request) })
    }
}

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sending")
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // Dropped as it is, it would panic where a host drops this inside of its own runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
