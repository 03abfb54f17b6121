//! Which file a command names: no shell, no relative entry of `PATH` (S-08, S-20).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trunkline_pool::config::StdioSpec;

use super::Environment;
use crate::base::escape::escape_line;
use crate::runtime::blocking_pool::OneByOneOf;
use crate::{Error, ErrorCode, Result};

/// Where a server starts, and which file is executed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundProgram {
    /// Its working directory: an absolute path, which may name nothing.
    pub cwd: PathBuf,
    /// The program: an absolute path. Links in it are not resolved, since many programs look at the
    /// name they were called by.
    pub program: PathBuf,
    /// Where the child looks for programs.
    pub search: Option<OsString>,
}

/// Look-ups that may wait for a file system, those that look for the same one by one.
pub(crate) type SearchCache = OneByOneOf<ProgramQuery>;

/// What is looked for, and everything that says where.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramQuery {
    server: Arc<str>,
    folder: PathBuf,
    command: String,
    path: Option<OsString>,
}

impl ProgramQuery {
    /// The program of a server.
    pub(crate) fn new(
        server: &Arc<str>,
        spec: &StdioSpec,
        workspace: &Path,
        environment: &Environment,
    ) -> ProgramQuery {
        ProgramQuery {
            server: server.clone(),
            folder: folder(spec, workspace),
            command: spec.command.clone(),
            path: environment.path().map(OsStr::to_owned),
        }
    }
}

impl FoundProgram {
    /// The file that the program's path leads to, through every link.
    pub(crate) fn file(&self) -> io::Result<PathBuf> {
        self.program.canonicalize()
    }
}

/// The absolute path of a server's working directory: its own `cwd`, which may begin at the
/// workspace, or the workspace.
pub(crate) fn folder(spec: &StdioSpec, workspace: &Path) -> PathBuf {
    let cwd = match &spec.cwd {
        Some(cwd) => workspace.join(cwd),
        None => workspace.to_owned(),
    };
    std::path::absolute(&cwd).unwrap_or(cwd)
}

/// Finds the program of a server, for its start and for the request to approve it (S-08). Only
/// looks.
///
/// # Errors
/// `spawn_failed` with `detail.command` and `detail.errno`.
pub(crate) fn program(
    server: &str,
    spec: &StdioSpec,
    workspace: &Path,
    environment: &Environment,
) -> Result<FoundProgram> {
    let cwd = folder(spec, workspace);
    match find(&spec.command, environment.path(), &cwd) {
        Ok(program) => {
            let program = std::path::absolute(&program).unwrap_or(program);
            let search = environment.path().map(OsStr::to_owned);
            Ok(FoundProgram { cwd, program, search })
        }
        Err(error) => Err(unfound(server, &spec.command, environment.path(), &cwd, &error)),
    }
}

/// Whether a server can start in a folder.
///
/// # Errors
/// `spawn_failed` with `detail.cwd` and `detail.errno`.
pub(crate) fn check_folder(server: &str, cwd: &Path) -> Result<()> {
    let found = std::fs::metadata(cwd).and_then(|found| {
        if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    found.map_err(|error: io::Error| {
        let shown = escape_line(cwd.to_string_lossy().as_bytes());
        let message =
            format!("the working directory {shown} cannot be entered: {}", reason(&error));
        let hint = match cwd
            .components()
            .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"~"))
        {
            true => HINT_TILDE,
            false => "create the folder, or correct cwd in the server's configuration",
        };
        with_errno(Error::new(ErrorCode::SpawnFailed, message), &error)
            .with_server(server)
            .with_detail("cwd", shown)
            .with_hint(hint)
    })
}

/// No file can be started as that command.
fn unfound(
    server: &str,
    command: &str,
    path: Option<&OsStr>,
    cwd: &Path,
    error: &io::Error,
) -> Error {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    if let Some(program) = first_of_line(command, path, cwd).filter(|_| is_missing) {
        return command_line(server, program, error);
    }
    let is_name = !command.contains(std::path::is_separator);
    let shown = escape_line(command.as_bytes());
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound if is_name => (
            format!("the command {shown} is in no folder of the PATH that the server has"),
            "install it, give its absolute path as `command`, or set PATH in the server's `env`",
        ),
        io::ErrorKind::NotFound if Path::new(command).is_relative() => {
            let folder = escape_line(cwd.to_string_lossy().as_bytes());
            let message =
                format!("the command {shown} is not there, seen from the folder {folder}");
            return of_command(message, error, server, shown)
                .with_detail("folder", folder)
                .with_hint(hint_of_relative(command));
        }
        io::ErrorKind::NotFound => {
            (format!("the command {shown} is not there"), "install it, or correct `command`")
        }
        io::ErrorKind::PermissionDenied => (
            format!("the command {shown} may not be executed"),
            "make the file, and the folders that lead to it, executable for this user",
        ),
        _ => {
            (format!("the command {shown} cannot be used: {}", reason(error)), "correct `command`")
        }
    };
    of_command(message, error, server, shown).with_hint(hint)
}

fn hint_of_relative(command: &str) -> &'static str {
    match command.starts_with('~') {
        true => HINT_TILDE,
        false => {
            "install it, or correct `command`: a relative path begins at the server's working directory"
        }
    }
}

/// What is said of a `~` that was taken as it is.
pub(super) const HINT_TILDE: &str = "write the whole path: only in a settings file, and only alone or before a `/`, is `~` the home folder of this user";

/// The program that a command which is a whole line of a shell begins with: the shortest beginning
/// that is a program, or else the first word, where that is no path. The rest of it may be secret.
fn first_of_line<'a>(command: &'a str, path: Option<&OsStr>, cwd: &Path) -> Option<&'a str> {
    let blanks = command.match_indices(char::is_whitespace).map(|(at, _)| &command[..at]);
    let mut beginnings = blanks.filter(|beginning| !beginning.is_empty()).take(WORDS_MAX);
    let first = beginnings.clone().next()?;
    let is_program = |beginning: &&str| find(beginning, path, cwd).is_ok();
    let is_path = first.contains(std::path::is_separator);
    beginnings.find(is_program).or_else(|| (!is_path).then_some(first))
}

/// Blanks of a command behind which its arguments may begin.
const WORDS_MAX: usize = 8;

fn command_line(server: &str, program: &str, error: &io::Error) -> Error {
    let shown = escape_line(program.as_bytes());
    let message = format!(
        "`command` holds a whole command line, that of {shown}, and no file has such a name"
    );
    of_command(message, error, server, shown)
        .with_hint("leave the program alone in `command`, and put its arguments into `args`")
}

/// A command was found and could not be started, trying to take that step. Never says an argument
/// or a value of the environment.
pub(crate) fn failure(server: &str, command: &str, step: &str, error: &io::Error) -> Error {
    let shown = escape_line(command.as_bytes());
    let message =
        format!("the command {shown} failed to start, trying to {step}: {}", reason(error));
    let hint = match error.kind() {
        io::ErrorKind::NotFound => {
            "the file is there: look for the loader or the interpreter that it needs"
        }
        io::ErrorKind::PermissionDenied => "make the file executable for this user",
        _ if is_no_program(error) => {
            "the file is not a program of this machine; a script begins with a line such as #!/bin/sh"
        }
        _ => "start the command by hand to see why",
    };
    of_command(message, error, server, shown).with_hint(hint)
}

/// A command was found, and a file of it was another by the time of its start.
pub(crate) fn replaced(server: &str, command: &str) -> Error {
    let shown = escape_line(command.as_bytes());
    let message = format!("a file of the command {shown} was replaced while it was started");
    Error::new(ErrorCode::SpawnFailed, message)
        .with_server(server)
        .with_detail("command", shown)
        .with_detail("replaced", true)
        .with_hint("look at who writes to the program, or to its interpreter")
}

pub(super) fn of_command(message: String, error: &io::Error, server: &str, shown: String) -> Error {
    with_errno(Error::new(ErrorCode::SpawnFailed, message), error)
        .with_server(server)
        .with_detail("command", shown)
}

#[cfg(unix)]
fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOEXEC)
}

#[cfg(not(unix))]
fn is_no_program(_: &io::Error) -> bool {
    false
}

pub(super) fn with_errno(failure: Error, error: &io::Error) -> Error {
    match error.raw_os_error() {
        Some(errno) => failure.with_detail("errno", errno),
        None => failure,
    }
}

/// The system's words for an error, lower case, without its number; our own as they are.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(_) => text.split(" (os error").next().unwrap_or_default().to_lowercase(),
        None => text,
    }
}

/// Where commands are looked for when the child's environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute path of a command: a name is looked up in `path`, anything with a separator is
/// taken from `cwd`.
///
/// # Errors
/// `NotFound`, or `PermissionDenied` when only files were found that cannot be executed.
pub(super) fn find(command: &str, path: Option<&OsStr>, cwd: &Path) -> io::Result<PathBuf> {
    if command.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    if command.contains(std::path::is_separator) {
        let found = names(command).into_iter().map(|name| {
            let program = cwd.join(name);
            check(&program).map(|()| program)
        });
        return found.reduce(io::Result::or).unwrap_or_else(|| Err(not_found()));
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut refusal = not_found();
    let names = names(command);
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        for program in names.iter().map(|name| folder.join(name)) {
            match check(&program) {
                Ok(()) => return Ok(program),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refusal = error,
                Err(_) => {}
            }
        }
    }
    Err(refusal)
}

/// The names of the files that a command may stand for. The first that exists is taken.
fn names(command: &str) -> Vec<String> {
    if cfg!(windows) { names_on_windows(command) } else { vec![command.to_owned()] }
}

/// On Windows only a file with one of these endings is a program: `npx` is a script for other
/// systems, which lies beside `npx.cmd`.
fn names_on_windows(command: &str) -> Vec<String> {
    const ENDINGS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];
    let lower = command.to_ascii_lowercase();
    if ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
        return vec![command.to_owned()];
    }
    ENDINGS.map(|ending| format!("{command}{ending}")).to_vec()
}

/// Whether it is a file that somebody may execute; the exec itself has the last word.
pub(super) fn check(program: &Path) -> io::Result<()> {
    let found = std::fs::metadata(program)?;
    if found.is_dir() {
        return Err(folder_error());
    }
    if !found.is_file() {
        return Err(denied());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        const ANY_EXECUTE: u32 = 0o111;
        if found.permissions().mode() & ANY_EXECUTE == 0 {
            return Err(denied());
        }
    }
    Ok(())
}

#[cfg(unix)]
fn not_found() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOENT)
}

#[cfg(unix)]
fn denied() -> io::Error {
    io::Error::from_raw_os_error(libc::EACCES)
}

#[cfg(unix)]
fn folder_error() -> io::Error {
    io::Error::from_raw_os_error(libc::EISDIR)
}

#[cfg(not(unix))]
fn folder_error() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}

#[cfg(not(unix))]
fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

#[cfg(not(unix))]
fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-08.
    #[test]
    fn relative_entries_of_the_path_are_passed_over() {
        let path = OsStr::new(".::bin:/bin");
        let found = find("sh", Some(path), Path::new("/")).unwrap();
        assert_eq!(found, Path::new("/bin/sh"));
        assert!(find("sh", Some(OsStr::new(".:bin:")), Path::new("/")).is_err());
    }

    /// SPEC 9.8: the wrappers of package runners are batch files there.
    #[test]
    fn on_windows_a_command_without_an_ending_stands_for_a_program_only() {
        assert_eq!(names_on_windows("npx"), ["npx.com", "npx.exe", "npx.bat", "npx.cmd"]);
        assert_eq!(names_on_windows(r"c:\a.b\Server.EXE"), [r"c:\a.b\Server.EXE"]);
        assert_eq!(names("npx"), ["npx"]);
    }

    #[test]
    fn who_has_no_program_is_told_why_and_what_to_do() {
        let told = |command: &str, path: &str| {
            let (path, cwd) = (Some(OsStr::new(path)), Path::new("/"));
            let error = find(command, path, cwd).unwrap_err();
            let error = unfound("demo", command, path, cwd, &error);
            assert_eq!((error.code(), error.server()), (ErrorCode::SpawnFailed, Some("demo")));
            assert!(error.detail()["errno"].is_number());
            assert!(command.starts_with(error.detail()["command"].as_str().unwrap()));
            (error.message().to_owned(), error.hint().unwrap_or_default().to_owned())
        };
        let (message, hint) = told("no-such-program", "/usr/bin:/bin");
        assert_eq!(
            message,
            "the command no-such-program is in no folder of the PATH that the server has"
        );
        assert!(hint.contains("absolute path") && hint.contains("`env`"), "{hint}");
        // A folder of that name is no program, and does not end the search.
        assert_eq!(told("bin", "/usr:/").0, told("bin", "/bin").0);
        let (message, hint) = told("./no-such-program", "/bin");
        assert_eq!(message, "the command ./no-such-program is not there, seen from the folder /");
        assert!(hint.contains("working directory"), "{hint}");
        let (message, hint) = told("~other/bin/s", "/bin");
        assert_eq!(message, "the command ~other/bin/s is not there, seen from the folder /");
        assert!(hint.contains("home folder"), "{hint}");
        assert_eq!(told("/no/such", "/bin").0, "the command /no/such is not there");
        assert_eq!(told("passwd", "/etc").0, "the command passwd may not be executed");
        assert_eq!(told("./bin", "/bin").0, "the command ./bin cannot be used: is a directory");
    }

    /// SPEC 18.10: what a shell would take apart is told as such, and its arguments, which may be
    /// secret, are not shown.
    #[test]
    fn a_command_line_in_the_command_is_told_as_one() {
        let told = |command: &str| {
            let (path, cwd) = (Some(OsStr::new("/bin")), Path::new("/"));
            let error = find(command, path, cwd).unwrap_err();
            let error = unfound("demo", command, path, cwd, &error);
            assert!(!error.to_json().to_string().contains("canary"), "{error}");
            let hint = error.hint().unwrap_or_default();
            assert_eq!(hint.contains("`args`"), error.message().contains("whole command line"));
            error.message().to_owned()
        };
        for (command, program) in [
            ("npx -y some-server --token canary", "npx"),
            ("sh\t-c canary", "sh"),
            ("/bin/sh -c canary", "/bin/sh"),
            ("./bin/sh -c canary", "./bin/sh"),
        ] {
            assert_eq!(
                told(command),
                format!(
                    "`command` holds a whole command line, that of {program}, and no file has such a name"
                )
            );
        }
        // A path may have blanks.
        assert_eq!(told("/no such/program"), "the command /no such/program is not there");
    }

    #[test]
    fn a_program_that_the_system_refuses_is_told_with_what_it_may_lack() {
        let told = |errno| {
            let error = failure("demo", "tool", "execute it", &io::Error::from_raw_os_error(errno));
            format!("{}; {}", error.message(), error.hint().unwrap_or_default())
        };
        assert_eq!(
            told(libc::ENOENT),
            "the command tool failed to start, trying to execute it: no such file or directory; \
             the file is there: look for the loader or the interpreter that it needs"
        );
        assert!(told(libc::ENOEXEC).ends_with("a script begins with a line such as #!/bin/sh"));
        assert!(told(libc::E2BIG).ends_with("start the command by hand to see why"));
    }

    #[test]
    fn a_file_that_cannot_be_executed_is_refused_with_its_reason() {
        let found = find("passwd", Some(OsStr::new("/etc")), Path::new("/"));
        assert_eq!(found.unwrap_err().raw_os_error(), Some(libc::EACCES));
        let missing = find("./nothing-here", None, Path::new("/"));
        assert_eq!(missing.unwrap_err().raw_os_error(), Some(libc::ENOENT));
    }
}
