//! Which processes belong to a server, as far as tables of processes tell: for systems without
//! subreapers.
//!
//! What descends from a known process, or is in the group or the session that the leader founded,
//! belongs to it. A process that has left both, and whose parents all ended before they were seen,
//! is not found.

/// One process of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// When it started, in any unit: with the pid, it tells one process from another.
    pub started: u64,
}

/// The processes of one server that were alive when last looked at.
#[derive(Debug)]
pub struct Family {
    /// The pid of the leader, which is the number of its group and of its session.
    pub leader: i32,
    started: u64,
    members: Vec<Line>,
}

impl Family {
    pub fn new(leader: i32, started: u64) -> Self {
        let line = Line { pid: leader, parent: 0, group: leader, session: leader, started };
        Family { leader, started, members: vec![line] }
    }

    /// Takes in a table of this moment; gives those that were not known before.
    pub fn look(&mut self, table: &[Line]) -> Vec<Line> {
        let before = std::mem::take(&mut self.members);
        let was_known = |line: &Line| before.iter().any(|it| is_same(it, line));
        // The number of an empty group may be another's by now.
        let is_ours = !table.iter().any(|it| it.pid == self.leader && it.started != self.started);
        let founded =
            |line: &Line| is_ours && (line.group == self.leader || line.session == self.leader);
        let (mut members, mut others): (Vec<Line>, Vec<Line>) =
            table.iter().partition(|line| was_known(line) || founded(line));
        loop {
            let is_child = |line: &Line| members.iter().any(|it| it.pid == line.parent);
            let (found, rest): (Vec<Line>, Vec<Line>) = others.into_iter().partition(is_child);
            others = rest;
            if found.is_empty() {
                break;
            }
            members.extend(found);
        }
        self.members = members;
        self.members.iter().filter(|line| !was_known(line)).copied().collect()
    }

    pub fn members(&self) -> &[Line] {
        &self.members
    }
}

fn is_same(one: &Line, other: &Line) -> bool {
    one.pid == other.pid && one.started == other.started
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEADER: i32 = 100;

    fn line(pid: i32, parent: i32, group: i32, session: i32) -> Line {
        Line { pid, parent, group, session, started: u64::from(pid.unsigned_abs()) * 10 }
    }

    fn seen(family: &mut Family, table: &[Line]) -> Vec<i32> {
        family.look(table);
        family.members().iter().map(|it| it.pid).collect()
    }

    fn family() -> Family {
        Family::new(LEADER, 1000)
    }

    /// SPEC 9.8: children, the group, the session, and what descends from them; nobody else.
    #[test]
    fn all_that_descends_from_a_leader_belongs_to_it() {
        let table = [
            line(1, 0, 1, 1),
            line(104, 103, 104, 104),
            line(100, 50, 100, 100),
            line(101, 100, 101, 101),
            line(102, 1, 100, 100),
            line(103, 102, 103, 103),
            line(105, 1, 105, 100),
            line(200, 50, 200, 200),
            line(201, 200, 200, 200),
        ];
        let mut family = family();
        let mut members = seen(&mut family, &table);
        members.sort_unstable();
        assert_eq!(members, [100, 101, 102, 103, 104, 105]);
        assert_eq!(family.look(&table), [], "nobody is found twice");
    }

    /// SPEC 9.8: a daemon is kept if it was seen while its parent lived, and escapes if it was not.
    #[test]
    fn a_daemon_is_kept_when_it_was_seen_in_time() {
        let leader = line(100, 50, 100, 100);
        let daemon = line(102, 1, 102, 102);
        let mut looked = family();
        let between = [leader, line(101, 100, 101, 101), line(102, 101, 102, 102)];
        assert_eq!(seen(&mut looked, &between), [100, 101, 102]);
        assert_eq!(seen(&mut looked, &[leader, daemon]), [100, 102]);
        assert_eq!(seen(&mut looked, &[daemon]), [102], "also without its leader");
        assert_eq!(seen(&mut family(), &[leader, daemon]), [100]);
    }

    /// S-25: a pid, or the number of a group, that is used again is another's.
    #[test]
    fn who_has_the_pid_of_a_member_that_ended_is_a_stranger() {
        let mut family = family();
        seen(&mut family, &[line(100, 50, 100, 100), line(101, 100, 101, 101)]);
        let stranger = |pid, parent| Line { started: 5, ..line(pid, parent, pid, pid) };
        let table = [stranger(100, 1), stranger(101, 1), stranger(102, 101), stranger(103, 100)];
        assert_eq!(seen(&mut family, &table), [0; 0]);
    }
}
