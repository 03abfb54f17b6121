//! One entry of the sources on its way to a server that runs: asked about, decided, expanded (SPEC 10.5).
//!
//! It runs under the lock of what is desired, so nobody is called or waited for: what the host has to answer is noted.

use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::approvals::{ApprovalHash, Book, Candidate, Decision, Declared, Root};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::expand::{self, Commands, Needs, Variables};
use trunkline_pool::gates::{Approval, Facts, Gates, Presence, Switch, Trust, Validity};
use trunkline_pool::layers::{Entry, Granted, Scope, Winner};
use trunkline_pool::options::PoolOptions;
use trunkline_pool::settings::{Input, Template};
use trunkline_pool::state::{Gate, GateReason};

use super::hook::Hooked;
use super::questions::{Answer, Answers, Lack, Question, input_params};
use super::running::{Before, Origin, Verdict};
use super::sighted::{Command, Sighted, request};
use super::warrant::{Approved, EntryWarrant};
use crate::Result;
use crate::api::pool::{Configured, PoolCore};
use crate::lookup::{HostVariables, read_env_file};

/// What a pass looks with.
pub(super) struct Sight<'a> {
    pub(super) pool: &'a Arc<PoolCore>,
    pub(super) variables: HostVariables,
    pub(super) gates: &'a Gates,
    /// Whether the workspace is trusted.
    pub(super) trusted: bool,
    pub(super) fresh: Fresh,
    /// What was decided, as far as it can be read.
    pub(super) book: &'a Book,
}

/// How a pass goes about entries that are the same as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fresh {
    /// What was found out counts.
    No,
    /// What needs approval is looked up again.
    Sights,
    /// All are looked up and expanded again.
    Yes,
}

/// What was found out about an entry. As long as the entry is the same, it is not looked at again.
pub(super) struct Known {
    winner: Winner,
    /// What the host's hook made of it.
    entry: Entry,
    trusted: bool,
    /// The inputs that it takes, of one that may need approval.
    declared: Declared,
    /// What would run, of an entry that needs approval.
    sighted: Option<Result<(Sighted, Command)>>,
    /// It, with every variable in place.
    ready: Option<Ready>,
    /// What the name had before: what comes to the same stays the same.
    before: Option<Ready>,
    /// Whether it waits for a decision.
    pub(super) is_pending: bool,
    /// What was asked for its sake.
    asks: Vec<Question>,
}

/// A server that can run.
struct Ready {
    configured: Arc<Configured>,
    /// By what it runs, unless it is the host's own word.
    warrant: Option<Arc<EntryWarrant>>,
}

impl Ready {
    /// It, which may begin from now on as far as its source goes.
    fn open(&self) -> Arc<Configured> {
        if let Some(warrant) = &self.warrant {
            warrant.set(Gate::Open);
        }
        self.configured.clone()
    }
}

/// What an entry came to.
pub(super) enum Outcome {
    /// This, and what was found out.
    Known(Verdict, Box<Known>),
    /// The host dropped it: it is as if no source named it.
    Dropped,
}

impl Sight<'_> {
    /// Looks at the entry that counts for a name.
    pub(super) fn look(
        &self,
        name: &str,
        winner: &Winner,
        inputs: &[Input],
        earlier: Option<Known>,
        answers: &mut Answers,
    ) -> Outcome {
        let written = winner.defined.entry.clone();
        let asks = !self.is_untrusted(winner.source.scope());
        if !asks {
            answers.keep([&Question::Entry((*winner.source).clone(), name.into())]);
        }
        let entry = match asks.then(|| self.hooked(name, winner, answers)) {
            None | Some(Ok(Hooked::Kept)) => written,
            Some(Ok(Hooked::Altered(entry))) => entry,
            Some(Ok(Hooked::Dropped)) => return Outcome::Dropped,
            Some(Err(Lack)) => {
                let mut known = self.known(winner, written, inputs, earlier);
                known.is_pending = false;
                answers.keep(&known.asks);
                let before = self.before(name, &known);
                return Outcome::Known(Verdict::Wait(before), known.into());
            }
        };
        let mut known = self.known(winner, entry, inputs, earlier);
        let verdict = match self.judge(name, inputs, &mut known, answers) {
            Err(Lack) => Verdict::Wait(self.before(name, &known)),
            Ok(Ok(verdict)) => verdict,
            Ok(Err(error)) => Verdict::Invalid(error, self.before(name, &known)),
        };
        if let Verdict::Shut(reason) = verdict {
            known.shut(reason);
        }
        answers.keep(&known.asks);
        Outcome::Known(verdict, known.into())
    }

    /// What becomes of what the name had, while nothing right takes its place: it ends with the trust or the approval that it ran by.
    fn before(&self, name: &str, known: &Known) -> Before {
        if self.is_untrusted(known.winner.source.scope()) {
            return Before::Ends;
        }
        let had = known.ready.as_ref().or(known.before.as_ref());
        let Some(hash) = had.and_then(|had| had.warrant.as_ref()?.hash()) else {
            return Before::Stays;
        };
        let standing = self.book.standing(&self.pool.sources.root, name, hash);
        match standing.map(|standing| standing.decision) {
            Some(Decision::Approved) => Before::Stays,
            Some(Decision::Rejected) => known.shut(GateReason::Rejected),
            None => known.shut(GateReason::PendingApproval),
        }
    }

    /// What is known of it, taken over from before where the entry is the same.
    fn known(
        &self,
        winner: &Winner,
        entry: Entry,
        inputs: &[Input],
        earlier: Option<Known>,
    ) -> Known {
        let (winner, trusted) = (winner.clone(), self.trusted);
        let declared = match &entry {
            Entry::Template(template) if winner.source.scope().is_gated() => {
                Declared::of(template, inputs)
            }
            _ => Declared::default(),
        };
        let Some(mut earlier) = earlier else {
            let (sighted, ready, before, is_pending) = (None, None, None, false);
            let asks = Vec::new();
            return Known {
                winner,
                entry,
                trusted,
                declared,
                sighted,
                ready,
                before,
                is_pending,
                asks,
            };
        };
        let is_same = earlier.winner.source == winner.source
            && is_same(&earlier.entry, &entry)
            && earlier.declared == declared
            && earlier.trusted == trusted;
        let is_stale = match self.fresh {
            Fresh::No => false,
            Fresh::Sights => earlier.sighted.is_some(),
            Fresh::Yes => true,
        };
        if !is_same || is_stale {
            earlier.before = earlier.ready.take().or(earlier.before);
            earlier.sighted = None;
        }
        Known { winner, entry, trusted, declared, ..earlier }
    }

    /// What becomes of it, or what is wrong with it.
    fn judge(
        &self,
        name: &str,
        inputs: &[Input],
        known: &mut Known,
        answers: &mut Answers,
    ) -> std::result::Result<Result<Verdict>, Lack> {
        let scope = known.winner.source.scope();
        let trust = match (self.is_untrusted(scope), self.trusted) {
            (true, _) => Trust::Missing,
            (false, true) => Trust::Given,
            (false, false) => Trust::NotNeeded,
        };
        let facts = Facts {
            name,
            presence: Presence::Named,
            validity: Validity::Valid,
            trust,
            switch: Switch::On,
            approval: Approval::NotNeeded,
        };
        known.is_pending = false;
        let template = match &known.entry {
            Entry::Invalid(error) => return Ok(Err(error.clone())),
            // The lists keep it out by its name, and sessions see by themselves that it is switched off.
            Entry::Literal(spec) => {
                let spec = spec.clone();
                return Ok(Ok(match (Gates::default().decide(&facts), &known.ready) {
                    (Gate::Open, Some(ready)) => Verdict::Run(ready.open()),
                    (Gate::Open, None) => Verdict::Run(self.ready(name, known, spec)),
                    (Gate::Shut(reason), _) => Verdict::Shut(reason),
                }));
            }
            Entry::Template(template) => template.clone(),
            _ => return Err(Lack),
        };
        let switch = if known.entry.is_disabled() { Switch::Off } else { Switch::On };
        // Nothing is looked up for what cannot run whatever is decided.
        let facts = Facts { switch, ..facts };
        if let Gate::Shut(reason) = self.gates.decide(&facts)
            && (known.ready.is_none() || Gates::default().decide(&facts) != Gate::Open)
        {
            return Ok(Ok(Verdict::Shut(reason)));
        }
        let approval = match self.approval(name, scope, &template, known) {
            Ok(approval) => approval,
            Err(error) => return Ok(Err(error)),
        };
        let facts = Facts { approval, ..facts };
        let gate = self.gates.decide(&facts);
        // Of what the lists keep out nobody is asked.
        known.is_pending =
            approval == Approval::Pending && gate == Gate::Shut(GateReason::PendingApproval);
        if Gates::default().decide(&facts) != Gate::Open
            && let Gate::Shut(reason) = gate
        {
            return Ok(Ok(Verdict::Shut(reason)));
        }
        if let Some(ready) = &known.ready {
            return Ok(Ok(Verdict::Run(ready.open())));
        }
        let spec = self.expanded(name, &template, inputs, known, answers)?;
        Ok(spec.map(|spec| Verdict::Run(self.ready(name, known, Arc::new(spec)))))
    }

    /// What was decided of it.
    fn approval(
        &self,
        name: &str,
        scope: Scope,
        template: &Template,
        known: &mut Known,
    ) -> Result<Approval> {
        if !scope.is_gated() {
            return Ok(Approval::NotNeeded);
        }
        let driver = &self.pool.driver;
        if known.ready.is_none() {
            // It is expanded with the variables of this pass, and so must be what was decided.
            known.sighted = None;
        }
        let sighted = known.sighted.get_or_insert_with(|| {
            let with = (&self.variables as &dyn Variables, self.commands(scope));
            Sighted::of_template(
                name,
                (template, &known.declared),
                with,
                (&driver.workspace, &driver.options.inherit_env),
            )
        });
        let hash = match sighted {
            Ok((sighted, _)) => sighted.identity.hash,
            Err(error) => return Err(error.clone()),
        };
        let standing = self.book.standing(&self.pool.sources.root, name, hash);
        Ok(match standing.map(|standing| standing.decision) {
            Some(Decision::Approved) => Approval::Approved,
            Some(Decision::Rejected) => Approval::Rejected,
            None => Approval::Pending,
        })
    }

    /// The configuration as a server of the pool; what comes to the same as before stays the same.
    fn ready(&self, name: &str, known: &mut Known, spec: Arc<ServerSpec>) -> Arc<Configured> {
        let hash = known.hash();
        let needs_warrant = self.needs_warrant(known.winner.source.scope());
        let is_warranted = |ready: &Ready| match &ready.warrant {
            Some(warrant) => needs_warrant && warrant.hash() == hash,
            None => !needs_warrant,
        };
        let before = known.ready.take().or_else(|| known.before.take());
        let before = before.filter(is_warranted);
        // What runs by a warrant goes on by that one: another view of it must not put it out of reach.
        let warrant = before.as_ref().and_then(|ready| ready.warrant.clone());
        let ready = before.filter(|ready| *ready.configured.spec() == spec).unwrap_or_else(|| {
            let options = &self.pool.driver.options;
            let trust = &self.pool.sources.trust;
            let new = || EntryWarrant::new(trust, self.approved(name, known));
            let warrant = needs_warrant.then(|| warrant.unwrap_or_else(new));
            let configured = match &warrant {
                Some(warrant) => Configured::warranted(spec, warrant.clone(), options),
                None => Configured::new(spec, options),
            };
            Ready { configured, warrant }
        });
        let configured = ready.open();
        known.ready = Some(ready);
        configured
    }

    /// What was approved, for the look before each start.
    fn approved(&self, name: &str, known: &Known) -> Option<Approved> {
        let Some(Ok((sighted, command))) = &known.sighted else { return None };
        let (driver, sources) = (&self.pool.driver, &self.pool.sources);
        Some(Approved {
            pool: Arc::downgrade(self.pool),
            approvals: sources.approvals.clone(),
            root: sources.root.clone(),
            name: name.into(),
            hash: sighted.identity.hash,
            file: sighted.file.clone(),
            command: command.clone(),
            workspace: driver.workspace.clone(),
            inherit_env: driver.options.inherit_env.clone(),
        })
    }

    /// Whether servers of that scope run by what is decided of them, and not on the host's own word.
    fn needs_warrant(&self, scope: Scope) -> bool {
        scope.is_gated() || !self.pool.driver.options.untrusted_sources.contains(&scope)
    }

    /// The server with every variable in place, and without what it would grant itself.
    fn expanded(
        &self,
        name: &str,
        template: &Template,
        inputs: &[Input],
        known: &mut Known,
        answers: &mut Answers,
    ) -> std::result::Result<Result<ServerSpec>, Lack> {
        let scope = known.winner.source.scope();
        let commands = self.commands(scope);
        let needs = expand::needs(template, commands);
        let mut given = self.answers(name, &needs, inputs, known, answers)?;
        let mut expand = || {
            let file = expand::env_file(template, &self.variables, commands, &given)?;
            if let Some(file) = file {
                given.env_file = read_env_file(template, &file, &self.pool.driver.workspace)?;
            }
            let mut spec = expand::expand(template, &self.variables, commands, &given)?;
            for granted in Granted::of(&spec) {
                let counts = match granted {
                    Granted::Trust => self.trusted && !scope.is_gated(),
                    Granted::Share => !scope.is_gated(),
                };
                if !counts {
                    granted.revoke(&mut spec);
                }
            }
            Ok(spec)
        };
        Ok(expand())
    }

    /// What the host answered to all that it is asked of one server.
    fn answers(
        &self,
        name: &str,
        needs: &Needs,
        inputs: &[Input],
        known: &mut Known,
        answers: &mut Answers,
    ) -> std::result::Result<expand::Answers, Lack> {
        let mut given = expand::Answers::default();
        let mut lacks = false;
        let source = &known.winner.source;
        let asks = &mut known.asks;
        asks.clear();
        let mut ask = |question: Question, params: Value| {
            let answer = answers.of(&question, name, None, || params);
            asks.push(question);
            answer.unwrap_or_else(|Lack| {
                lacks = true;
                Answer::None
            })
        };
        for id in &needs.inputs {
            let declared = inputs.iter().find(|input| input.id == *id);
            let question = Question::Input((**source).clone(), id.as_str().into());
            if let Answer::Text(value) = ask(question, input_params(source, id, declared)) {
                given.inputs.insert(id.clone(), value);
            }
        }
        for secret in &needs.secrets {
            let params = json!({ "name": secret, "source": source.to_string() });
            let question =
                Question::Secret((**source).clone(), name.into(), secret.as_str().into());
            match ask(question, params) {
                Answer::Text(value) => drop(given.secrets.insert(secret.clone(), value)),
                Answer::Refused => drop(given.refused_secrets.insert(secret.clone())),
                Answer::None => {}
            }
        }
        for command in &needs.commands {
            if let Answer::Text(value) = ask(Question::Command(command.clone()), Value::Null) {
                given.commands.insert(command.clone(), value);
            }
        }
        if lacks { Err(Lack) } else { Ok(given) }
    }

    fn commands(&self, scope: Scope) -> Commands {
        let options: &PoolOptions = &self.pool.driver.options;
        if options.commands && !scope.is_gated() { Commands::Asked } else { Commands::Refused }
    }

    fn is_untrusted(&self, scope: Scope) -> bool {
        !self.trusted && self.needs_warrant(scope)
    }
}

impl Known {
    /// Where it is said.
    pub(super) fn winner(&self) -> &Winner {
        &self.winner
    }

    /// What a decision about it is about, if it needs one.
    fn hash(&self) -> Option<ApprovalHash> {
        Some(self.sighted()?.identity.hash)
    }

    /// What would run, of an entry that needs approval and can be looked up.
    pub(super) fn sighted(&self) -> Option<&Sighted> {
        self.sighted.as_ref()?.as_ref().ok().map(|(sighted, _)| sighted)
    }

    /// What a person is shown of it.
    pub(super) fn request(
        &self,
        (root, name): (&Root, &str),
        origin: &Origin,
        book: &Book,
    ) -> Option<Value> {
        let Entry::Template(template) = &self.entry else { return None };
        let sighted = self.sighted()?;
        let candidate = Candidate::of_template(template, &self.declared, sighted.shown());
        Some(request((root, name), candidate, origin, book))
    }

    /// What ran of it ends, and nothing of it begins.
    fn shut(&self, reason: GateReason) -> Before {
        for ready in self.ready.iter().chain(&self.before) {
            if let Some(warrant) = &ready.warrant {
                warrant.set(Gate::Shut(reason));
            }
        }
        Before::Ends
    }
}

/// Whether two entries mean the same; the very same one is not looked into.
fn is_same(one: &Entry, other: &Entry) -> bool {
    match (one, other) {
        (Entry::Template(one), Entry::Template(other)) => Arc::ptr_eq(one, other) || one == other,
        (Entry::Literal(one), Entry::Literal(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one == other,
    }
}
