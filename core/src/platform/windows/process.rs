//! A server's process and the job that holds it with everything it starts (SPEC 9.8, I-01).

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicAccountingInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{GetExitCodeProcess, INFINITE, WaitForSingleObject};

use super::check;
use crate::platform::{Exit, TreeSignal};

/// What those that the job ends give as their exit status.
const ENDED_BY_JOB: u32 = 1;

/// How often the job is looked at while its end is awaited: soon first, then more and more rarely.
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LAST: Duration = Duration::from_millis(16);

/// A job whose processes all end with its last handle, wherever that is closed: also when the host
/// is killed. No process may leave it.
#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: a job without a name, whose handle no child inherits; the result is checked, new
        // and unowned.
        let job = unsafe {
            let job = CreateJobObjectW(ptr::null(), ptr::null());
            if job.is_null() {
                return Err(io::Error::last_os_error());
            }
            Job(OwnedHandle::from_raw_handle(job))
        };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: the handle is open, and the structure is the one that this class of information
        // has.
        check(unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_val(&limits) as u32,
            )
        })?;
        Ok(job)
    }

    pub(super) fn handle(&self) -> *mut std::ffi::c_void {
        self.0.as_raw_handle()
    }

    /// Ends everything in it.
    fn terminate(&self) {
        // SAFETY: the handle is open. A job that is empty needs nothing.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), ENDED_BY_JOB) };
    }

    /// How many processes live in it.
    fn active(&self) -> io::Result<u32> {
        let mut account = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the handle is open, and the structure is the one that this class of information
        // has.
        check(unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut account).cast(),
                size_of_val(&account) as u32,
                ptr::null_mut(),
            )
        })?;
        Ok(account.ActiveProcesses)
    }
}

/// A server's process and its job. Dropping it ends what is left, since it closes the job.
#[derive(Debug)]
pub(crate) struct Process {
    pid: u32,
    job: Job,
    exit: watch::Receiver<Option<Exit>>,
}

impl Process {
    /// Watches a process that was started in this job.
    pub(super) fn new(pid: u32, job: Job, process: OwnedHandle) -> io::Result<Self> {
        const STACK_BYTES: usize = 64 * 1024;
        let (sender, exit) = watch::channel(None);
        let process = Arc::new(process);
        let thread =
            std::thread::Builder::new().name("trunkline-exit".into()).stack_size(STACK_BYTES);
        // It ends with the process, which ends with the job at the latest.
        thread.spawn(move || sender.send_replace(Some(wait(&process))))?;
        Ok(Process { pid, job, exit })
    }

    /// Its pid.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the leader has ended though nobody told how yet: here its end and its status are
    /// seen at once.
    pub(crate) fn is_ending(&self) -> bool {
        false
    }

    /// How the leader ended; `None` while it lives.
    pub(crate) fn exit_now(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for the end of the leader. A dropped future changes nothing.
    pub(crate) async fn exited(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Unknown),
            Err(_) => Exit::Unknown,
        }
    }

    /// Nothing: the job knows its processes.
    pub(crate) fn survey(&self) {}

    /// Waits until the job is empty. A dropped future changes nothing.
    pub(crate) async fn gone(&self) {
        self.exited().await;
        let mut pause = LOOK_FIRST;
        // A job that cannot be asked is not known to be empty.
        while !matches!(self.job.active(), Ok(0)) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_LAST);
        }
    }

    /// Ends the whole tree, for either purpose: no request reaches a process without a console of
    /// ours.
    pub(crate) fn signal(&self, signal: TreeSignal) {
        match signal {
            TreeSignal::Terminate | TreeSignal::Kill => self.job.terminate(),
        }
    }
}

fn wait(process: &OwnedHandle) -> Exit {
    let mut status = 0;
    // SAFETY: the handle stays open for the call, and the status is valid for the other to write.
    let known = unsafe {
        WaitForSingleObject(process.as_raw_handle(), INFINITE);
        GetExitCodeProcess(process.as_raw_handle(), &mut status)
    };
    if known == 0 { Exit::Unknown } else { Exit::Status(status.cast_signed()) }
}
