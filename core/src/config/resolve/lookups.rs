//! Looks at the file system: carried out without the lock, by a thread that may wait for ever, and
//! taken up by the pass that follows (SPEC 16.2).

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::launch_preview::LaunchPreview;
use super::lookup_job::{LookupJob, LookupResult, LookupSubject, LookupValue};
use crate::config::Config;
use crate::config::desired::Desired;
use crate::host_env::read_env_file;
use crate::{Error, ErrorCode};

impl LookupJob {
    /// Looks it up. It blocks for as long as the file system does. One that panics comes to an end
    /// like one that finds nothing right.
    pub(crate) fn carry_out(self, config: &Arc<Config>) -> LookupResult {
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
    pub(crate) fn give_back(&mut self, looks: Vec<LookupJob>) {
        for look in looks {
            let known = look.name().and_then(|name| self.known.get_mut(name));
            for known in known.into_iter().flatten() {
                known.sighted.release(look.number);
                known.variables.release(look.number);
            }
        }
    }

    /// Takes up what was found, as far as it is still what is looked for.
    pub(crate) fn take_found(&mut self, found: Vec<LookupResult>) {
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
