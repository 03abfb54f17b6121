//! What the command line asks for.

use super::goals::{self, Goal};
use super::peers::{PEERS, Peer};
use super::workloads::{GROUPS, Group, group_of};

/// What is to be run.
pub struct Chosen<'a> {
    pub rounds: usize,
    pub groups: Vec<&'static Group>,
    pub peers: Vec<&'static Peer>,
    /// The one goal.
    row: Option<&'a str>,
}

impl<'a> Chosen<'a> {
    /// Reads the arguments.
    pub fn parse(rest: &[&'a str]) -> Result<Chosen<'a>, String> {
        let (mut rounds, mut group, mut row, mut clients) = (ROUNDS, None, None, Vec::new());
        let mut rest = rest.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--rounds" => {
                    let number = rest.next().and_then(|number| number.parse().ok());
                    rounds =
                        number.filter(|rounds| *rounds > 0).ok_or("--rounds needs a number")?;
                }
                "--only" => {
                    let named = rest.next().and_then(|name| named(name));
                    let names: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
                    let missing = || format!("--only needs one of: {}", names.join(" "));
                    group = Some(named.ok_or_else(missing)?);
                }
                "--quick" => {
                    let goal = rest.next().filter(|name| goal(name).is_some());
                    let names: Vec<&str> = goals::all().map(|goal| goal.row).collect();
                    let missing = || format!("--quick needs one of: {}", names.join(" "));
                    row = Some(*goal.ok_or_else(missing)?);
                }
                name if PEERS.iter().any(|peer| peer.name == name) => clients.push(name),
                name => {
                    let names: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
                    return Err(format!("no client {name}; there are: {}", names.join(" ")));
                }
            }
        }
        let mut groups: Vec<&'static Group> = GROUPS.iter().collect();
        if let Some(goal) = row.and_then(goal) {
            let mut keys = goal.keys();
            keys.extend(goal.keys_beside());
            clients = keys.iter().map(|key| key.client).collect();
            let wanted: Vec<&str> =
                keys.iter().filter_map(|key| Some(group_of(key.workload)?.name)).collect();
            groups.retain(|group| wanted.contains(&group.name));
        }
        groups.retain(|one| group.is_none_or(|group: &Group| group.name == one.name));
        let is_wanted = |peer: &&Peer| {
            let has_work = groups.iter().any(|group| peer.groups.contains(&group.name));
            has_work && (clients.is_empty() || clients.contains(&peer.name))
        };
        let peers = PEERS.iter().filter(is_wanted).collect();
        Ok(Chosen { rounds, groups, peers, row })
    }

    /// Whether a goal is one of what is run.
    pub fn has(&self, goal: &Goal) -> bool {
        let is_measured = |key: &super::figures::Key| {
            let group = group_of(key.workload).map(|group| group.name);
            self.groups.iter().any(|one| Some(one.name) == group)
                && self.peers.iter().any(|peer| peer.name == key.client)
        };
        match self.row {
            Some(row) => goal.row == row,
            None => goal.keys().iter().all(is_measured),
        }
    }
}

fn named(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

fn goal(row: &str) -> Option<&'static Goal> {
    goals::all().find(|goal| goal.row == row)
}

/// Rounds, unless the command line says otherwise.
const ROUNDS: usize = 5;

#[cfg(test)]
mod tests {
    use super::Chosen;

    fn names(rest: &[&str]) -> (Vec<&'static str>, Vec<&'static str>) {
        let chosen = Chosen::parse(rest).unwrap();
        let groups = chosen.groups.iter().map(|group| group.name);
        (groups.collect(), chosen.peers.iter().map(|peer| peer.name).collect())
    }

    #[test]
    fn a_row_takes_its_own_clients_and_groups() {
        assert_eq!(names(&["--quick", "python-100"]), (vec!["calls"], vec!["python", "mcp"]));
        assert_eq!(names(&["--quick", "scale"]), (vec!["steps"], vec!["rust"]));
        assert!(Chosen::parse(&["--quick", "nothing"]).is_err());
    }

    #[test]
    fn a_group_takes_the_clients_that_have_it() {
        assert_eq!(names(&["--only", "steps"]), (vec!["steps"], vec!["rust"]));
        assert_eq!(names(&["--only", "http", "mcp", "c"]), (vec!["http"], vec!["mcp"]));
        assert!(Chosen::parse(&["--only", "python"]).is_err());
    }
}
