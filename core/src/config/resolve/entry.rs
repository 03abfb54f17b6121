//! One entry of the sources on its way to a server that runs: asked about, decided, expanded (SPEC
//! 10.5).
//!
//! It runs under the lock of what is desired, so nobody is called or waited for: what the host has
//! to answer and what has to be looked up is noted.

use std::ffi::OsString;
use std::sync::Arc;

use serde_json::json;
use trunkline_pool::approvals::{Book, Decision, Declared};
use trunkline_pool::catalog_cache::WrittenHash;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::expand::{self, Commands};
use trunkline_pool::gates::{
    ApprovalState, Facts, Gates, ServerPresence, ServerSwitch, Trust, Validity,
};
use trunkline_pool::layers::{Scope, SelfGrant, SourceEntry, Winner};
use trunkline_pool::options::{HandlerKind, PoolOptions};
use trunkline_pool::settings::{Input, Template};
use trunkline_pool::state::{Gate, GateReason};

use super::answers::{Answers, HostQuestion, Lack};
use super::hook::Hooked;
use super::launch_preview::{Command, LaunchPreview};
use super::lookup_cell::{LookedFile, LookedSight};
use super::resolved_entry::{Outcome, ResolvedEntry};
use crate::Result;
use crate::config::Config;
use crate::config::types::{OnUnresolved, PendingOn, RefreshScope, ServerVerdict};
use crate::driver::Authority;
use crate::driver::server_config::ResolvedServer;
use crate::host_env::{HostVariables, runners};

/// The member of an entry in the pool's own form that names a file of variables.
const ENV_FILE: &str = "env_file";

/// What a pass looks with.
pub(crate) struct Resolver<'a> {
    pub(crate) config: &'a Arc<Config>,
    pub(crate) variables: HostVariables,
    /// Where the host looks for programs.
    pub(crate) path: Option<OsString>,
    pub(crate) gates: &'a Gates,
    /// Whether the workspace is trusted.
    pub(crate) trusted: bool,
    pub(crate) fresh: RefreshScope,
    /// What was decided, as far as it can be read.
    pub(crate) book: &'a Book,
    /// Whether that is known.
    pub(crate) knows_book: bool,
}

impl Resolver<'_> {
    /// Looks at the entry that counts for a name.
    pub(crate) fn look(
        &self,
        name: &str,
        winner: &Winner,
        inputs: &[Input],
        earlier: Option<ResolvedEntry>,
        answers: &mut Answers,
    ) -> Outcome {
        let written = winner.defined.entry.clone();
        let asks = !self.is_untrusted(winner.source.scope());
        if !asks {
            answers.keep([&HostQuestion::Entry((*winner.source).clone(), name.into())]);
        }
        let entry = match asks.then(|| self.hooked(name, winner, answers)) {
            None | Some(Ok(Hooked::Kept)) => written,
            Some(Ok(Hooked::Altered(entry))) => entry,
            Some(Ok(Hooked::Dropped)) => return Outcome::Dropped,
            Some(Err(Lack)) => {
                let mut known = self.known(winner, written, inputs, earlier);
                known.is_pending = false;
                answers.keep(&known.asks);
                let before = self.before(&known);
                return Outcome::Known(ServerVerdict::Wait(PendingOn::Host, before), known.into());
            }
        };
        let mut known = self.known(winner, entry, inputs, earlier);
        let verdict = match self.judge(name, inputs, &mut known, answers) {
            Err(awaited) => ServerVerdict::Wait(awaited, self.before(&known)),
            Ok(Ok(verdict)) => verdict,
            Ok(Err(error)) => ServerVerdict::Invalid(error, self.before(&known)),
        };
        answers.keep(&known.asks);
        Outcome::Known(verdict, known.into())
    }

    /// What the host's hook makes of an entry of settings (SPEC 10.8).
    fn hooked(
        &self,
        name: &str,
        winner: &Winner,
        answers: &mut Answers,
    ) -> std::result::Result<Hooked, Lack> {
        let SourceEntry::Template(template) = &winner.defined.entry else {
            return Ok(Hooked::Kept);
        };
        if !self.config.driver.options.handlers.has(HandlerKind::Entries) {
            return Ok(Hooked::Kept);
        }
        let source = &winner.source;
        let question = HostQuestion::Entry((**source).clone(), name.into());
        let params = || {
            let mut configuration = template.configuration().clone();
            configuration.extend(template.env_file().map(|file| (ENV_FILE.into(), file.into())));
            json!({ "source": source.to_string(), "configuration": configuration })
        };
        let answer = answers.of(&question, name, Some(template), params)?;
        Ok(Hooked::of(name, template, &answer))
    }

    /// What becomes of what the name had, while nothing right takes its place.
    fn before(&self, known: &ResolvedEntry) -> OnUnresolved {
        match self.is_untrusted(known.winner.source.scope()) {
            true => OnUnresolved::Ends,
            false => OnUnresolved::Stays,
        }
    }

    /// What is known of it, taken over from before where the entry is the same.
    fn known(
        &self,
        winner: &Winner,
        entry: SourceEntry,
        inputs: &[Input],
        earlier: Option<ResolvedEntry>,
    ) -> ResolvedEntry {
        let (winner, trusted) = (winner.clone(), self.trusted);
        let declared = match &entry {
            SourceEntry::Template(template) if winner.source.scope().is_gated() => {
                Declared::of(template, inputs)
            }
            _ => Declared::default(),
        };
        let Some(mut earlier) = earlier else {
            let (sighted, variables) = (LookedSight::default(), LookedFile::default());
            let (ready, before, is_pending, asks, hides) = (None, None, false, Vec::new(), None);
            return ResolvedEntry {
                winner,
                entry,
                trusted,
                declared,
                sighted,
                variables,
                ready,
                before,
                is_pending,
                asks,
                hides,
            };
        };
        let is_same = earlier.winner.source == winner.source
            && is_same(&earlier.entry, &entry)
            && earlier.declared == declared
            && earlier.trusted == trusted;
        let is_stale = match self.fresh {
            RefreshScope::No => false,
            RefreshScope::Sights => winner.source.scope().is_gated(),
            RefreshScope::Yes => true,
        };
        if !is_same || is_stale {
            earlier.before = earlier.ready.take().or(earlier.before);
            earlier.sighted.mark_stale();
            earlier.variables.mark_stale();
        }
        if !is_same {
            // Nobody decides about what it is no more.
            (earlier.sighted, earlier.is_pending) = (LookedSight::default(), false);
        }
        ResolvedEntry { winner, entry, trusted, declared, ..earlier }
    }

    /// What becomes of it, or what is wrong with it.
    fn judge(
        &self,
        name: &str,
        inputs: &[Input],
        known: &mut ResolvedEntry,
        answers: &mut Answers,
    ) -> std::result::Result<Result<ServerVerdict>, PendingOn> {
        let scope = known.winner.source.scope();
        let trust = match (self.is_untrusted(scope), self.trusted) {
            (true, _) => Trust::Missing,
            (false, true) => Trust::Given,
            (false, false) => Trust::NotNeeded,
        };
        let facts = Facts {
            name,
            presence: ServerPresence::Named,
            validity: Validity::Valid,
            trust,
            switch: ServerSwitch::On,
            approval: ApprovalState::NotNeeded,
        };
        let was_pending = std::mem::replace(&mut known.is_pending, false);
        let template = match &known.entry {
            SourceEntry::Invalid(error) => return Ok(Err(error.clone())),
            // The lists keep it out by its name. Sessions see that it is switched off.
            SourceEntry::Literal(spec) => {
                let spec = spec.clone();
                return Ok(Ok(match (Gates::default().decide(&facts), &known.ready) {
                    (Gate::Open, Some(ready)) => ServerVerdict::Run(ready.clone()),
                    (Gate::Open, None) => ServerVerdict::Run(self.ready(name, known, spec)),
                    (Gate::Shut(reason), _) => ServerVerdict::Shut(reason),
                }));
            }
            SourceEntry::Template(template) => template.clone(),
            _ => return Err(PendingOn::Host),
        };
        let switch = if known.entry.is_disabled() { ServerSwitch::Off } else { ServerSwitch::On };
        // Nothing is looked up for what cannot run whatever is decided.
        let facts = Facts { switch, ..facts };
        if let Gate::Shut(reason) = self.gates.decide(&facts)
            && (known.ready.is_none() || Gates::default().decide(&facts) != Gate::Open)
        {
            return Ok(Ok(ServerVerdict::Shut(reason)));
        }
        let approval = match self.approval(name, scope, &template, known) {
            Ok(Ok(approval)) => approval,
            Ok(Err(error)) => return Ok(Err(error)),
            Err(awaited) => {
                // What was shown of it counts until it is looked up again, or was decided about.
                let decided = known.sighted().and_then(|shown| self.decision(name, shown));
                known.is_pending = was_pending && decided.is_none();
                return Err(awaited);
            }
        };
        let facts = Facts { approval, ..facts };
        let gate = self.gates.decide(&facts);
        // Of what the lists keep out nobody is asked.
        known.is_pending =
            approval == ApprovalState::Pending && gate == Gate::Shut(GateReason::PendingApproval);
        if Gates::default().decide(&facts) != Gate::Open
            && let Gate::Shut(reason) = gate
        {
            return Ok(Ok(ServerVerdict::Shut(reason)));
        }
        if let Some(ready) = &known.ready {
            return Ok(Ok(ServerVerdict::Run(ready.clone())));
        }
        let spec = self.expanded(name, &template, inputs, known, answers)?;
        Ok(spec.map(|spec| ServerVerdict::Run(self.ready(name, known, Arc::new(spec)))))
    }

    /// What was decided of it.
    fn approval(
        &self,
        name: &str,
        scope: Scope,
        template: &Template,
        known: &mut ResolvedEntry,
    ) -> std::result::Result<Result<ApprovalState>, PendingOn> {
        if !scope.is_gated() {
            return Ok(Ok(ApprovalState::NotNeeded));
        }
        let mut is_looked_up = true;
        if known.ready.is_none() {
            // It is expanded with the variables of this pass, and so must be what was decided.
            let looked_up = match expand::look_up(template, &self.variables, self.commands(scope)) {
                Ok(mut looked_up) => {
                    runners::settle(&mut looked_up.spec);
                    (looked_up.into(), self.path.clone())
                }
                Err(error) => {
                    known.sighted = LookedSight::default();
                    return Ok(Err(error));
                }
            };
            is_looked_up = known.sighted.of(looked_up).is_some();
        }
        let sighted = match known.sighted.last() {
            Some(Ok((sighted, _))) => sighted,
            Some(Err(error)) if is_looked_up => return Ok(Err(error.clone())),
            Some(Err(_)) | None => return Err(PendingOn::Files),
        };
        if !self.knows_book {
            return Err(PendingOn::Files);
        }
        Ok(Ok(match self.decision(name, sighted) {
            // What it was is kept out without another look; what it is, is let in by none before.
            Some(Decision::Approved) if !is_looked_up => return Err(PendingOn::Files),
            Some(Decision::Approved) => ApprovalState::Approved,
            Some(Decision::Rejected) => ApprovalState::Rejected,
            None => ApprovalState::Pending,
        }))
    }

    /// The configuration as a server of the pool; what comes to the same as before stays the same.
    fn ready(
        &self,
        name: &str,
        known: &mut ResolvedEntry,
        spec: Arc<ServerSpec>,
    ) -> Arc<ResolvedServer> {
        let scope = known.winner.source.scope();
        let sighted = known.sighted.last().and_then(|sighted| sighted.as_ref().ok());
        let sighted = sighted.filter(|_| scope.is_gated());
        let word = self.word(scope, name, sighted.map(|(sighted, command)| (sighted, command)));
        let written = match &known.entry {
            SourceEntry::Template(template) => WrittenHash::template(template),
            _ => WrittenHash::literal(&spec),
        };
        let is_it = |before: &Arc<ResolvedServer>| {
            before.authority.id() == word.id()
                && *before.spec() == spec
                && before.written() == Some(written)
        };
        let before = known.ready.take().or_else(|| known.before.take());
        let configured = before.filter(is_it).unwrap_or_else(|| {
            let configured =
                ResolvedServer::by(word.clone(), spec.clone(), None, &self.config.driver.options);
            configured.set_written(written);
            configured
        });
        known.ready = Some(configured.clone());
        // It holds secrets, and is read again with the rest.
        known.variables = LookedFile::default();
        configured
    }

    /// The server with every variable in place, and without what it would grant itself.
    fn expanded(
        &self,
        name: &str,
        template: &Template,
        inputs: &[Input],
        known: &mut ResolvedEntry,
        answers: &mut Answers,
    ) -> std::result::Result<Result<ServerSpec>, PendingOn> {
        let scope = known.winner.source.scope();
        let commands = self.commands(scope);
        let needs = expand::needs(template, commands);
        let mut given =
            self.answers(name, &needs, inputs, known, answers).map_err(|Lack| PendingOn::Host)?;
        match expand::env_file(template, &self.variables, commands, &given) {
            Ok(None) => {}
            Ok(Some(file)) => match known.variables.of(file.into()).ok_or(PendingOn::Files)? {
                Ok(says) => given.env_file = says.clone(),
                Err(error) => return Ok(Err(error.clone())),
            },
            Err(error) => return Ok(Err(error)),
        }
        // What leads elsewhere by the time of a connect was not approved so.
        let led_out = known.sighted().map(|it| it.secret_files().to_vec()).unwrap_or_default();
        let expand = || {
            let mut spec = expand::expand(template, &self.variables, commands, &given)?;
            let workspace = &self.config.driver.workspace;
            for value in &mut spec.value_files {
                if scope.is_gated() {
                    value.keep_within(workspace, &led_out);
                }
                value.begin_at(workspace);
            }
            if scope.is_gated() {
                runners::settle(&mut spec);
            }
            for granted in SelfGrant::of(&spec) {
                // Trust in settings grants nothing, in any file and in any workspace.
                if granted == SelfGrant::Trust || scope.is_gated() {
                    granted.revoke(&mut spec);
                }
            }
            Ok(spec)
        };
        Ok(expand())
    }

    pub(crate) fn commands(&self, scope: Scope) -> Commands {
        let options: &PoolOptions = &self.config.driver.options;
        if options.commands && !scope.is_gated() { Commands::Asked } else { Commands::Refused }
    }

    /// On whose word a server of that scope runs. `sighted` is what would run of one that needs
    /// approval.
    fn word(
        &self,
        scope: Scope,
        name: &str,
        sighted: Option<(&LaunchPreview, &Command)>,
    ) -> Authority {
        let warrants = &self.config.warrants;
        match sighted {
            Some(sighted) => Authority::Warrant(warrants.of(self.config.clone(), name, sighted)),
            None if self.needs_trust(scope) => Authority::Warrant(warrants.trust().clone()),
            None => Authority::Host,
        }
    }

    /// Whether servers of that scope need trust: those of the workspace do, whatever a list says
    /// (SPEC 11.4).
    fn needs_trust(&self, scope: Scope) -> bool {
        scope.is_gated() || !self.config.driver.options.untrusted_sources.contains(&scope)
    }

    fn is_untrusted(&self, scope: Scope) -> bool {
        !self.trusted && self.needs_trust(scope)
    }
}

/// Whether two entries mean the same; the very same one is not looked into.
fn is_same(one: &SourceEntry, other: &SourceEntry) -> bool {
    match (one, other) {
        (SourceEntry::Template(one), SourceEntry::Template(other)) => {
            Arc::ptr_eq(one, other) || one == other
        }
        (SourceEntry::Literal(one), SourceEntry::Literal(other)) => {
            Arc::ptr_eq(one, other) || one == other
        }
        (one, other) => one == other,
    }
}
