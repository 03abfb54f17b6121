//! What was counted, and how it is shown.

use super::rig::Behaviour;

/// What one close or one killed host left.
pub struct Round {
    /// In words.
    pub survivors: Vec<String>,
}

/// Something that was measured, beside its goal.
pub struct Figure {
    pub what: String,
    pub goal: String,
    pub is_met: bool,
}

/// Whether a goal that is missed is a fault.
#[derive(Clone, Copy, PartialEq)]
pub enum Goals {
    /// The machine may do other work.
    Shown,
    Held,
}

/// Rounds of one behaviour in one way of ending.
struct Cell {
    way: &'static str,
    behaviour: String,
    rounds: usize,
    survivors: usize,
    faults: usize,
}

/// The whole run.
pub struct Table {
    behaviours: Vec<String>,
    goals: Goals,
    cells: Vec<Cell>,
    figures: Vec<String>,
    faults: Vec<String>,
    missing: Option<String>,
}

impl Table {
    pub fn new(behaviours: &[Behaviour], goals: Goals, missing: Option<String>) -> Table {
        let behaviours = behaviours.iter().map(|behaviour| behaviour.name.clone()).collect();
        let (cells, figures, faults) = (Vec::new(), Vec::new(), Vec::new());
        Table { behaviours, goals, cells, figures, faults, missing }
    }

    /// Counts one round, or why there was none.
    pub fn add(&mut self, way: &'static str, behaviour: &str, round: Result<Round, String>) {
        let at = self.cells.iter().position(|cell| cell.way == way && cell.behaviour == behaviour);
        let at = at.unwrap_or_else(|| {
            let behaviour = behaviour.to_owned();
            self.cells.push(Cell { way, behaviour, rounds: 0, survivors: 0, faults: 0 });
            self.cells.len() - 1
        });
        let cell = &mut self.cells[at];
        cell.rounds += 1;
        match round {
            Ok(round) if round.survivors.is_empty() => {}
            Ok(round) => {
                cell.survivors += round.survivors.len();
                self.faults.push(format!("{behaviour}, {way}: {:?} survive", round.survivors));
            }
            Err(why) => {
                cell.faults += 1;
                self.faults.push(format!("{behaviour}, {way}: {why}"));
            }
        }
    }

    /// Notes a figure.
    pub fn figure(&mut self, figure: Figure) {
        let Figure { what, goal, is_met } = figure;
        if !is_met && self.goals == Goals::Held {
            self.faults.push(format!("{what}, and the goal is {goal}"));
        }
        let verdict = if is_met { "met" } else { "MISSED" };
        self.figures.push(format!("{what} (goal: {goal}, {verdict})"));
    }

    pub fn fault(&mut self, why: String) {
        self.faults.push(why);
    }

    /// What was found when everything was over.
    pub fn late_survivors(&mut self, pids: &[u32]) {
        if !pids.is_empty() {
            self.faults.push(format!("at the end of the run {pids:?} were running"));
        }
    }

    pub fn rounds(&self) -> usize {
        self.cells.iter().map(|cell| cell.rounds).sum()
    }

    /// Survivors, rounds that could not be carried out, and goals that were to be held.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// A language that this machine does not have.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Survivors of rounds, by behaviour and by way, and the figures.
    pub fn lines(&self) -> Vec<String> {
        let mut ways: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !ways.contains(&cell.way) {
                ways.push(cell.way);
            }
        }
        let head: String = ways.iter().map(|way| format!("{way:>12}")).collect();
        let mut lines = vec![format!("{:<38}{head}", "survivors of rounds")];
        for behaviour in self.behaviours.iter().filter(|_| !ways.is_empty()) {
            let shown = ways.iter().map(|way| format!("{:>12}", self.shown(way, behaviour)));
            lines.push(format!("{behaviour:<38}{}", shown.collect::<String>()));
        }
        if ways.is_empty() {
            lines.clear();
        }
        lines.extend(self.figures.iter().cloned());
        lines.extend(self.missing.iter().map(|missing| format!("not run: {missing}")));
        lines.extend(self.faults.iter().take(FAULTS_SHOWN).map(|fault| format!("FAILED: {fault}")));
        lines
    }

    fn shown(&self, way: &str, behaviour: &str) -> String {
        let found = self.cells.iter().find(|cell| cell.way == way && cell.behaviour == behaviour);
        match found {
            None => "-".to_owned(),
            Some(cell) if cell.faults > 0 => format!("{} FAILED", cell.faults),
            Some(cell) => format!("{} of {}", cell.survivors, cell.rounds),
        }
    }
}

/// Faults that are shown one by one.
const FAULTS_SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::{Figure, Goals, Round, Table};

    #[test]
    fn a_missed_goal_is_shown_and_is_a_fault_where_goals_are_held() {
        for (goals, faults) in [(Goals::Shown, 0), (Goals::Held, 1)] {
            let mut table = Table::new(&[], goals, None);
            for is_met in [true, false] {
                let (what, goal) = ("a close: 7 ms".to_owned(), "<= 5 ms".to_owned());
                table.figure(Figure { what, goal, is_met });
            }
            assert_eq!(table.faults().len(), faults);
            assert_eq!(
                table.lines()[..2],
                ["a close: 7 ms (goal: <= 5 ms, met)", "a close: 7 ms (goal: <= 5 ms, MISSED)"]
            );
        }
    }

    #[test]
    fn a_survivor_is_a_fault_and_is_shown() {
        let mut table = Table::new(&[], Goals::Shown, None);
        table.behaviours.push("polite".to_owned());
        table.add("close", "polite", Ok(Round { survivors: vec![] }));
        table.add("close", "polite", Ok(Round { survivors: vec!["7 (sleep)".to_owned()] }));
        table.add("rust", "polite", Err("it does not start".to_owned()));
        assert_eq!((table.rounds(), table.faults().len()), (3, 2));
        let lines = table.lines();
        assert!(lines[1].contains("1 of 2") && lines[1].contains("1 FAILED"), "{lines:?}");
        assert!(lines[2].contains("7 (sleep)"), "{lines:?}");
    }
}
