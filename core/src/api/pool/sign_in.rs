//! Signing in to remote servers (SPEC 15.3).

use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::gates::Facts;
use trunkline_pool::interface::words;
use trunkline_pool::options::SignInOptions;
use trunkline_pool::state::Gate;

use super::{Pool, PoolCore};
use crate::auth::{Author, Credentials, NO_ADDRESS};
use crate::driver::server_config::ResolvedServer;
use crate::driver::{Authority, recheck};
use crate::session::demand::follow::follow_together;
use crate::session::session_core::SessionCore;
use crate::session::specs::check_switched_on;
use crate::{Error, ErrorCode, Result};

impl Pool {
    /// Begins to sign in to a remote server: finds the authorization server that it trusts, and
    /// gives the address that a person has to visit, as `{v, server, url, expires_in_ms}`. A
    /// sign-in to the same server that was asked for before is over with it.
    ///
    /// What the server asked for last is asked for: after `auth_required` with `missing: scope`, a
    /// token for that and for what there was. The library opens no browser and listens on no port:
    /// the host shows the address, and gives the address that the person was redirected to to
    /// [`finish_sign_in`](Self::finish_sign_in). Nothing is begun twice, and nothing by itself.
    ///
    /// Dropping the future leaves no sign-in, or one that nobody finishes; it is over with the
    /// next.
    ///
    /// # Errors
    /// `not_admitted` for a server that may not run: nothing is asked of it; `invalid_argument` for
    /// one that the pool does not know, one that is not signed in to, or without a redirect;
    /// `protocol` when the server or an authorization server breaks a rule (`detail.refused`:
    /// `address`, `issuer`, `resource`, `pkce`, `metadata`); `auth_required` when there is nothing
    /// to sign in to; `connect_failed`, `timeout`, `limit`, `closing`, `closed`, `forked`.
    pub async fn sign_in(&self, server: &str, options: &SignInOptions) -> Result<Value> {
        let (driver, options) = (self.checked()?.clone(), options.clone());
        let (pool, name) = (self.0.clone(), Box::<str>::from(server));
        let ordinal = driver.sign_ins.ordinal();
        let begun = driver.spawn(async move {
            let credentials = pool.admitted_credentials(&name).await?;
            pool.driver.sign_ins.begin(ordinal, credentials, &options).await
        });
        let begun = begun.await;
        let (url, time) = begun.unwrap_or_else(|_| Err(died()))?;
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Ok(json!({ "v": 1, "server": server, "url": url, "expires_in_ms": time }))
    }

    /// Ends a sign-in with the whole address that the person was redirected to, as `{v, server}`.
    /// The server is then connected to for those who hold or want it, and what is connected is
    /// listed again. With a file of tokens it says too whether it was `stored`; what is not is
    /// there as long as the pool, and `error` says why.
    ///
    /// An address that belongs to no sign-in, or that somebody else than the authorization server
    /// made, changes nothing. Dropping the future leaves it open whether the sign-in succeeded.
    ///
    /// # Errors
    /// `invalid_argument` when it belongs to no sign-in that is under way, `not_admitted` when what
    /// it was begun for may not run any more, whatever has its name by then (`detail.reason`
    /// `removed` when nothing is of that configuration), which leaves the sign-in as it was,
    /// `protocol` (`detail.refused`: `issuer`, `redirect`, `token`), `auth_required` when the
    /// person or the authorization server refused, `connect_failed`, `timeout`, `limit`, `closing`,
    /// `closed`, `forked`.
    pub async fn finish_sign_in(&self, redirect_url: &str) -> Result<Value> {
        let (driver, url) = (self.checked()?.clone(), redirect_url.to_owned());
        let pool = self.0.clone();
        let finished = driver.spawn(async move {
            if let Some(credentials) = pool.driver.sign_ins.credentials_of(&url) {
                pool.check_lets_in(&credentials).await?;
            }
            let (credentials, unkept) = pool.driver.sign_ins.finish(&url).await?;
            pool.let_in(&credentials);
            Ok((credentials.server().clone(), unkept))
        });
        let (server, unkept) = finished.await.unwrap_or_else(|_| Err(died()))?;
        let mut report = json!({ "v": 1, "server": &*server });
        if driver.context.store().is_some() {
            report["stored"] = unkept.is_none().into();
        }
        if let Some(error) = unkept {
            report["error"] = error.to_json();
        }
        Ok(report)
    }

    /// Forgets what was signed in for a server, and a sign-in that is under way, also while it is
    /// being finished, as `{v, server, signed_out}`. Connections that stand send nothing any more,
    /// so that their server refuses the next message.
    ///
    /// # Errors
    /// `invalid_argument` for a server that the pool does not know, `store` when it is forgotten
    /// here and still in the file of tokens, `closing`, `closed`, `forked`.
    pub async fn sign_out(&self, server: &str) -> Result<Value> {
        let driver = self.checked()?.clone();
        let credentials = self.0.credentials(server)?;
        let (work, ordinal) = (driver.clone(), driver.sign_ins.ordinal());
        let forgotten =
            driver.spawn(async move { work.sign_ins.sign_out(ordinal, &credentials).await }).await;
        let signed_out = forgotten.unwrap_or_else(|_| Err(died()))?;
        Ok(json!({ "v": 1, "server": server, "signed_out": signed_out }))
    }

    fn checked(&self) -> Result<&Arc<crate::driver::Driver>> {
        self.0.driver.check_process()?;
        self.0.driver.check_open()?;
        Ok(&self.0.driver)
    }
}

impl PoolCore {
    /// The credentials of a server that may run now. Everything is checked again that is checked
    /// before a connection: a sign-in sends to it as one does (S-02).
    ///
    /// # Errors
    /// `not_admitted` with the reason, and those of [`credentials`](Self::credentials).
    async fn admitted_credentials(&self, server: &str) -> Result<Arc<Credentials>> {
        self.config.check_admitted(server)?;
        let (spec, authority) = self.current(server)?;
        let credentials = self.credentials_of(server, &spec, authority.author())?;
        check_again(server, &spec, &authority).await?;
        Ok(credentials)
    }

    /// Whether these credentials let in something that may run now. Everything is checked again as
    /// when a sign-in is [begun](Self::admitted_credentials). They are one configuration's: what
    /// else has its name by now neither lets it in nor keeps it out.
    ///
    /// # Errors
    /// `not_admitted`: why what they let in is kept out; if there is nothing, what is decided of
    /// the name, else `removed`.
    async fn check_lets_in(&self, credentials: &Arc<Credentials>) -> Result<()> {
        let mut refused = None;
        for (name, spec, authority) in self.let_in_by(credentials) {
            let by_name = self.driver.gates().decide(&Facts::of_name(&name));
            let gate = by_name.and(authority.gate()).check();
            let asked = match gate.map_err(|error| error.with_server(&*name)) {
                Ok(()) => check_again(&name, &spec, &authority).await,
                Err(error) => Err(error),
            };
            match asked {
                Ok(()) => return Ok(()),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        let server = credentials.server();
        match refused {
            Some(error) => Err(error),
            None => self.config.check_admitted(server).and_then(|()| Err(replaced(server))),
        }
    }

    /// What is made with these credentials and may be begun: of the pool's servers, of what live
    /// sessions have, and of what is held; by its name and whose word it runs by.
    fn let_in_by(
        &self,
        credentials: &Arc<Credentials>,
    ) -> Vec<(Box<str>, Arc<ServerSpec>, Authority)> {
        let mut found = Vec::new();
        let mut note = |name: &str, spec: &Arc<ServerSpec>, authority: Authority| {
            let whose = (&**spec, authority.author());
            if self.driver.context.has(credentials, &name.into(), whose) {
                found.push((name.into(), spec.clone(), authority));
            }
        };
        let sessions = self.sessions.live_sessions();
        let theirs = sessions.iter().flat_map(|session| session.core().apart_from_pool());
        for (name, configured) in self.config.servers().into_iter().chain(theirs) {
            note(&name, configured.spec(), configured.authority.clone());
        }
        for (_, cell) in self.driver.entries().iter().filter(|(row, _)| row.refs > 0) {
            note(&cell.server, &cell.spec, self.driver.authority(cell.key));
        }
        found
    }

    /// What a server is, and by what it runs: the pool's own configuration of it, else what a
    /// session has of that name. What is not held any more is none, though it may be draining.
    fn current(&self, server: &str) -> Result<(Arc<ServerSpec>, Authority)> {
        let of = |configured: Arc<ResolvedServer>| {
            (configured.spec().clone(), configured.authority.clone())
        };
        let missing = match self.config.configured(server) {
            Ok(configured) => return Ok(of(configured)),
            Err(error) => error,
        };
        let sessions = self.sessions.live_sessions();
        let mut theirs = sessions.iter().map(|it| it.core().either_spec(server));
        if let Some(Ok(configured)) = theirs.find(Result::is_ok) {
            return Ok(of(configured));
        }
        // Of a session that is closed and may come back.
        let entries = self.driver.entries();
        let mut held = entries.iter().rev().filter(|(row, _)| row.refs > 0);
        if let Some((_, cell)) = held.find(|(_, cell)| &*cell.server == server) {
            return Ok((cell.spec.clone(), self.driver.authority(cell.key)));
        }
        let is_known = missing.detail().get("reason") != Some(&words::gate::NOT_CONFIGURED.into());
        Err(if is_known { missing } else { unknown(server) })
    }

    /// The credentials of a server that the pool has configured, or had and something of it is
    /// there.
    fn credentials(&self, server: &str) -> Result<Arc<Credentials>> {
        let entries = self.driver.entries();
        let (spec, author) = match self.current(server) {
            Ok((spec, authority)) => (spec, authority.author()),
            Err(_) => {
                let left = entries.iter().rev().find(|(_, cell)| &*cell.server == server);
                let (_, cell) = left.ok_or_else(|| unknown(server))?;
                (cell.spec.clone(), cell.author)
            }
        };
        self.credentials_of(server, &spec, author)
    }

    fn credentials_of(
        &self,
        server: &str,
        spec: &ServerSpec,
        author: Author,
    ) -> Result<Arc<Credentials>> {
        let credentials = self.driver.context.of(&server.into(), spec, author);
        credentials.ok_or_else(|| {
            no_server(server, "a server of this transport is not signed in to")
                .with_hint(NO_ADDRESS)
        })
    }

    /// There are others in these credentials: those who wait for what they let in get it.
    fn let_in(&self, credentials: &Arc<Credentials>) {
        self.driver.credentials_changed(credentials);
        let sessions = self.sessions.live_sessions();
        let cores: Vec<_> = sessions.iter().map(|session| session.core().clone()).collect();
        cores.iter().for_each(|session| session.want_again(credentials));
        follow_together(&cores);
    }
}

impl SessionCore {
    /// The servers that it has beside those of the pool: its own, and what it keeps of the pool's.
    fn apart_from_pool(&self) -> Vec<(Box<str>, Arc<ResolvedServer>)> {
        let own = self.own_names().into_iter();
        let own =
            own.filter_map(|name| self.own_server(&name).map(|configured| (name, configured)));
        let kept = self.kept.as_ref().map(|_| self.servers()).unwrap_or_default();
        own.chain(kept).collect()
    }
}

/// Whether its configuration lets a server run, and what the warrant says that it runs by, from
/// what the world is now.
async fn check_again(server: &str, spec: &ServerSpec, authority: &Authority) -> Result<()> {
    check_switched_on(server, spec)?;
    let Some(warrant) = authority.warrant() else { return Ok(()) };
    let gate = recheck(warrant).await.ok_or_else(died)?;
    gate.and_then(Gate::check).map_err(|error| error.with_server(server))
}

fn replaced(server: &str) -> Error {
    let message = "nothing runs any more by the configuration that the sign-in was begun for";
    let error = Error::new(ErrorCode::NotAdmitted, message).with_server(server);
    let error = error.with_detail("reason", words::gate::REMOVED);
    error.with_hint("begin another sign-in, for the configuration that there is now")
}

fn unknown(server: &str) -> Error {
    no_server(server, "the pool knows no server of that name")
}

fn no_server(server: &str, message: &str) -> Error {
    let error = Error::new(ErrorCode::InvalidArgument, message).with_server(server);
    error.with_detail("path", "server")
}

fn died() -> Error {
    Error::new(ErrorCode::Internal, "the sign-in died").with_detail("place", "auth")
}
