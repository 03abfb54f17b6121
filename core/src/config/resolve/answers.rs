//! What the host was asked for settings, and its answers so far.
//!
//! An answer is kept as long as something names the question, so that nobody is asked twice. What a
//! later pass does not need any more is not asked.
//!
//! A secret is asked for once for each server, since the host may give it to one and not to
//! another. An input is asked for once for each source, because a person types it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::expand::CommandLine;
use trunkline_pool::layers::SourceName;
use trunkline_pool::settings::{Input, InputKind, Secrecy, Template};

/// What the host is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostQuestion {
    /// The value of an input, as that source declares it.
    Input(SourceName, Box<str>),
    /// A secret by its name, for a server of that source: what one is given is no other's.
    Secret(SourceName, Box<str>, Box<str>),
    /// What a command prints.
    Command(CommandLine),
    /// What becomes of a server's entry of that source.
    Entry(SourceName, Box<str>),
}

/// The answers so far.
#[derive(Default)]
pub(crate) struct Answers {
    asked: BTreeMap<HostQuestion, HostPrompt>,
    /// To be asked when the pass is over.
    to_ask: Vec<Ask>,
    last: u64,
    /// The pass that is under way, or the last one.
    pass: u64,
}

/// One question that is put to the host.
pub(crate) struct Ask {
    pub(crate) question: HostQuestion,
    pub(crate) number: u64,
    pub(crate) server: Arc<str>,
    pub(crate) params: Value,
}

struct HostPrompt {
    number: u64,
    state: State,
    /// The entry that was asked about: another one is another question.
    of: Option<Arc<Template>>,
    /// The last pass in which an entry that counts named it.
    named: u64,
    /// The last pass that could not go on without it.
    needed: u64,
}

enum State {
    /// It waits for its turn.
    Queued,
    /// The host was asked.
    Open,
    Answered(HostAnswer),
}

/// What came back. There is no `Debug`: it may be a secret.
#[derive(Clone)]
pub(crate) enum HostAnswer {
    /// A text, or of an entry a JSON object.
    Text(String),
    /// There is none: nobody to ask, or nothing that they have.
    None,
    /// It was refused, or the host failed or took too long.
    Refused,
}

/// The answer is not there yet.
pub(crate) struct Lack;

impl Answers {
    /// The answer to a question; without one it is noted, to be asked.
    pub(crate) fn of(
        &mut self,
        question: &HostQuestion,
        server: &str,
        of: Option<&Arc<Template>>,
        params: impl FnOnce() -> Value,
    ) -> Result<HostAnswer, Lack> {
        let is_it = |asked: &HostPrompt| match (&asked.of, of) {
            (None, None) => true,
            (Some(asked), Some(now)) => Arc::ptr_eq(asked, now) || asked == now,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let pass = self.pass;
        if let Some(asked) = self.asked.get_mut(question).filter(|asked| is_it(asked)) {
            (asked.named, asked.needed) = (pass, pass);
            return match &asked.state {
                State::Queued | State::Open => Err(Lack),
                State::Answered(answer) => Ok(answer.clone()),
            };
        }
        self.last += 1;
        let (number, state, of) = (self.last, State::Queued, of.cloned());
        let asked = HostPrompt { number, state, of, named: pass, needed: pass };
        self.asked.insert(question.clone(), asked);
        let (question, params) = (question.clone(), params());
        self.to_ask.push(Ask { question, number, server: server.into(), params });
        Err(Lack)
    }

    /// A pass begins, which names everything that is still to be known.
    pub(crate) fn begin_pass(&mut self) {
        self.pass += 1;
    }

    /// What was answered stays known, though this pass does not need it.
    pub(crate) fn keep<'a>(&mut self, questions: impl IntoIterator<Item = &'a HostQuestion>) {
        for question in questions {
            if let Some(asked) = self.asked.get_mut(question) {
                asked.named = self.pass;
            }
        }
    }

    /// The pass is over: what it did not name is forgotten, and what it did not need is not asked.
    /// What is to be asked now.
    pub(crate) fn end_pass(&mut self) -> Vec<Ask> {
        let pass = self.pass;
        self.asked.retain(|_, asked| match asked.state {
            State::Queued => asked.needed == pass,
            State::Open | State::Answered(_) => asked.named == pass,
        });
        std::mem::take(&mut self.to_ask)
    }

    /// Whether the host is asked at this moment for something that is needed.
    pub(crate) fn is_waiting(&self) -> bool {
        let is_open = |asked: &HostPrompt| matches!(asked.state, State::Queued | State::Open);
        self.asked.values().any(|asked| is_open(asked) && asked.needed == self.pass)
    }

    /// What got no answer is asked for again, secrets may be others, and commands print anew.
    pub(crate) fn forget_what_may_change(&mut self) {
        self.asked.retain(|question, asked| match &asked.state {
            State::Queued | State::Open => true,
            State::Answered(HostAnswer::None | HostAnswer::Refused) => false,
            State::Answered(HostAnswer::Text(_)) => match question {
                HostQuestion::Secret(..) | HostQuestion::Command(_) => false,
                HostQuestion::Input(..) | HostQuestion::Entry(..) => true,
            },
        });
    }

    /// Whether it is to be asked now that its turn has come. From then on it is not asked again.
    pub(crate) fn begin(&mut self, ask: &Ask) -> bool {
        let asked = self.asked.get_mut(&ask.question);
        match asked.filter(|asked| asked.number == ask.number) {
            Some(asked) => {
                asked.state = State::Open;
                true
            }
            None => false,
        }
    }

    /// Takes an answer; whether anybody waits for it.
    pub(crate) fn take(
        &mut self,
        question: &HostQuestion,
        number: u64,
        answer: HostAnswer,
    ) -> bool {
        match self.asked.get_mut(question).filter(|asked| asked.number == number) {
            Some(asked) => {
                asked.state = State::Answered(answer);
                true
            }
            None => false,
        }
    }
}

/// Describes an input to the host that is to give it.
pub(crate) fn input_params(source: &SourceName, id: &str, declared: Option<&Input>) -> Value {
    let mut params = json!({ "id": id, "source": source.to_string() });
    if let Some(Input { description, default, kind, secrecy, .. }) = declared {
        params["description"] = json!(description);
        params["default"] = json!(default);
        params["secret"] = json!(*secrecy == Secrecy::Secret);
        match kind {
            InputKind::Choice(choices) => params["options"] = json!(choices),
            InputKind::Command(command) => params["command"] = json!(command),
            InputKind::Text | _ => {}
        }
    }
    params
}
