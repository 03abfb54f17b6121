//! How a run of the scoreboard is shown on a terminal.

use std::time::Duration;

use super::done::Done;
use super::rows::{Form, Row};

/// What came of one row.
pub struct Line {
    pub row: &'static Row,
    pub form: Form,
    pub outcome: Outcome,
    /// Nothing where a suite did it beside other things.
    pub took: Option<Duration>,
}

#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// Never broken, of so many.
    Kept(Done),
    Broken(String),
    NotRun(String),
}

impl Line {
    fn figure(&self) -> String {
        match &self.outcome {
            Outcome::Kept(done) => format!("0 of {}", grouped(done.all())),
            Outcome::Broken(_) => "BROKEN".to_owned(),
            Outcome::NotRun(_) => "not run".to_owned(),
        }
    }

    fn goal(&self) -> String {
        self.form.least().map_or("-".to_owned(), |least| format!("0 of {}", grouped(least)))
    }

    fn seconds(&self) -> String {
        self.took.map_or("-".to_owned(), |took| format!("{:.1}", took.as_secs_f64()))
    }

    pub fn is_not_run(&self) -> bool {
        matches!(self.outcome, Outcome::NotRun(_))
    }

    /// What is counted, or why nothing is.
    fn note(&self) -> &str {
        match &self.outcome {
            Outcome::Kept(_) => self.row.unit,
            Outcome::Broken(why) | Outcome::NotRun(why) => why,
        }
    }
}

/// Prints the table.
pub fn print(lines: &[Line]) {
    println!("\n{:<3}{:<13}{:>16}{:>16}{:>9}  of", "", "promise", "broken", "goal", "seconds");
    for line in lines {
        let Row { number, name, .. } = line.row;
        let (figure, goal, seconds) = (line.figure(), line.goal(), line.seconds());
        println!("{number:<3}{name:<13}{figure:>16}{goal:>16}{seconds:>9}  {}", line.note());
    }
    println!("{}", counts(lines));
}

fn counts(lines: &[Line]) -> String {
    let of = |is: fn(&Outcome) -> bool| lines.iter().filter(|line| is(&line.outcome)).count();
    let kept = of(|outcome| matches!(outcome, Outcome::Kept(_)));
    let broken = of(|outcome| matches!(outcome, Outcome::Broken(_)));
    let not_run = of(|outcome| matches!(outcome, Outcome::NotRun(_)));
    format!("{kept} kept, {broken} broken, {not_run} not run")
}

/// A number with a comma before each three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Done, Line, Outcome, counts, grouped};
    use crate::scoreboard::rows::{Form, ROWS};

    #[test]
    fn what_was_not_run_is_never_shown_as_a_pass() {
        let line =
            |outcome| Line { row: &ROWS[0], form: Form::AtLeast(1_000), outcome, took: None };
        let not_run = line(Outcome::NotRun("no strace".into()));
        assert_eq!((not_run.figure().as_str(), not_run.note()), ("not run", "no strace"));
        let broken = line(Outcome::Broken("red".into()));
        assert_eq!((broken.figure().as_str(), broken.note()), ("BROKEN", "red"));
        let kept = line(Outcome::Kept(Done::whole(12_345)));
        assert_eq!((kept.figure().as_str(), kept.goal().as_str()), ("0 of 12,345", "0 of 1,000"));
        assert_eq!(counts(&[not_run, broken, kept]), "1 kept, 1 broken, 1 not run");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
