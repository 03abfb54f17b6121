//! What settings are asked of the host: inputs, secrets, what becomes of an entry, and what commands print.
//!
//! An answer is kept, so that nobody is asked twice. A pass that lacks one notes the question and goes on; the answer causes
//! another pass. No lock is held while the host answers.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use trunkline_pool::expand::CommandLine;
use trunkline_pool::layers::SourceName;
use trunkline_pool::options::{HandlerKind, HandlerResult, ServerRequest};
use trunkline_pool::settings::{Input, InputKind, Secrecy, Template};

use crate::api::pool::PoolCore;
use crate::handling::contained;
use crate::lookup::run_command;

/// What the host is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    /// The value of an input, as that source declares it.
    Input(SourceName, Box<str>),
    /// A secret by its name.
    Secret(Box<str>),
    /// What a command prints.
    Command(CommandLine),
    /// What becomes of a server's entry of that source.
    Entry(SourceName, Box<str>),
}

/// The answers so far.
#[derive(Default)]
pub(super) struct Answers {
    asked: BTreeMap<Question, Asked>,
    /// To be asked when the pass is over.
    to_ask: Vec<Ask>,
    last: u64,
}

/// One question that is put to the host.
pub(super) struct Ask {
    question: Question,
    number: u64,
    server: Arc<str>,
    params: Value,
}

struct Asked {
    number: u64,
    state: State,
    /// The entry that was asked about: another one is another question.
    of: Option<Arc<Template>>,
}

enum State {
    Open,
    Answered(Answer),
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// A text, or of an entry a JSON object.
    Text(String),
    /// Nothing: there is no handler, it refused, failed or took too long.
    None,
}

/// The answer is not there yet.
pub(super) struct Lack;

/// Handlers and commands at work for settings at one time: each may hold a process or a thread of the host's.
const ASKED_AT_ONCE_MAX: usize = 8;

/// What comes within this time is one pass.
const GATHER: Duration = Duration::from_millis(2);

impl Answers {
    /// The answer to a question; without one it is noted, to be asked.
    pub(super) fn of(
        &mut self,
        question: &Question,
        server: &str,
        of: Option<&Arc<Template>>,
        params: impl FnOnce() -> Value,
    ) -> Result<Answer, Lack> {
        let is_it = |asked: &Asked| match (&asked.of, of) {
            (None, None) => true,
            (Some(asked), Some(now)) => Arc::ptr_eq(asked, now) || asked == now,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if let Some(asked) = self.asked.get(question).filter(|asked| is_it(asked)) {
            return match &asked.state {
                State::Open => Err(Lack),
                State::Answered(answer) => Ok(answer.clone()),
            };
        }
        self.last += 1;
        let asked = Asked { number: self.last, state: State::Open, of: of.cloned() };
        self.asked.insert(question.clone(), asked);
        let (question, number, params) = (question.clone(), self.last, params());
        self.to_ask.push(Ask { question, number, server: server.into(), params });
        Err(Lack)
    }

    /// What is to be asked now.
    pub(super) fn take_questions(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.to_ask)
    }

    /// Whether the host is asked for something at this moment.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked.values().any(|asked| matches!(asked.state, State::Open))
    }

    /// What got no answer is asked for again, and commands print anew.
    pub(super) fn forget_what_may_change(&mut self) {
        self.asked.retain(|question, asked| match &asked.state {
            State::Open => true,
            State::Answered(Answer::None) => false,
            State::Answered(Answer::Text(_)) => !matches!(question, Question::Command(_)),
        });
    }

    /// Forgets what was asked for the sake of sources that are not there any more.
    pub(super) fn retain_sources(&mut self, names: &BTreeSet<&SourceName>) {
        self.asked.retain(|question, _| match question {
            Question::Input(source, _) | Question::Entry(source, _) => names.contains(source),
            Question::Secret(_) | Question::Command(_) => true,
        });
    }

    /// Takes an answer; whether anybody waits for it.
    fn take(&mut self, question: &Question, number: u64, answer: Answer) -> bool {
        match self.asked.get_mut(question).filter(|asked| asked.number == number) {
            Some(asked) => {
                asked.state = State::Answered(answer);
                true
            }
            None => false,
        }
    }
}

/// What a host is told of an input that it is to give.
pub(super) fn input_params(source: &SourceName, id: &str, declared: Option<&Input>) -> Value {
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

/// Asks in the background, a few at one time.
pub(super) fn ask(pool: &Arc<PoolCore>, questions: Vec<Ask>) {
    for question in questions {
        let weak = Arc::downgrade(pool);
        let permits = pool.sources.permits.clone();
        pool.driver.spawn(async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            let answer = answer(&weak, &question).await;
            if let Some(pool) = weak.upgrade() {
                answered(&pool, &question, answer);
            }
        });
    }
}

async fn answer(pool: &Weak<PoolCore>, ask: &Ask) -> Answer {
    let Some(pool) = pool.upgrade() else { return Answer::None };
    if pool.driver.check_open().is_err() {
        return Answer::None;
    }
    let driver = pool.driver.clone();
    // Nobody who waits for the host keeps the pool.
    drop(pool);
    let kind = match &ask.question {
        Question::Input(..) => HandlerKind::Inputs,
        Question::Secret(_) => HandlerKind::Secrets,
        Question::Entry(..) => HandlerKind::Entries,
        Question::Command(line) => {
            let inherit_env = &driver.options.inherit_env;
            let printed = run_command(&ask.server, line, &driver.workspace, inherit_env).await;
            return match printed {
                Ok(text) => Answer::Text(text),
                Err(error) => {
                    tracing::warn!(server = &*ask.server, %error, "a command gave no value");
                    Answer::None
                }
            };
        }
    };
    let request = ServerRequest::new(kind, "".into(), kind.name(), &ask.params.to_string());
    let request = request.from_server(ask.server.clone(), 0, 0);
    let handlers = driver.options.handlers.clone();
    let begun = catch_unwind(AssertUnwindSafe(|| handlers.answer(request)));
    let Some(handling) = begun.ok().flatten() else { return Answer::None };
    let given = tokio::time::timeout(driver.options.handler_timeout, contained(handling)).await;
    given.map_or(Answer::None, |given| read(kind, given))
}

/// What a handler gave: `{"value": "…"}`, or of an entry the whole object.
fn read(kind: HandlerKind, given: HandlerResult) -> Answer {
    let Ok(text) = given else { return Answer::None };
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(&text) else {
        return Answer::None;
    };
    if kind == HandlerKind::Entries {
        return Answer::Text(text);
    }
    match object.get("value") {
        Some(Value::String(value)) => Answer::Text(value.clone()),
        Some(_) | None => Answer::None,
    }
}

/// An answer came: one pass for all that come at about the same time.
fn answered(pool: &Arc<PoolCore>, ask: &Ask, answer: Answer) {
    {
        let mut desired = pool.sources.desired();
        if !desired.answers.take(&ask.question, ask.number, answer) {
            return;
        }
        if std::mem::replace(&mut desired.gathers, true) {
            return;
        }
    }
    let weak = Arc::downgrade(pool);
    pool.driver.spawn(async move {
        tokio::time::sleep(GATHER).await;
        if let Some(pool) = weak.upgrade() {
            pool.change(|desired| desired.gathers = false);
        }
    });
}

/// How many are asked at one time.
pub(super) fn permits() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(ASKED_AT_ONCE_MAX))
}
