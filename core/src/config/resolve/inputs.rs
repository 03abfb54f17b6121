//! What an entry needs to be told by the host before it can run (SPEC 10.5).

use serde_json::{Value, json};
use trunkline_pool::expand::{self, Needs};
use trunkline_pool::settings::Input;

use super::answers::{Answers, HostAnswer, HostQuestion, Lack, input_params};
use super::entry::Resolver;
use super::resolved_entry::ResolvedEntry;

impl Resolver<'_> {
    /// What the host answered to all that it is asked of one server.
    pub(crate) fn answers(
        &self,
        name: &str,
        needs: &Needs,
        inputs: &[Input],
        known: &mut ResolvedEntry,
        answers: &mut Answers,
    ) -> std::result::Result<expand::Answers, Lack> {
        let mut given = expand::Answers::default();
        let mut lacks = false;
        let source = &known.winner.source;
        let asks = &mut known.asks;
        asks.clear();
        let mut ask = |question: HostQuestion, params: Value| {
            let answer = answers.of(&question, name, None, || params);
            asks.push(question);
            answer.unwrap_or_else(|Lack| {
                lacks = true;
                HostAnswer::None
            })
        };
        for id in &needs.inputs {
            let declared = inputs.iter().find(|input| input.id == *id);
            let question = HostQuestion::Input((**source).clone(), id.as_str().into());
            if let HostAnswer::Text(value) = ask(question, input_params(source, id, declared)) {
                given.inputs.insert(id.clone(), value);
            }
        }
        for secret in &needs.secrets {
            let params = json!({ "name": secret, "source": source.to_string() });
            let question =
                HostQuestion::Secret((**source).clone(), name.into(), secret.as_str().into());
            match ask(question, params) {
                HostAnswer::Text(value) => drop(given.secrets.insert(secret.clone(), value)),
                HostAnswer::Refused => drop(given.refused_secrets.insert(secret.clone())),
                HostAnswer::None => {}
            }
        }
        for command in &needs.commands {
            if let HostAnswer::Text(value) =
                ask(HostQuestion::Command(command.clone()), Value::Null)
            {
                given.commands.insert(command.clone(), value);
            }
        }
        if lacks { Err(Lack) } else { Ok(given) }
    }
}
