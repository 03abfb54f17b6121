//! What the processes of servers take of the machine, where that can be read.

/// What one server's processes take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessStats {
    /// Memory that is resident; what processes share is counted in each.
    pub memory_bytes: u64,
    /// Time on a processor since they started, that of the children included which they have waited
    /// for.
    pub cpu_ms: u64,
}

/// What each of these processes takes with all that descends from it; nothing for one that is not
/// there.
///
/// It reads the table of all processes, which takes microseconds for each of them.
#[cfg(target_os = "linux")]
pub(crate) fn taken(leaders: &[u32]) -> Vec<Option<ProcessStats>> {
    let table = linux::table();
    leaders.iter().map(|leader| linux::of_tree(&table, *leader)).collect()
}

/// It is not read here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn taken(leaders: &[u32]) -> Vec<Option<ProcessStats>> {
    vec![None; leaders.len()]
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::fs;

    use super::ProcessStats;
    use crate::base::bounded_reader;

    /// More than one line of numbers.
    const STAT_BYTES_MAX: usize = 1 << 16;

    /// One process.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Row {
        pub parent: u32,
        pub session: u32,
        pub taken: ProcessStats,
    }

    /// Every process that can be looked at.
    pub(super) fn table() -> HashMap<u32, Row> {
        let Ok(listed) = fs::read_dir("/proc") else { return HashMap::new() };
        let (page_bytes, ticks) = (setting(libc::_SC_PAGESIZE), setting(libc::_SC_CLK_TCK));
        let pids = listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid: u32| {
            let text =
                bounded_reader::file(format!("/proc/{pid}/stat").as_ref(), STAT_BYTES_MAX).ok()?;
            Some((pid, row(&text, page_bytes, ticks)?))
        })
        .collect()
    }

    /// What `/proc/<pid>/stat` says.
    pub(super) fn row(text: &[u8], page_bytes: u64, ticks: u64) -> Option<Row> {
        // The program's name stands in parentheses and may hold anything.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |place: usize| fields.get(place)?.parse::<i64>().ok();
        let positive = |place: usize| Some(number(place)?.max(0).unsigned_abs());
        // Of the process, and of its children that it has waited for: in user and in kernel mode.
        let mut cpu = 0;
        for place in 11..=14 {
            cpu += positive(place)?;
        }
        let taken = ProcessStats {
            memory_bytes: positive(21)? * page_bytes,
            cpu_ms: cpu * 1_000 / ticks.max(1),
        };
        let pid = |place| u32::try_from(number(place)?).ok();
        Some(Row { parent: pid(1)?, session: pid(3)?, taken })
    }

    /// The leader, what is in its session, and what descends from these or was left to the process
    /// that keeps the tree together.
    pub(super) fn of_tree(table: &HashMap<u32, Row>, leader: u32) -> Option<ProcessStats> {
        let above = table.get(&leader)?.parent;
        let keeper = (above > 1 && above != std::process::id()).then_some(above);
        let belongs = |pid: u32, row: &Row| pid == leader || row.session == leader;
        let mut tree: HashSet<u32> =
            table.iter().filter(|(pid, row)| belongs(**pid, row)).map(|(pid, _)| *pid).collect();
        loop {
            let is_child = |row: &Row| tree.contains(&row.parent) || Some(row.parent) == keeper;
            let more = table.iter().filter(|(pid, row)| is_child(row) && !tree.contains(pid));
            let more: Vec<u32> = more.map(|(pid, _)| *pid).collect();
            if more.is_empty() {
                break;
            }
            tree.extend(more);
        }
        let each = tree.iter().filter_map(|pid| Some(table.get(pid)?.taken));
        Some(each.fold(ProcessStats::default(), |sum, one| ProcessStats {
            memory_bytes: sum.memory_bytes + one.memory_bytes,
            cpu_ms: sum.cpu_ms + one.cpu_ms,
        }))
    }

    fn setting(name: libc::c_int) -> u64 {
        // SAFETY: it takes a number and gives one.
        let value = unsafe { libc::sysconf(name) };
        u64::try_from(value).unwrap_or(0)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::collections::HashMap;

    use super::linux::{Row, of_tree, row};
    use super::*;

    #[test]
    fn a_line_of_the_table_is_read_whatever_the_program_is_called() {
        let text = b"42 (a) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 50 25 20 5 20 0 9 0 100 4096 30 18446744073709551615 1";
        let row = row(text, 4096, 100).unwrap();
        assert_eq!((row.parent, row.session), (7, 42));
        assert_eq!(row.taken, ProcessStats { memory_bytes: 30 * 4096, cpu_ms: 1000 });
        for wrong in [&b""[..], b"42 (a", b"42 (a) S 7", b"42 (a) S x 42 42"] {
            assert!(super::linux::row(wrong, 4096, 100).is_none());
        }
    }

    #[test]
    fn a_tree_has_what_descends_from_it_what_left_its_session_and_what_it_lost() {
        let one = ProcessStats { memory_bytes: 1, cpu_ms: 1 };
        let row = |parent, session| Row { parent, session, taken: one };
        let ours = std::process::id();
        let table = HashMap::from([
            (ours, row(1, ours)),
            // Under a keeper: a child, one of it with a session of its own, and one whose parent is
            // gone.
            (10, row(ours, 10)),
            (11, row(10, 11)),
            (12, row(11, 11)),
            (13, row(12, 13)),
            (14, row(10, 14)),
            // Under this process itself: a child that left the session counts, a sibling does not.
            (21, row(ours, 21)),
            (22, row(21, 22)),
            (23, row(1, 21)),
            (30, row(ours, 30)),
        ]);
        assert_eq!(of_tree(&table, 11).unwrap().memory_bytes, 4);
        assert_eq!(of_tree(&table, 21).unwrap().cpu_ms, 3);
        assert_eq!(of_tree(&table, 99), None);
    }
}
