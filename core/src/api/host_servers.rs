//! Servers that the host itself provides to a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trunkline_pool::config::ServerSpec;
use trunkline_pool::options::PoolOptions;

use super::session::Session;
use crate::Result;
use crate::client::Provided;
use crate::driver::Authority;
use crate::driver::server_config::ResolvedServer;
use crate::runtime::handling::Apart;
use crate::transport::HostServer;

impl Session {
    /// Provides a server of the host's own to this session alone: it goes into the session's own
    /// source, from where [`acquire`](Session::acquire) takes it like any other. It is never shared
    /// (SPEC 2.1); each connection with it begins the protocol anew. Providing a name again
    /// replaces it for acquires to come. It is dropped on a thread of the library's that serves
    /// nothing else. Before that the session is over or has another one, its connections are over,
    /// and the leases on it are dropped.
    ///
    /// # Errors
    /// `invalid_config` for a bad name, `closed`, `forked`.
    pub fn provide(&self, server: &str, host: impl HostServer) -> Result<()> {
        let core = self.core();
        core.check()?;
        trunkline_pool::config::check_name(server)?;
        let host = Arc::new(Apart::new("trunkline-host", host));
        core.put_own(server, ResolvedServer::of_host(host, &core.driver.options));
        Ok(())
    }
}

impl ResolvedServer {
    /// The configuration of a server of the host's own, which no other one equals.
    fn of_host(host: Arc<dyn HostServer>, options: &PoolOptions) -> Arc<ResolvedServer> {
        static PROVIDED: AtomicU64 = AtomicU64::new(1);
        let spec = ServerSpec::of_host(PROVIDED.fetch_add(1, Ordering::Relaxed));
        ResolvedServer::by(Authority::Host, Arc::new(spec), Some(Provided(host)), options)
    }
}
