//! What an entry needs to be told by the host before it can run (SPEC 10.5).

use serde_json::{Value, json};
use trunkline_pool::expand::{self, Needs};
use trunkline_pool::settings::Input;

use super::entry::{Known, Sight};
use super::questions::{Answer, Answers, Lack, Question, input_params};

impl Sight<'_> {
    /// What the host answered to all that it is asked of one server.
    pub(super) fn answers(
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
}
