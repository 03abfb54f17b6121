//! What a pass has to know of the file system: looked up without the lock, by a thread that may
//! wait for ever (SPEC 16.2).
//!
//! A pass that lacks something leaves its server as it was and says what it lacks. Each source's
//! part of that is looked up by a thread of its own, which ends in another pass; so a file system
//! that is away holds up what depends on it, and whoever waits for that.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use trunkline_pool::approvals::Declared;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::expand::LookedUp;
use trunkline_pool::layers::SourceName;
use trunkline_pool::settings::Template;

use super::Config;
use super::desired::Desired;
use super::launch_preview::{Command, LaunchPreview};
use crate::host_env::read_env_file;
use crate::{Error, ErrorCode, Result};

/// Something of the file system, looked up once for each state of what it depends on.
pub(super) struct LookupCell<B, T> {
    basis: Option<B>,
    at: LookupState,
    last: Option<T>,
}

/// How far a look is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookupState {
    /// What was found, if anything, need not be true any more, and nobody needs it.
    Stale,
    /// A pass lacks it.
    Wanted,
    /// Somebody looks it up, under this number.
    UnderWay(u64),
    Done,
}

impl LookupState {
    /// A pass lacks it.
    pub(super) fn want(&mut self) {
        if !matches!(self, LookupState::UnderWay(_)) {
            *self = LookupState::Wanted;
        }
    }

    /// It is looked up from now on, by who gets the number; `is_mine` takes part in a look that is
    /// under way.
    pub(super) fn begin(&mut self, last: &mut u64, is_mine: bool) -> Option<u64> {
        match *self {
            LookupState::Wanted => {
                *last += 1;
                *self = LookupState::UnderWay(*last);
                Some(*last)
            }
            LookupState::UnderWay(number) if is_mine => Some(number),
            LookupState::UnderWay(_) | LookupState::Stale | LookupState::Done => None,
        }
    }

    /// It was looked up; whether that is still the look that counts.
    pub(super) fn end(&mut self, number: u64) -> bool {
        let is_it = *self == LookupState::UnderWay(number);
        if is_it {
            *self = LookupState::Done;
        }
        is_it
    }
}

impl<B, T> Default for LookupCell<B, T> {
    fn default() -> Self {
        LookupCell { basis: None, at: LookupState::Stale, last: None }
    }
}

impl<B: PartialEq, T> LookupCell<B, T> {
    /// What was found for that; without it, it is wanted.
    pub(super) fn of(&mut self, basis: B) -> Option<&T> {
        let is_it = self.basis.as_ref() == Some(&basis);
        match self.at {
            LookupState::Done if is_it => return self.last.as_ref(),
            LookupState::UnderWay(_) if is_it => {}
            _ => self.at = LookupState::Wanted,
        }
        self.basis = Some(basis);
        None
    }

    /// What was found last. It may be about to be looked up again.
    pub(super) fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// Whether somebody looks it up at this moment.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.at, LookupState::UnderWay(_))
    }

    /// Whether somebody looks it up under that number.
    fn is_under_way_as(&self, number: u64) -> bool {
        self.at == LookupState::UnderWay(number)
    }

    /// Nobody looks it up under that number.
    fn release(&mut self, number: u64) {
        if self.at == LookupState::UnderWay(number) {
            self.at = LookupState::Stale;
        }
    }

    /// It is looked up again when it is needed next.
    pub(super) fn mark_stale(&mut self) {
        self.at = LookupState::Stale;
    }

    /// [`LookupState::begin`], with what is to be looked up.
    pub(super) fn begin(&mut self, last: &mut u64, is_mine: bool) -> Option<(u64, &B)> {
        let number = self.at.begin(last, is_mine)?;
        Some((number, self.basis.as_ref()?))
    }

    /// [`LookupState::end`], with what was found.
    pub(super) fn end(&mut self, number: u64, found: T) {
        if self.at.end(number) {
            self.last = Some(found);
        }
    }
}

/// What a sight depends on besides the entry: what its variables come to, and where the host looks
/// for programs.
pub(super) type SightBasis = (Box<LookedUp>, Option<OsString>);

/// What would run of an entry that needs approval.
pub(super) type LookedSight = LookupCell<SightBasis, Result<(LaunchPreview, Command)>>;

/// What a file of variables says, by its path.
pub(super) type LookedFile = LookupCell<Box<str>, Result<BTreeMap<String, String>>>;

/// One thing to look up.
pub(super) struct LookupJob {
    number: u64,
    /// Whose it is; nobody's are the decisions.
    of: Option<(Box<str>, Arc<SourceName>)>,
    need: LookupSubject,
}

enum LookupSubject {
    Sight(Arc<Template>, Declared, Box<LookedUp>),
    Variables(Arc<Template>, Box<str>),
    Claim(Arc<ServerSpec>),
    Book,
}

/// What was found.
pub(super) struct LookupResult {
    number: u64,
    name: Box<str>,
    what: LookupValue,
}

enum LookupValue {
    Sight(Result<(LaunchPreview, Command)>),
    Variables(Result<BTreeMap<String, String>>),
    /// Nothing, of one that was lost.
    Claim(Option<LaunchPreview>),
    Book,
}

impl LookupJob {
    /// What was decided.
    pub(super) fn of_book(number: u64) -> LookupJob {
        LookupJob { number, of: None, need: LookupSubject::Book }
    }

    /// What would run of an entry.
    pub(super) fn of_sight(
        number: u64,
        (name, source): (&str, &Arc<SourceName>),
        (template, declared): (&Arc<Template>, &Declared),
        (looked_up, _): &SightBasis,
    ) -> LookupJob {
        let need = LookupSubject::Sight(template.clone(), declared.clone(), looked_up.clone());
        LookupJob { number, of: Some((name.into(), source.clone())), need }
    }

    /// What an entry's file of variables says.
    pub(super) fn of_variables(
        number: u64,
        (name, source): (&str, &Arc<SourceName>),
        template: &Arc<Template>,
        path: &str,
    ) -> LookupJob {
        let need = LookupSubject::Variables(template.clone(), path.into());
        LookupJob { number, of: Some((name.into(), source.clone())), need }
    }

    /// What would run of a configuration that a session brought.
    pub(super) fn of_claim(
        number: u64,
        (name, source): (&str, &Arc<SourceName>),
        spec: &Arc<ServerSpec>,
    ) -> LookupJob {
        LookupJob {
            number,
            of: Some((name.into(), source.clone())),
            need: LookupSubject::Claim(spec.clone()),
        }
    }

    /// Of which source it is: looks of different ones do not wait for each other.
    pub(super) fn source(&self) -> Option<&Arc<SourceName>> {
        self.of.as_ref().map(|(_, source)| source)
    }

    /// Whose it is.
    pub(super) fn name(&self) -> Option<&str> {
        self.of.as_ref().map(|(name, _)| &**name)
    }

    /// Looks it up. It blocks for as long as the file system does. One that panics comes to an end
    /// like one that finds nothing right.
    pub(super) fn carry_out(self, config: &Arc<Config>) -> LookupResult {
        let LookupJob { number, of, need } = self;
        let name = of.map(|(name, _)| name).unwrap_or_default();
        let what = catch_unwind(AssertUnwindSafe(|| need.looked_up(&name, config)));
        LookupResult { number, what: what.unwrap_or_else(|_| need.lost(&name, config)), name }
    }
}

impl LookupSubject {
    fn looked_up(&self, name: &str, config: &Arc<Config>) -> LookupValue {
        #[cfg(test)]
        tests::panic_if_asked();
        let with = config.sighting();
        match self {
            LookupSubject::Sight(template, declared, looked_up) => {
                let of = (&**template, declared);
                LookupValue::Sight(LaunchPreview::of_template(
                    name,
                    of,
                    (**looked_up).clone(),
                    with,
                ))
            }
            LookupSubject::Variables(template, path) => {
                LookupValue::Variables(read_env_file(template, path, with.workspace))
            }
            LookupSubject::Claim(spec) => {
                LookupValue::Claim(Some(LaunchPreview::of_spec(name, spec, with).0))
            }
            LookupSubject::Book => {
                config.read_book();
                LookupValue::Book
            }
        }
    }

    /// What comes of it when it panicked.
    fn lost(&self, name: &str, config: &Arc<Config>) -> LookupValue {
        let error = Error::new(ErrorCode::Internal, "what the file system says of it was lost");
        match self {
            LookupSubject::Sight(..) => LookupValue::Sight(Err(error.with_server(name))),
            LookupSubject::Variables(..) => LookupValue::Variables(Err(error.with_server(name))),
            LookupSubject::Claim(_) => LookupValue::Claim(None),
            LookupSubject::Book => {
                config.retry_decisions(&error);
                LookupValue::Book
            }
        }
    }
}

impl Desired {
    /// What is not looked up after all is left for the next pass.
    pub(super) fn give_back(&mut self, looks: Vec<LookupJob>) {
        for look in looks {
            let known = look.name().and_then(|name| self.known.get_mut(name));
            for known in known.into_iter().flatten() {
                known.sighted.release(look.number);
                known.variables.release(look.number);
            }
        }
    }

    /// Takes up what was found, as far as it is still what is looked for.
    pub(super) fn take_found(&mut self, found: Vec<LookupResult>) {
        for LookupResult { number, name, what } in found {
            let mut known = self.known.get_mut(&name).into_iter().flatten();
            match what {
                LookupValue::Sight(sighted) => {
                    if let Some(it) = known.find(|it| it.sighted.is_under_way_as(number)) {
                        it.sighted.end(number, sighted);
                    }
                }
                LookupValue::Variables(said) => {
                    if let Some(it) = known.find(|it| it.variables.is_under_way_as(number)) {
                        it.variables.end(number, said);
                    }
                }
                LookupValue::Claim(sighted) => {
                    self.claims.iter_mut().for_each(|claim| claim.take(number, sighted.as_ref()));
                }
                LookupValue::Book => {
                    self.reading.end(number);
                }
            }
        }
    }
}
