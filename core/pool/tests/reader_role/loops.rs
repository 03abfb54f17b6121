//! What event loops do with the stream of a world.

use std::time::Instant;

use trunkline_pool::reader_role::Tell;

use super::world::{Frame, Slip, Stream, World};

/// So are those of a loop, from here on.
pub const OF_LOOPS: u8 = 100;

/// An event loop, which makes one call after another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    pub at: Turn,
    pub left: u8,
    /// Until the end of its call was seen.
    pub has_call: bool,
    /// Whether it is told that something can be read.
    pub polls: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    Sends,
    Reserves,
    /// It learns when there is something to read.
    Turns,
    HasBorrowed(Stream),
    Reads(Stream),
    Rests(Stream),
    GivesBack(Stream),
    HasRested,
}

impl Loop {
    pub fn has_stream(&self) -> bool {
        use Turn::{GivesBack, HasBorrowed, Reads, Rests};
        matches!(self.at, HasBorrowed(_) | Reads(_) | Rests(_) | GivesBack(_))
    }
}

impl World {
    pub fn loop_steps(&mut self, number: usize, slip: Slip, now: Instant) -> bool {
        let mut it = self.loops[number].clone();
        let id = OF_LOOPS + u8::try_from(number).unwrap() * 10 + it.left;
        it.at = match it.at {
            Turn::Turns if it.has_call && !self.in_flight.contains(&id) => {
                (it.has_call, it.left) = (false, it.left - 1);
                Turn::Turns
            }
            Turn::Turns if !it.has_call && it.left > 0 => {
                it.has_call = true;
                self.in_flight.insert(id);
                Turn::Sends
            }
            Turn::Turns => return false,
            Turn::Sends => {
                self.asked.insert(id);
                Turn::Reserves
            }
            Turn::Reserves => {
                match self.in_flight.len() <= 1 {
                    true => it.polls |= self.role.reserve(now).is_some(),
                    false => self.told |= self.role.recall() == Tell::Task,
                }
                Turn::Turns
            }
            Turn::HasBorrowed(stream) if self.in_flight.contains(&id) => Turn::Reads(stream),
            Turn::HasBorrowed(stream) => Turn::GivesBack(stream),
            Turn::Reads(mut stream) => {
                stream.0.append(&mut self.pipe);
                let is_part = stream.0.front() == Some(&Frame::Half(id)) && stream.0.len() == 1;
                let frames = stream.0.iter().filter(|frame| **frame != Frame::Half(id));
                let is_its = frames.eq([&Frame::Answer(id)]) && self.in_flight.remove(&id);
                match (is_its, is_part || stream.0.is_empty()) {
                    (true, _) => Turn::Rests(Stream::default()),
                    (_, true) => Turn::Rests(stream),
                    (false, false) => Turn::GivesBack(stream),
                }
            }
            Turn::Rests(stream) => {
                self.told |= self.role.rest(stream) == Tell::Task;
                Turn::HasRested
            }
            Turn::HasRested => {
                let is_its = self.in_flight.contains(&id) || slip == Slip::LookForTwo;
                let is_another = self.in_flight.len() > usize::from(is_its);
                if slip != Slip::NoLookAfterResting && is_another {
                    self.told |= self.role.recall() == Tell::Task;
                }
                Turn::Turns
            }
            Turn::GivesBack(stream) => {
                self.role.give_back(stream);
                (self.told, it.polls) = (true, false);
                Turn::Turns
            }
        };
        self.loops[number] = it;
        true
    }

    pub fn loop_is_told(&mut self, number: usize) -> bool {
        let it = &mut self.loops[number];
        if self.blocked || it.at != Turn::Turns || !it.polls || self.pipe.is_empty() {
            return false;
        }
        match self.role.borrow_ready() {
            Some(stream) => it.at = Turn::HasBorrowed(stream),
            None => it.polls = false,
        }
        true
    }
    /// It calls no more, and is blocked from here on: nobody is to wait for it.
    pub fn loop_stops(&mut self, number: usize) -> bool {
        let is_waited_for = self.in_flight.iter().any(|id| *id >= OF_LOOPS);
        let it = &mut self.loops[number];
        let can = !self.blocked && !is_waited_for && it.at == Turn::Turns;
        if can {
            self.blocked = true;
            it.left = it.left.min(u8::from(it.has_call));
        }
        can
    }
}
