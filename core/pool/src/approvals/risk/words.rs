//! The names that risk marks are found by.

use super::cue::has_letter;

/// Programs whose arguments are commands.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "elvish",
    "nu",
    "rbash",
    "busybox",
    "toybox",
    "cmd",
    "command",
    "powershell",
    "pwsh",
    "wsl",
    "osascript",
    "wscript",
    "cscript",
    "mshta",
];

/// How an interpreter is given code.
pub(super) struct Flags {
    programs: &'static [&'static str],
    /// Letters of short flags, alone, among others or with the code attached.
    short: &'static str,
    /// Long flags and verbs.
    long: &'static [&'static str],
}

const FLAGS: &[Flags] = &[
    Flags {
        programs: SHELLS,
        short: "cek",
        long: &["--command", "-command", "-encodedcommand", "-enc", "/c", "/k", "/r"],
    },
    Flags { programs: &["python", "pythonw", "pypy", "py", "ipython"], short: "c", long: &[] },
    Flags {
        programs: &["node", "nodejs", "bun", "tsx", "ts-node", "electron"],
        short: "ep",
        long: &["--eval", "--print", "-eval"],
    },
    Flags { programs: &["deno"], short: "", long: &["eval", "repl"] },
    Flags {
        programs: &["npx", "npm", "pnpm", "pnpx", "yarn", "bunx"],
        short: "c",
        long: &["--call", "--shell-mode"],
    },
    Flags {
        programs: &[
            "perl", "ruby", "irb", "lua", "luajit", "rscript", "julia", "elixir", "groovy", "scala",
        ],
        short: "eE",
        long: &["--eval", "--print"],
    },
    Flags { programs: &["php"], short: "rBRE", long: &["--run"] },
    Flags {
        programs: &["tclsh", "expect", "gdb", "sqlite3", "vim", "vi", "nvim", "emacs"],
        short: "c",
        long: &["-ex", "--eval", "-cmd", "--cmd"],
    },
    Flags {
        programs: &["awk", "gawk", "mawk", "sed"],
        short: "e",
        long: &["--source", "--expression"],
    },
];

/// Programs that fetch a package and run it, and the flags that they take.
pub(super) struct Runner {
    programs: &'static [&'static str],
    /// Flags that name the package, so that the first word is a program of it.
    pub(super) naming: &'static [&'static str],
    /// Flags that name a package besides.
    pub(super) adding: &'static [&'static str],
    /// Flags with a value that is no package. One that some program of them does not take would
    /// hide the package behind it.
    pub(super) taking: &'static [&'static str],
    /// Flags without a value. One that takes one would hide the package too.
    pub(super) bare: &'static [&'static str],
}

const RUNNERS: &[Runner] = &[
    Runner {
        programs: &["npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun"],
        naming: &["--package", "-p"],
        adding: &[],
        taking: &[],
        bare: &[
            "--",
            "-y",
            "--yes",
            "--no",
            "--no-install",
            "-q",
            "--quiet",
            "--silent",
            "--verbose",
            "--offline",
            "--prefer-offline",
            "--ignore-scripts",
            "--bun",
        ],
    },
    Runner {
        programs: &["uvx", "uv"],
        naming: &["--from"],
        adding: &["--with", "-w"],
        taking: &[
            "--python",
            "-p",
            "--directory",
            "--project",
            "--env-file",
            "--config-file",
            "--cache-dir",
            "--index",
            "--default-index",
            "--index-url",
            "-i",
            "--extra-index-url",
        ],
        bare: &["--", "-q", "--quiet", "-v", "--verbose", "--offline", "--no-cache", "--isolated"],
    },
    Runner {
        programs: &["pipx"],
        naming: &["--spec"],
        adding: &["--with"],
        taking: &["--python"],
        bare: &["--", "-q", "--quiet", "-v", "--verbose", "--no-cache"],
    },
];

/// Programs that fetch a package and run it, each with the verbs in a row that make it do so.
const PACKAGE_RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("pnpx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("dnx", &[]),
    ("npm", &["exec"]),
    ("npm", &["x"]),
    ("pnpm", &["dlx"]),
    ("yarn", &["dlx"]),
    ("bun", &["x"]),
    ("uv", &["tool", "run"]),
    ("pipx", &["run"]),
];

/// Programs that run the command line behind them, past flags and variables.
const WRAPPERS: &[&str] = &["env", "cmd"];

/// Whether a command line fetches a package and runs it, so that it needs nothing of the folder
/// that it works in.
pub(super) fn runs_package(argv: &[&str]) -> bool {
    let Some((program, arguments)) = argv.split_first() else { return false };
    let name = program_name(program);
    let is_word = |word: &&&str| !word.starts_with(['-', '/']) && !word.contains('=');
    if WRAPPERS.contains(&name.as_str()) {
        let rest = arguments.iter().position(|word| is_word(&word));
        return rest.is_some_and(|rest| runs_package(&arguments[rest..]));
    }
    let verbs: Vec<&str> = arguments.iter().filter(is_word).copied().collect();
    let does = |(_, wanted): &&(&str, &[&str])| {
        wanted.is_empty()
            || verbs.windows(wanted.len()).next().is_some_and(|verbs| verbs == *wanted)
    };
    PACKAGE_RUNNERS.iter().filter(|(runner, _)| *runner == name).any(|row| does(&row))
}

/// What such a runner does before it is told the package.
pub(super) const RUNNER_VERBS: &[&str] = &["exec", "x", "dlx", "run", "tool"];

/// The naming flag that npm heeds after the first word as well.
pub(super) const EVERYWHERE: &str = "--package";

impl Flags {
    /// Whether an argument gives code. Flags of letters may stand together, with digits that some
    /// of them take, and their value beside them.
    pub(super) fn carry_code(&self, argument: &str) -> bool {
        let lower = argument.to_ascii_lowercase();
        let (flag, _) = lower.split_once(['=', ':']).unwrap_or((&lower, ""));
        if self.long.contains(&flag) {
            return true;
        }
        has_letter(argument, self.short)
    }
}

/// What a program is called, wherever it is: without folder, ending of executables and version.
pub(super) fn program_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat", ".com", ".ps1"];
    let bare = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let versioned = bare.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    // A name of digits alone is one.
    if versioned.is_empty() { bare.to_owned() } else { versioned.to_owned() }
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

pub(super) fn flags_of(name: &str) -> impl Iterator<Item = &'static Flags> {
    FLAGS.iter().filter(move |flags| flags.programs.contains(&name))
}

pub(super) fn runner_of(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.programs.contains(&name))
}

/// Whether a package of a registry names one version: `name==1.2` (PEP 440), `name@1.2.3` (Semantic
/// Versioning, where less than three numbers are a range, and what is no version is a tag that
/// moves). What is fetched from an address or is a folder has none.
pub(super) fn is_pinned(package: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '!' | '_');
    if let Some((name, version)) = package.split_once("==") {
        let begins = version.starts_with(|c: char| c.is_ascii_digit());
        return is_of_registry(name)
            && begins
            && version.contains('.')
            && version.chars().all(is_sign);
    }
    let Some((name, version)) = package.rsplit_once('@') else {
        return false;
    };
    let numbers: Vec<&str> =
        version.split(['-', '+']).next().unwrap_or_default().split('.').collect();
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_of_registry(name)
        && numbers.len() == 3
        && numbers.iter().all(is_number)
        && version.chars().all(is_sign)
}

/// Whether a name is one of a registry, perhaps with a scope.
fn is_of_registry(name: &str) -> bool {
    let bare = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map_or("", |(_, bare)| bare),
        None => name,
    };
    !bare.is_empty() && !bare.contains(['/', '\\', ':'])
}
