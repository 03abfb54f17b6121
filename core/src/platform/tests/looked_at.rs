//! Programs that were looked at before their start: what they see of themselves, and that nothing
//! else is started (SPEC 12.12).

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use trunkline_pool::config::{ServerSpec, Transport};

use super::launch::{in_each_way_of, printed};
use crate::folder::Folder;
use crate::host_env::{Environment, SearchCache, StartSnapshot};
use crate::platform::*;
use crate::transport::stdio::{self, ProgramCheck};

/// A program of some kind, what it is started with, and what it says of itself; `@` is the folder.
struct Kind {
    is: &'static str,
    made: fn(&Path),
    command: &'static str,
    args: &'static [&'static str],
    says: &'static str,
}

/// Says by what name it was called, and which file it is.
const OF_ITSELF: &str = "echo \"$0\"; readlink /proc/$$/exe";

/// A line more is a kind more.
const KINDS: &[Kind] = &[
    Kind {
        is: "a plain binary",
        made: |folder| copied("/bin/sh", &folder.join("bin/plain")),
        command: "plain",
        args: &["-c", OF_ITSELF],
        says: "@/bin/plain\n@/bin/plain\n",
    },
    Kind {
        is: "a binary that may be executed and not read",
        made: |folder| {
            copied("/bin/sh", &folder.join("bin/plain"));
            fs::set_permissions(folder.join("bin/plain"), Permissions::from_mode(0o111)).unwrap();
        },
        command: "plain",
        args: &["-c", "echo \"$0\""],
        says: "@/bin/plain\n",
    },
    Kind {
        is: "the python of a venv",
        made: |folder| {
            let python = python();
            fs::create_dir_all(folder.join("ve/bin")).unwrap();
            let home = python.parent().unwrap().display().to_string();
            fs::write(folder.join("ve/pyvenv.cfg"), format!("home = {home}\n")).unwrap();
            symlink(&python, folder.join("ve/bin/python3")).unwrap();
            symlink("python3", folder.join("ve/bin/python")).unwrap();
        },
        command: "ve/bin/python",
        args: &["-c", "import sys; print(sys.prefix, sys.executable)"],
        says: "@/ve @/ve/bin/python\n",
    },
    Kind {
        is: "npx: a link to a script whose interpreter env finds",
        made: |folder| {
            symlink("/bin/sh", folder.join("bin/node")).unwrap();
            script(&folder.join("lib/npx-cli.js"), "/usr/bin/env node", "echo \"$0\" \"$1\"");
            symlink("../lib/npx-cli.js", folder.join("bin/npx")).unwrap();
        },
        command: "npx",
        args: &["-y"],
        says: "@/bin/npx -y\n",
    },
    Kind {
        is: "uvx: a binary that looks for another beside it",
        made: |folder| {
            copied("/bin/sh", &folder.join("bin/uvx"));
            script(&folder.join("bin/uv"), "/bin/sh", "echo \"uv $1\"");
        },
        command: "uvx",
        args: &["-c", "exec \"$(dirname \"$(readlink /proc/$$/exe)\")/uv\" tool"],
        says: "uv tool\n",
    },
    Kind {
        is: "rustup: a link to a binary of many names",
        made: |folder| {
            copied("/bin/sh", &folder.join("bin/rustup"));
            symlink("rustup", folder.join("bin/cargo")).unwrap();
        },
        command: "cargo",
        args: &["-c", OF_ITSELF],
        says: "@/bin/cargo\n@/bin/rustup\n",
    },
    Kind {
        is: "busybox: a binary that does what its name says",
        made: |folder| {
            copied("/bin/bash", &folder.join("bin/bash"));
            symlink("bash", folder.join("bin/sh")).unwrap();
        },
        command: "bin/sh",
        args: &["-c", "case $SHELLOPTS in *posix*) echo \"$0 is sh\" ;; *) echo bash ;; esac"],
        says: "@/bin/sh is sh\n",
    },
    Kind {
        is: "nvm: a path with a version, through a link to its folder",
        made: |folder| {
            copied("/bin/sh", &folder.join("versions/v22.1.0/bin/node"));
            symlink("versions/v22.1.0", folder.join("current")).unwrap();
        },
        command: "current/bin/node",
        args: &["-c", OF_ITSELF],
        says: "@/current/bin/node\n@/versions/v22.1.0/bin/node\n",
    },
    Kind {
        is: "asdf: a script that executes another by its name",
        made: |folder| {
            script(&folder.join("installs/tool"), "/bin/sh", "echo \"the real $1\"");
            let finds = format!("PATH={}/installs exec \"${{0##*/}}\" \"$@\"", folder.display());
            script(&folder.join("bin/tool"), "/usr/bin/env bash", &finds);
        },
        command: "tool",
        args: &["one"],
        says: "the real one\n",
    },
    Kind {
        is: "a script of python that env finds",
        made: |folder| {
            symlink(python(), folder.join("bin/python3")).unwrap();
            let lines = "import sys; print(sys.argv[0], sys.executable)";
            script(&folder.join("serve"), "/usr/bin/env python3", lines);
        },
        command: "./serve",
        args: &[],
        says: "@/serve @/bin/python3\n",
    },
];

/// The interpreter itself, and no script that finds it.
fn python() -> PathBuf {
    let mut asks = Command::new("python3");
    asks.args(["-c", "import os, sys; print(os.path.realpath(sys.executable))"]);
    String::from_utf8(asks.output().unwrap().stdout).unwrap().trim_end().into()
}

fn copied(from: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

fn script(path: &Path, interpreter: &str, lines: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!{interpreter}\n{lines}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

/// What is started for a command in that folder, as it was looked at.
async fn found(folder: &Path, command: &str, args: &[&str]) -> Launch {
    let path = format!("{}/bin:/usr/bin:/bin", folder.display());
    let server = json!({ "command": command, "args": args, "env": { "PATH": path } });
    let Transport::Stdio(spec) = ServerSpec::from_value("s", &server).unwrap().transport else {
        panic!("it has a command");
    };
    let (name, given) = (Arc::from("s"), Environment::of_child(&spec, &[]));
    let looks = ProgramCheck(Arc::new(|found| Ok(StartSnapshot::at(found).expected())));
    stdio::find(&name, &spec, folder, given, Some(&looks), &SearchCache::default()).await.unwrap()
}

/// A folder with one for programs.
fn place() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.join("bin")).unwrap();
    folder
}

#[test]
fn a_program_sees_the_path_that_was_configured_whatever_leads_to_it() {
    const TEST: &str =
        "looked_at::a_program_sees_the_path_that_was_configured_whatever_leads_to_it";
    in_each_way_of(TEST, &[], async || {
        for Kind { is, made, command, args, says } in KINDS {
            let folder = place();
            made(&folder);
            let launch = found(&folder, command, args).await;
            assert!(!launch.expected.files.is_empty(), "{is}");
            assert_eq!(launch.name, launch.program, "{is}");
            let launched = launch_now(launch).await.unwrap_or_else(|why| panic!("{is}: {why:?}"));
            let said = String::from_utf8(printed(launched).await).unwrap();
            assert_eq!(said, says.replace('@', folder.to_str().unwrap()), "{is}");
        }
    });
}

/// A program that looks for itself finds itself, also where nobody needs to approve it.
#[tokio::test]
async fn what_nobody_looked_at_has_its_whole_path_as_its_name_too() {
    let server = json!({ "command": "sh" });
    let Transport::Stdio(spec) = ServerSpec::from_value("s", &server).unwrap().transport else {
        panic!("it has a command");
    };
    let (name, given) = (Arc::from("s"), Environment::of_child(&spec, &[]));
    let (root, lookups) = (Path::new("/"), SearchCache::default());
    let launch = stdio::find(&name, &spec, root, given, None, &lookups).await.unwrap();
    assert!(launch.program.is_absolute() && launch.expected.files.is_empty());
    assert_eq!(launch.name, launch.program);
}

async fn launch_now(launch: Launch) -> Result<Launched, LaunchError> {
    crate::platform::launch(launch, |_| {}).await
}

/// Puts something else in the place of a program: that, which runs something.
type SwapsBy = fn(&Path, &Path);

/// How a file is another after the last look of the host: each is seen by who executes it.
const SWAPS: &[(&str, SwapsBy)] = &[
    ("the program is replaced", |program, evil| fs::rename(evil, program).unwrap()),
    ("the program is gone", |program, _| fs::remove_file(program).unwrap()),
    ("a link takes its place", |program, evil| {
        fs::remove_file(program).unwrap();
        symlink(evil, program).unwrap();
    }),
    ("it is rewritten, with its size and its time", |program, evil| {
        let before = fs::metadata(program).unwrap();
        let mut text = fs::read(evil).unwrap();
        text.resize(usize::try_from(before.len()).unwrap(), b' ');
        fs::write(program, text).unwrap();
        let times = fs::FileTimes::new().set_modified(before.modified().unwrap());
        let changed = |found: &fs::Metadata| (found.ctime(), found.ctime_nsec());
        // The clock of a file system may tick slowly.
        while changed(&before) == changed(&fs::metadata(program).unwrap()) {
            fs::File::options().write(true).open(program).unwrap().set_times(times).unwrap();
        }
        fs::File::options().write(true).open(program).unwrap().set_times(times).unwrap();
    }),
];

#[test]
fn what_is_another_after_the_last_look_is_not_executed() {
    const TEST: &str = "looked_at::what_is_another_after_the_last_look_is_not_executed";
    in_each_way_of(TEST, &[], async || {
        for (is, swap) in SWAPS {
            for (file, interpreter) in [("tool", "/bin/sh"), ("bin/shell", "@/bin/shell")] {
                let folder = place();
                copied("/bin/sh", &folder.join("bin/shell"));
                let interpreter = interpreter.replace('@', folder.to_str().unwrap());
                script(&folder.join("tool"), &interpreter, &format!("# {:>200}", ""));
                let ran = folder.join("ran");
                script(&folder.join("evil"), "/bin/sh", &format!(": > {}", ran.display()));
                let launch = found(&folder, "./tool", &[]).await;
                swap(&folder.join(file), &folder.join("evil"));
                let refused =
                    launch_now(launch).await.err().unwrap_or_else(|| panic!("{is}: {file}"));
                assert!(refused.is_replaced(), "{is}: {file}: {refused:?}");
                assert!(!ran.exists(), "{is}: {file}");
            }
        }
    });
}

/// A binary is executed by its descriptor: what takes its name meanwhile is not.
#[test]
fn a_binary_is_the_file_that_was_compared() {
    const TEST: &str = "looked_at::a_binary_is_the_file_that_was_compared";
    in_each_way_of(TEST, &[], async || {
        let folder = place();
        copied("/bin/sh", &folder.join("bin/plain"));
        let launch = found(&folder, "plain", &["-c", "echo"]).await;
        assert!(launch.expected.is_binary);
        let launch = found(&folder, "/usr/bin/env", &[]).await;
        assert_eq!(launch.expected.files[0].0.as_os_str(), OsStr::new("/usr/bin/env"));
        script(&folder.join("tool"), "/usr/bin/env -S plain -e", ":");
        let launch = found(&folder, "./tool", &[]).await;
        assert!(!launch.expected.is_binary);
        let looked_at: Vec<OsString> =
            launch.expected.files.iter().map(|(path, _)| path.into()).collect();
        let plain = folder.join("bin/plain");
        let tool = folder.join("tool");
        assert_eq!(looked_at, [tool.as_os_str(), OsStr::new("/usr/bin/env"), plain.as_os_str()]);
    });
}
