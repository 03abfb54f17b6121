use super::*;

/// Those who hold the server.
struct Bench {
    levels: LogLevels,
    holders: Vec<SessionId>,
}

impl Bench {
    fn new(holders: &[u64]) -> Bench {
        Bench {
            levels: LogLevels::default(),
            holders: holders.iter().map(|n| SessionId(*n)).collect(),
        }
    }

    /// What the server is told by that connection, and answers so.
    fn told(&self, generation: u32, answer: LevelAnswer) -> Option<LogLevel> {
        let mut told = None;
        self.levels.tell(Generation(generation), self.has_silent(), |level, answered| {
            told = Some(level);
            answered.tell(answer);
        });
        told
    }

    fn takes(&self, generation: u32) -> Option<LogLevel> {
        self.told(generation, LevelAnswer::Taken)
    }

    fn take_over(&self, session: u64, level: LogLevel) -> TakenOver {
        self.levels.take_over((SessionId(session), level), Generation(1), self.has_silent())
    }

    fn has_silent(&self) -> impl FnOnce(&BTreeMap<SessionId, LogLevel>) -> bool {
        |levels| self.holders.iter().any(|holder| !levels.contains_key(holder))
    }

    fn set(&self, session: u64, level: LogLevel) {
        self.levels.set(SessionId(session), level);
    }

    fn release(&mut self, session: u64) {
        self.holders.retain(|holder| *holder != SessionId(session));
        self.levels.forget(SessionId(session));
    }

    /// The least grave that a session hears of a server that says everything.
    fn hears(&self, session: u64, generation: u32) -> LogLevel {
        let admits = |level: &LogLevel| {
            self.levels.admits(Some(SessionId(session)), Generation(generation), *level)
        };
        LogLevel::ALL.into_iter().rev().take_while(admits).last().unwrap()
    }
}

/// SPEC 16.8.
#[test]
fn a_server_is_told_the_least_that_is_wanted_once_for_each_connection() {
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.takes(1), None);
    bench.set(1, LogLevel::Error);
    let error = Some(LogLevel::Error);
    assert_eq!([1, 1, 2].map(|generation| bench.takes(generation)), [error, None, error]);
    bench.set(2, LogLevel::Debug);
    let of = |session| bench.levels.of(SessionId(session));
    assert_eq!((of(1), of(2)), (error, Some(LogLevel::Debug)));
    assert_eq!((bench.takes(2), bench.takes(2)), (Some(LogLevel::Debug), None));
    bench.release(2);
    assert_eq!(bench.takes(2), error);
    assert_eq!(bench.take_over(2, LogLevel::Alert).level, LogLevel::Error);
    assert_eq!(bench.takes(2), error);
    bench.release(1);
    bench.release(2);
    assert_eq!(bench.takes(3), None);
}

/// SPEC 16.8, 8.1: a server that dies of a level comes back without it.
#[test]
fn a_level_that_was_never_answered_is_not_told_for_ever() {
    let bench = Bench::new(&[]);
    let told = |generation| bench.told(generation, LevelAnswer::Unknown);
    bench.set(1, LogLevel::Info);
    let first = Some(LogLevel::Info);
    assert_eq!([1, 2, 3, 4].map(told), [first, first, None, None]);
    bench.set(1, LogLevel::Debug);
    let other = Some(LogLevel::Debug);
    assert_eq!([4, 5, 6].map(told), [other, other, None]);
    let taken = bench.take_over(1, LogLevel::Info);
    assert!(!bench.levels.over(taken, LevelAnswer::Unknown));
    assert_eq!([7, 8].map(told), [first, None]);
}

/// SPEC 16.8: what one session names takes nothing from one that names none, and floods it with
/// nothing.
#[test]
fn who_names_no_level_hears_what_the_server_says_unasked() {
    use LogLevel::{Debug, Error, Info};
    // What came before any was told, what another session names, what the server is told, and the
    // least that both hear.
    let table = [
        (None, Error, Info, Info, Error),
        (None, Debug, Debug, Info, Debug),
        (Some(Debug), Error, Debug, Debug, Error),
        (Some(Error), Error, Info, Info, Error),
    ];
    for (came, named, told, silent, other) in table {
        let mut bench = Bench::new(&[1, 2]);
        if let Some(came) = came {
            assert!(bench.levels.admits(Some(SessionId(1)), Generation(1), came));
        }
        bench.set(2, named);
        assert_eq!(bench.takes(1), Some(told), "{came:?}, {named:?}");
        assert_eq!((bench.hears(1, 1), bench.hears(2, 1)), (silent, other), "{came:?}, {named:?}");
        // It stays so when the other one is gone, by the same connection; another one begins anew.
        bench.release(2);
        assert_eq!(bench.takes(1), (told != silent).then_some(silent));
        assert_eq!((bench.hears(1, 1), bench.takes(2)), (silent, None));
        assert_eq!(bench.hears(1, 2), Debug);
    }
}

/// SPEC 16.8: a server that takes no level goes on as it began.
#[test]
fn nothing_is_kept_from_who_names_no_level_where_the_server_was_told_none() {
    for answer in [LevelAnswer::Refused, LevelAnswer::Untold] {
        let bench = Bench::new(&[1, 2]);
        bench.set(2, LogLevel::Error);
        bench.told(1, answer);
        assert_eq!((bench.hears(1, 1), bench.hears(2, 1)), (LogLevel::Debug, LogLevel::Error));
        let taken = bench.take_over(2, LogLevel::Alert);
        bench.levels.over(taken, answer);
        assert_eq!((bench.hears(1, 1), bench.hears(2, 1)), (LogLevel::Debug, LogLevel::Alert));
    }
}

/// SPEC 16.8: whichever of two requests came last, the server says at last what all want.
#[test]
fn a_level_that_was_decided_while_another_was_on_its_way_is_told_again() {
    for answer in
        [LevelAnswer::Taken, LevelAnswer::Refused, LevelAnswer::Unknown, LevelAnswer::Untold]
    {
        let bench = Bench::new(&[1, 2]);
        let error = bench.take_over(1, LogLevel::Error);
        bench.set(2, LogLevel::Debug);
        assert_eq!(bench.takes(1), Some(LogLevel::Debug));
        assert!(bench.levels.over(error, answer));
        assert_eq!((bench.takes(1), bench.takes(1)), (Some(LogLevel::Debug), None), "{answer:?}");
    }
}

/// SPEC 16.8.
#[test]
fn a_level_of_a_request_is_told_once_where_nothing_came_between() {
    let bench = Bench::new(&[1]);
    let taken = bench.take_over(1, LogLevel::Error);
    bench.levels.over(taken, LevelAnswer::Taken);
    assert_eq!(bench.takes(1), None);
    // One that was never sent is.
    let taken = bench.take_over(1, LogLevel::Info);
    bench.levels.over(taken, LevelAnswer::Untold);
    assert_eq!((bench.takes(1), bench.takes(1)), (Some(LogLevel::Info), None));
}
