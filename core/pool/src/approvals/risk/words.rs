//! The names that risk marks are found by.

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

/// Variables that make some program load or run something, or find another program.
const LOADERS: &[&str] = &[
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONEXECUTABLE",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "PERL5LIB",
    "PERLLIB",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "R_PROFILE",
    "R_PROFILE_USER",
    "GCONV_PATH",
    "LOCPATH",
    "GLIBC_TUNABLES",
    "DOTNET_STARTUP_HOOKS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_EXEC_PATH",
    "GIT_PROXY_COMMAND",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "SHELL",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "RUSTC_WRAPPER",
    "TRUNKLINE_HOME",
];

/// Beginnings of such variables: of loaders, of managers of packages, of hooks into a runtime.
const LOADER_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "COR_",
    "CORECLR_",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "BUN_",
    "DENO_",
    "LUA_INIT_",
    "GIT_CONFIG_",
];

/// Programs that fetch a package and run it, and the flags that they take.
pub(super) struct Runner {
    programs: &'static [&'static str],
    /// Flags that name the package, so that the first word is a program of it.
    pub(super) naming: &'static [&'static str],
    /// Flags that name a package besides.
    pub(super) adding: &'static [&'static str],
    /// Flags with a value that is no package. One that some program of them does not take would hide the package behind it.
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

/// What such a runner does before it is told the package.
pub(super) const RUNNER_VERBS: &[&str] = &["exec", "x", "dlx", "run", "tool"];

/// The naming flag that npm heeds after the first word as well.
pub(super) const EVERYWHERE: &str = "--package";

impl Flags {
    /// Whether an argument gives code. Flags of letters may stand together, with digits that some of them take, and their value beside them.
    pub(super) fn carry_code(&self, argument: &str) -> bool {
        let lower = argument.to_ascii_lowercase();
        let (flag, _) = lower.split_once(['=', ':']).unwrap_or((&lower, ""));
        if self.long.contains(&flag) {
            return true;
        }
        let Some(cluster) = argument.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
            return false;
        };
        let letters = cluster.chars().take_while(char::is_ascii_alphanumeric);
        letters.into_iter().any(|letter| self.short.contains(letter))
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

/// Whether a variable decides what programs load. Where names differ in case alone, they are one on some systems.
pub(super) fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    LOADERS.contains(&name.as_str())
        || LOADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a package of a registry names one version: `name==1.2` (PEP 440), `name@1.2.3` (Semantic Versioning, where less than three
/// numbers are a range, and what is no version is a tag that moves). What is fetched from an address or is a folder has none.
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
