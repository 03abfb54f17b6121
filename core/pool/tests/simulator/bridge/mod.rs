//! One served client and its servers at random: requests, answers, questions, cancels and losses on
//! both legs, in any order. Nothing is answered twice, nothing reaches who did not ask for it, and
//! behind the end nothing is kept.

mod model;
mod moves;
mod offered;

use std::collections::BTreeMap;
use std::time::Duration;

use model::Model;
use offered::{NAMES, Offered};
use serde_json::Value;
use trunkline_pool::bridge::{
    Action, BridgeInput, ClientFacts, ClientLimits, EndpointName, Era, LaneKind, Now, SealingKey,
    ServedClient, ServedPath,
};
use trunkline_pool::options::Parking;
use trunkline_pool::state::Moment;

use crate::chance::Chance;

/// ListKinds of events that a long simulation meets: each is named where it is noted.
pub const KINDS: usize = 12;

/// Moves of one run.
const MOVES: u64 = 400;

/// One run.
struct Run {
    client: ServedClient,
    model: Model,
    offered: Offered,
    chance: Chance,
    path: ServedPath,
    now: Now,
    /// What was sent, by its canary: a modern client sends it again.
    sent: BTreeMap<String, (&'static str, Value)>,
    /// The numbers that were given so far: streams, ids and questions.
    last: u64,
}

/// One client with its servers: the steps that were made, and what was wrong.
pub fn serve(seed: u64) -> (u64, Result<(), String>, BTreeMap<&'static str, u64>) {
    let mut run = Run::new(seed);
    let mut steps = 0;
    let mut made = run.open();
    while made.is_ok() && steps < MOVES && !run.model.is_closed {
        made = run.make_a_move();
        steps += 1;
    }
    let made = made.and_then(|()| run.end());
    (steps, made.map_err(|what| format!("{what}, {:?}", run.path)), run.model.seen)
}

impl Run {
    fn new(seed: u64) -> Run {
        let mut chance = Chance::new(seed);
        let eras = [Era::Legacy, Era::Modern];
        let era = chance.pick(&eras);
        let lane = chance.pick(&[LaneKind::Http, LaneKind::Lines]);
        let servers = 1 + chance.below(NAMES.len() as u64);
        let server = chance.percent(50).then(|| NAMES[0].to_owned());
        let servers = if server.is_some() { 1 } else { servers };
        let path = ServedPath { profile: None, server };
        let limits = ClientLimits {
            calls: 1 + chance.below(6) as usize,
            parked: chance.below(4) as usize,
            listens: chance.below(3) as usize,
            subscriptions: 1 + chance.below(2) as usize,
            parked_for: Duration::from_secs(5),
            idle: Duration::from_secs(1_000_000),
        };
        let facts = ClientFacts {
            era,
            lane,
            path: path.clone(),
            principal: "p".to_owned(),
            endpoint: EndpointName { name: "e".to_owned(), version: "1".to_owned() },
            parking: chance.pick(&[Parking::Park, Parking::Park, Parking::Refuse]),
            limits,
            key: SealingKey([3; 32]),
            nonce: [5; 32],
        };
        let model = Model {
            is_http: lane == LaneKind::Http,
            is_modern: era == Era::Modern,
            ..Model::default()
        };
        let offered = Offered { eras: (0..servers).map(|_| chance.pick(&eras)).collect() };
        let now = Now { moment: Moment(1), unix_seconds: 1_000 };
        let client = ServedClient::new(facts);
        Run { client, model, offered, chance, path, now, sent: BTreeMap::new(), last: 0 }
    }

    /// Gives the bridge an input, and carries out what it wants.
    fn give(&mut self, input: BridgeInput<'_>) -> Result<(), String> {
        let mut actions: Vec<Action> = Vec::new();
        let told = format!("{input:?}");
        self.client.take(input, &self.offered, self.now, &mut actions);
        for action in &actions {
            self.model.carry_out(action).map_err(|what| format!("{what}; after {told}"))?;
        }
        if self.model.is_closed && !self.client.is_empty() {
            return Err(format!("something is kept behind the end: {:?}", self.client));
        }
        Ok(())
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Ends everything: what is open is answered, and then nothing may be left.
    fn end(&mut self) -> Result<(), String> {
        if self.model.is_closed {
            return Ok(());
        }
        let is_hard = self.chance.percent(30);
        self.model.is_ending = true;
        self.give(if is_hard { BridgeInput::Close } else { BridgeInput::Drain })?;
        while !self.model.is_closed {
            let call = self.model.calls.keys().next().copied();
            match (call, self.model.pending.keys().next().copied()) {
                (Some(call), _) => self.answer_call(call)?,
                (None, Some(call)) => self.answer_subscription(call)?,
                (None, None) => {
                    let open = (&self.model.requests, &self.client);
                    return Err(format!("drained, and not closed: {open:?}"));
                }
            }
        }
        let left = &self.model.requests;
        let is_unanswered = !left.is_empty() && (self.model.is_http || !is_hard);
        match (is_unanswered, self.model.questions.is_empty(), self.model.active.is_empty()) {
            (true, ..) => Err(format!("never answered: {left:?}")),
            (_, false, _) => Err(format!("questions are left: {:?}", self.model.questions)),
            (.., false) => Err(format!("subscriptions are left: {:?}", self.model.active)),
            _ => Ok(()),
        }
    }
}
