//! Starting a program: in its job from the beginning, with three handles and no others, without a
//! shell (S-20, S-22).

use std::ffi::{OsStr, c_void};
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use tokio::sync::oneshot;
use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::System::SystemInformation::GetSystemDirectoryW;
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_UNICODE_ENVIRONMENT, CreateProcessW, DeleteProcThreadAttributeList,
    EXTENDED_STARTUPINFO_PRESENT, InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_INFORMATION,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, UpdateProcThreadAttribute,
};

use super::pipe::{ReadPipe, WritePipe};
use super::process::{Job, Process};
use super::{check, command_line};
use crate::platform::{Expected, FileStamp, Launch, LaunchError, Launched, OnBlockingThread};

/// Starts a program. Must be awaited on the runtime that is to serve its pipes.
///
/// A dropped future leaves nothing: a process that comes up without a taker ends with its job.
pub(crate) async fn launch(
    launch: Launch,
    on_blocking_thread: OnBlockingThread,
) -> Result<Launched, LaunchError> {
    let open = |error| LaunchError::new("open its pipes", error);
    let started = |error| LaunchError::new("start it", error);
    let (stdin, child_in) = WritePipe::pair().await.map_err(open)?;
    let (stdout, child_out) = ReadPipe::pair().await.map_err(open)?;
    let (stderr, child_err) = ReadPipe::pair().await.map_err(open)?;
    let order = Order::new(&launch)
        .map_err(|error| LaunchError::new("pass its arguments and environment", error))?;
    // Nothing is tied to the thread here, as it is elsewhere.
    let expected = launch.expected;
    let start = move || {
        as_it_was_looked_at(&expected)?;
        let created = create(order, [child_in, child_out, child_err]);
        // Nobody writes to its files or moves them until here.
        drop(expected);
        created.map_err(started)
    };
    let (send, created) = oneshot::channel();
    on_blocking_thread(Box::new(move || drop(send.send(start()))));
    let process = created.await.map_err(|_| {
        // The runtime ends.
        started(io::ErrorKind::BrokenPipe.into())
    })?;
    Ok(Launched { process: process?, stdin, stdout, stderr })
}

/// Whether the files that are held open by now are those that were looked at.
fn as_it_was_looked_at(expected: &Expected) -> Result<(), LaunchError> {
    let other = |error| LaunchError::new(LaunchError::FIND_AGAIN, error);
    for (path, stamp) in &expected.files {
        let found = File::open(path).and_then(|file| FileStamp::of(&file)).map_err(other)?;
        if found != *stamp {
            return Err(other(io::ErrorKind::NotFound.into()));
        }
    }
    Ok(())
}

/// What the system is given, each text ended by a zero.
struct Order {
    program: Vec<u16>,
    command_line: Vec<u16>,
    environment: Vec<u16>,
    cwd: Vec<u16>,
}

impl Order {
    fn new(launch: &Launch) -> io::Result<Self> {
        let refused = |it: command_line::ArgumentRefusal| {
            io::Error::new(io::ErrorKind::InvalidInput, it.message())
        };
        let args: Vec<_> = launch.args.iter().map(|arg| units(arg)).collect();
        let args = args.iter().map(|arg| &**arg);
        let script = units(launch.program.as_os_str());
        let (program, command_line) =
            if command_line::is_batch_file(&launch.program.to_string_lossy()) {
                (interpreter()?, command_line::batch_command_line(&script, args))
            } else {
                (script, command_line::command_line(&units(&launch.name), args))
            };
        let pairs = launch.env.iter().map(|(name, value)| (units(name), units(value)));
        Ok(Order {
            program: ended(program),
            command_line: command_line.map_err(refused)?,
            environment: command_line::environment_block(pairs.collect()).map_err(refused)?,
            cwd: ended(units(launch.cwd.as_os_str())),
        })
    }
}

fn units(text: &OsStr) -> Vec<u16> {
    text.encode_wide().collect()
}

fn ended(mut text: Vec<u16>) -> Vec<u16> {
    text.push(0);
    text
}

/// The command interpreter of the system, wherever `COMSPEC` may point.
fn interpreter() -> io::Result<Vec<u16>> {
    const PATH_UNITS: usize = 260;
    let mut path = vec![0; PATH_UNITS];
    // SAFETY: the buffer is valid for the length that is given.
    let length = unsafe { GetSystemDirectoryW(path.as_mut_ptr(), PATH_UNITS as u32) } as usize;
    if length == 0 || length >= PATH_UNITS {
        return Err(io::ErrorKind::NotFound.into());
    }
    path.truncate(length);
    path.extend(r"\cmd.exe".encode_utf16());
    Ok(path)
}

/// Creates the process in a job of its own.
fn create(mut order: Order, streams: [File; 3]) -> io::Result<Process> {
    let job = Job::new()?;
    let jobs = [job.handle()];
    let handles = streams.each_ref().map(AsRawHandle::as_raw_handle);
    let mut attributes = Attributes::new(2)?;
    attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
    attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
    let mut startup = STARTUPINFOEXW::default();
    startup.StartupInfo.cb = size_of_val(&startup) as u32;
    startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    [
        startup.StartupInfo.hStdInput,
        startup.StartupInfo.hStdOutput,
        startup.StartupInfo.hStdError,
    ] = handles;
    startup.lpAttributeList = attributes.list();
    let mut created = PROCESS_INFORMATION::default();
    for handle in handles {
        // SAFETY: the handle is open. It is inheritable from here to the end of this function only.
        check(unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) })?;
    }
    // SAFETY: every text ends with a zero, the command line is writable, and everything that the
    // structures point to outlives the call.
    check(unsafe {
        CreateProcessW(
            order.program.as_ptr(),
            order.command_line.as_mut_ptr(),
            ptr::null(),
            ptr::null(),
            1,
            CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW,
            order.environment.as_ptr().cast(),
            order.cwd.as_ptr(),
            &startup.StartupInfo,
            &mut created,
        )
    })?;
    // SAFETY: both are new and unowned.
    let (process, _thread) = unsafe {
        let own = |handle| OwnedHandle::from_raw_handle(handle);
        (own(created.hProcess), own(created.hThread))
    };
    Process::new(created.dwProcessId, job, process)
}

/// A list of attributes for a new process.
struct Attributes {
    /// Words, for their alignment.
    memory: Vec<usize>,
}

impl Attributes {
    fn new(count: u32) -> io::Result<Self> {
        let mut bytes = 0;
        // SAFETY: without a list the call only says how many bytes one needs.
        unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), count, 0, &mut bytes) };
        let mut memory = vec![0_usize; bytes.div_ceil(size_of::<usize>())];
        // SAFETY: the memory is as large as the call before asked for.
        check(unsafe {
            InitializeProcThreadAttributeList(memory.as_mut_ptr().cast(), count, 0, &mut bytes)
        })?;
        Ok(Attributes { memory })
    }

    /// Sets an attribute whose value is a list of handles. The list is kept by its address: it must
    /// outlive the creation.
    fn set(&mut self, attribute: u32, handles: &[*mut c_void]) -> io::Result<()> {
        let none = ptr::null_mut();
        let (value, size) = (handles.as_ptr().cast(), size_of_val(handles));
        let list = self.list();
        // SAFETY: the list is initialised, and the handles are valid for their size.
        check(unsafe {
            UpdateProcThreadAttribute(list, 0, attribute as usize, value, size, none, ptr::null())
        })
    }

    fn list(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.memory.as_mut_ptr().cast()
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and nothing uses it any more.
        unsafe { DeleteProcThreadAttributeList(self.list()) };
    }
}
