//! How much memory a test took at its worst.

/// The most memory that this process had before; from its making on its peak is counted anew.
pub struct Peak {
    before_kib: u64,
}

impl Peak {
    /// The peak is forgotten.
    pub fn begin() -> Peak {
        std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be forgotten");
        Peak { before_kib: now_kib() }
    }

    /// By how much more the process had at its worst since, in KiB.
    pub fn grown_kib(&self) -> u64 {
        now_kib().saturating_sub(self.before_kib)
    }
}

fn now_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
