//! What of a command line a row of the table is about.

use super::kind::RiskKind;
use crate::approvals::ProjectRoot;

/// A row of the table: what a mark is given for.
pub(in crate::approvals) struct RiskRow {
    /// The mark.
    pub(in crate::approvals) kind: RiskKind,
    /// The programs, by their names without ending and version, with spaces between; any of them,
    /// wherever it stands.
    programs: &'static str,
    /// What about them.
    pub(super) cue: Cue,
    /// A line of words that has the mark by this row.
    #[cfg(test)]
    pub(in crate::approvals) example: &'static str,
}

/// One row.
pub(super) const fn row(
    kind: RiskKind,
    programs: &'static str,
    cue: Cue,
    example: &'static str,
) -> RiskRow {
    #[cfg(not(test))]
    let _ = example;
    RiskRow {
        kind,
        programs,
        cue,
        #[cfg(test)]
        example,
    }
}

/// What about a program a mark is given for.
pub(super) enum Cue {
    /// It is named.
    Named,
    /// It is the command itself: its name is a common word besides.
    First,
    /// One of these flags or verbs follows, which have spaces between.
    Long(&'static str),
    /// One of these letters follows, in a short flag.
    Short(&'static str),
    /// A word follows that begins with one of these.
    Begins(&'static str),
    /// A program in a file of the workspace follows.
    Script,
}

impl RiskRow {
    pub(in crate::approvals) fn programs(&self) -> impl Iterator<Item = &'static str> {
        self.programs.split(' ')
    }

    /// Each flag, verb, letter and beginning of it, as a word of a command line.
    #[cfg(test)]
    pub(in crate::approvals) fn words(&self) -> Vec<String> {
        let words = |text: &str, behind: &str| {
            text.split(' ').map(|word| [word, behind].concat()).collect::<Vec<_>>()
        };
        match self.cue {
            Cue::Named | Cue::First | Cue::Script => Vec::new(),
            Cue::Long(flags) => [words(flags, ""), words(flags, "=x")].concat(),
            Cue::Short(letters) => letters.chars().map(|letter| format!("-{letter}")).collect(),
            Cue::Begins(beginnings) => words(beginnings, "x"),
        }
    }

    /// Whether its program alone has the mark.
    pub(super) fn is_named(&self, place: usize) -> bool {
        match self.cue {
            Cue::Named => true,
            Cue::First => place == 0,
            _ => false,
        }
    }

    /// Whether a word after its program has the mark.
    pub(super) fn is_in(&self, word: &str) -> bool {
        let lower = word.to_ascii_lowercase();
        match self.cue {
            Cue::Named | Cue::First | Cue::Script => false,
            Cue::Long(flags) => {
                let (flag, _) = lower.split_once(['=', ':']).unwrap_or((&lower, ""));
                flags.split(' ').any(|known| known == flag)
            }
            Cue::Short(letters) => has_letter(word, letters),
            Cue::Begins(beginnings) => {
                beginnings.split(' ').any(|beginning| lower.starts_with(beginning))
            }
        }
    }

    /// Whether it waits for the file that its program runs.
    pub(super) fn takes_script(&self) -> bool {
        matches!(self.cue, Cue::Script)
    }
}

/// Whether a short flag has one of these letters, alone, among others or with a value attached.
pub(super) fn has_letter(word: &str, letters: &str) -> bool {
    let Some(cluster) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return false;
    };
    let mut cluster = cluster.chars().take_while(char::is_ascii_alphanumeric);
    cluster.any(|letter| letters.contains(letter))
}

/// The look for the file that an interpreter runs.
#[derive(Default)]
pub(super) struct Script {
    is_wanted: bool,
    after_flag: bool,
}

impl Script {
    /// An interpreter is named.
    pub(super) fn begin(&mut self) {
        *self = Script { is_wanted: true, after_flag: false };
    }

    /// Whether this word may be the file, and one of the workspace. A bare word after a flag may be
    /// the flag's value, so that what follows it may be the file as well.
    pub(super) fn take_word(&mut self, word: &str, root: &ProjectRoot) -> bool {
        if !self.is_wanted || word.is_empty() {
            return false;
        }
        if word.starts_with('-') {
            self.after_flag = true;
            return false;
        }
        let is_bare = !word.contains(['/', '\\', '.']);
        self.is_wanted = is_bare && self.after_flag;
        is_of_workspace(word, root)
    }
}

/// Whether a path is one of the workspace: a relative one, which begins there, or one that leads
/// there.
fn is_of_workspace(path: &str, root: &ProjectRoot) -> bool {
    let bytes = path.as_bytes();
    let has_drive = bytes.len() > 2 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic();
    let is_elsewhere = path.starts_with(['/', '\\', '~']) || has_drive || path.contains("://");
    !is_elsewhere || root.holds(path)
}
