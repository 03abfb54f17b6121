//! The numbers of a session's lists, which its events of change name too.
//!
//! 1. Two lists that differ have two numbers, and a later one has no smaller number.
//! 2. A change that is told names a number. The list without it does not have that number; every
//!    list from then on has it, or a greater one. So a host that has a list of the number of an
//!    event, or a greater one, has what the event tells.
//!
//! Tools, prompts and resources have numbers of their own. With one number, a changed resource
//! would make a host send its tools anew.

/// The numbers of one list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// Of the list that was made last; 0 before the first.
    made: u64,
    /// What the change that was told last named: at most one more than that.
    told: u64,
}

/// Whether a list is the one that was made last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is the same.
    Same,
    /// It is the first one, or differs.
    Other,
}

impl Revision {
    /// The number of a list. What it is made of was read after all changes that were told.
    pub fn of_list(&mut self, made: Made) -> u64 {
        let next = match made {
            Made::Same => self.made,
            Made::Other => self.made + 1,
        };
        self.made = next.max(self.told);
        self.made
    }

    /// The number of a change, which is in every list that is made from now on.
    pub fn of_change(&mut self) -> u64 {
        self.told = self.made + 1;
        self.told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 7.4: a list that is made anew and is the same keeps its number, and another one has the
    /// next.
    #[test]
    fn another_list_has_another_number() {
        let mut revision = Revision::default();
        let made = [Made::Other, Made::Same, Made::Other, Made::Same];
        assert_eq!(made.map(|made| revision.of_list(made)), [1, 1, 2, 2]);
    }

    /// SPEC 7.4: changes between two lists have the number of the second one.
    #[test]
    fn changes_have_the_number_of_the_list_that_has_them() {
        let mut revision = Revision::default();
        assert_eq!(revision.of_list(Made::Other), 1);
        assert_eq!([revision.of_change(), revision.of_change()], [2, 2]);
        assert_eq!(revision.of_list(Made::Other), 2);
        assert_eq!(revision.of_list(Made::Same), 2);
        assert_eq!(revision.of_change(), 3);
    }

    /// SPEC 7.4: a list that had the change before it was told, or in which it was undone, has its
    /// number from then on.
    #[test]
    fn a_list_is_never_behind_what_was_told() {
        let mut revision = Revision::default();
        assert_eq!((revision.of_change(), revision.of_list(Made::Other)), (1, 1));
        assert_eq!((revision.of_change(), revision.of_list(Made::Same)), (2, 2));
    }
}
