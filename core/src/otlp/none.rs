//! The library without the feature `otlp`: nobody is told, and nothing of this is left in what is
//! built.

use std::borrow::Cow;
use std::sync::Arc;

use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::CallOptions;
use trunkline_pool::state::LossReason;

use crate::Result;
use crate::base::usage::CallEnd;
use crate::client::{CallResult, Callee};

/// Who is told.
pub(crate) struct Observer;

/// A request that nobody watches.
pub(crate) struct Request;

/// A connection that nobody watches.
pub(crate) struct Connected;

impl Observer {
    /// Nobody.
    pub(crate) fn none() -> Observer {
        Observer
    }

    #[inline]
    pub(crate) fn request<'a>(
        &self,
        (_, params): (Callee<'_>, &'a str),
        options: &'a CallOptions,
        _spec: impl FnOnce() -> Option<Arc<ServerSpec>>,
    ) -> (Cow<'a, str>, Cow<'a, CallOptions>, Request) {
        (Cow::Borrowed(params), Cow::Borrowed(options), Request)
    }

    #[inline]
    pub(crate) fn count(&self, _server: &str, _ended: CallEnd) {}

    #[inline]
    pub(crate) fn connected(
        &self,
        _spec: &ServerSpec,
        _version: impl FnOnce() -> String,
    ) -> Connected {
        Connected
    }
}

impl Request {
    #[inline]
    pub(crate) fn ending<D: FnOnce(Result<CallResult>)>(self, done: D) -> D {
        done
    }
}

impl Connected {
    #[inline]
    pub(crate) fn lost(&mut self, _reason: LossReason) {}
}
