//! A message on its way to the server, and what it is for.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde::Deserialize;

use super::body::SendStage;
use super::errors::access::RequestPurpose;
use super::http_session::HttpSession;
use crate::transport::FrameKind;

/// A message and how far it is.
pub(super) struct Post {
    /// Those of a message of the modern era.
    pub headers: Option<HeaderMap>,
    pub bytes: Bytes,
    pub kind: FrameKind,
    pub way: Arc<SendStage>,
}

impl Post {
    /// The method that it names; a reply has none.
    pub(super) fn method(&self) -> Option<Cow<'_, str>> {
        #[derive(Deserialize)]
        struct Head<'a> {
            #[serde(borrow)]
            method: Cow<'a, str>,
        }
        serde_json::from_slice::<Head>(&self.bytes).ok().map(|head| head.method)
    }

    /// Whether the server is where it was if it takes this twice (SPEC 18.6).
    pub(super) fn changes_nothing(&self) -> bool {
        self.method().is_some_and(|method| {
            matches!(&*method, "initialize" | "server/discover" | "ping")
                || method.ends_with("/list")
        })
    }

    /// What it is for. It is read once more, since it was refused.
    pub(super) fn purpose(&self, channel: &HttpSession) -> RequestPurpose {
        match self.method().as_deref() {
            Some("initialize" | "notifications/initialized" | "server/discover")
                if channel.is_connecting() =>
            {
                RequestPurpose::Opening
            }
            Some("tools/list") => RequestPurpose::Tools,
            Some(method) if method.ends_with("/list") => RequestPurpose::List,
            Some(_) | None => RequestPurpose::Call,
        }
    }
}
