//! Where the file is, and whose project a decision is about.

use std::collections::BTreeSet;
use std::ffi::OsString;

use trunkline_pool::settings::Platform;

use super::*;
use crate::storage::approvals::root_of;
use crate::storage::approvals_path::ApprovalsLocation;

fn place(platform: Platform, variables: &[(&str, &str)]) -> Option<String> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(it, _)| *it == name);
        found.map(|(_, value)| OsString::from(value))
    };
    match ApprovalsLocation::of_user(platform, variable) {
        ApprovalsLocation::File(file) => Some(file.path().to_str().unwrap().replace('\\', "/")),
        ApprovalsLocation::Memory => panic!("it is not a file"),
        ApprovalsLocation::Nowhere(_) => None,
    }
}

/// SPEC 12.6: the user's own folder of states on each platform; one variable moves it, and nothing
/// is kept where none is known.
#[cfg(unix)]
#[test]
fn each_platform_has_its_folder() {
    let all = [("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("LOCALAPPDATA", "/l")];
    let of = |platform, variables: &[(&str, &str)]| place(platform, variables);
    let some = |path: &str| Some(path.to_owned());
    assert_eq!(of(Platform::Linux, &all), some("/s/trunkline/approvals.json"));
    assert_eq!(of(Platform::Linux, &all[..1]), some("/h/.local/state/trunkline/approvals.json"));
    let relative = [("HOME", "/h"), ("XDG_STATE_HOME", "s")];
    assert_eq!(of(Platform::Linux, &relative), some("/h/.local/state/trunkline/approvals.json"));
    let mac = "/h/Library/Application Support/trunkline/approvals.json";
    assert_eq!(of(Platform::MacOs, &all), some(mac));
    assert_eq!(of(Platform::Windows, &all), some("/l/trunkline/approvals.json"));
    for platform in Platform::ALL {
        let moved = [all[0], all[1], all[2], ("TRUNKLINE_HOME", "/t")];
        assert_eq!(of(platform, &moved), some("/t/approvals.json"));
        assert_eq!(of(platform, &[all[0], ("TRUNKLINE_HOME", "t")]), None);
        assert_eq!(of(platform, &[]), None);
    }
}

/// SPEC 12.8: without a place nothing is decided, and the error says what to set.
#[test]
fn without_a_place_nothing_is_decided() {
    let mut approvals = Approvals::open(Some("memory")).unwrap();
    approvals.place = ApprovalsLocation::Nowhere("no folder".into());
    let hash = identity("c").hash;
    assert_eq!(approvals.standing(&root(), "s", hash).unwrap_err().code(), ErrorCode::Store);
    let error = decide(&approvals, "s", Approved).unwrap_err();
    assert!(error.hint().unwrap().contains("TRUNKLINE_HOME"));
}

/// S-12: a path that would be another one from another directory is refused.
#[test]
fn a_path_that_is_not_whole_is_refused() {
    for path in ["approvals.json", "./a", "~/a", "", "/", "Memory"] {
        let error = Approvals::open(Some(path)).err().unwrap();
        assert_eq!(
            (error.code(), &error.detail()["path"]),
            (ErrorCode::InvalidArgument, &json!("approvals"))
        );
    }
}

/// SPEC 12.1, S-11: twelve spellings of one directory have one root, and another directory never
/// has it.
#[cfg(unix)]
#[test]
fn one_directory_has_one_root_however_it_is_spelled() {
    use std::os::unix::fs::symlink;
    let folder = Home::new();
    let at = |rest: &str| PathBuf::from(format!("{}/{rest}", folder.0.display()));
    for name in ["project/src", "Project", "project2", "deep/er"] {
        std::fs::create_dir_all(at(name)).unwrap();
    }
    symlink(at("project"), at("link")).unwrap();
    symlink("link", at("chain")).unwrap();
    symlink("../../project", at("deep/er/back")).unwrap();
    symlink(&*folder.0, at("deep/top")).unwrap();
    let up = "../".repeat(std::env::current_dir().unwrap().components().count());
    let relative = format!("{up}{}", at("project").strip_prefix("/").unwrap().display());
    let spellings = [
        at("project"),
        at("project/"),
        at("project/."),
        at("./project"),
        at("/project"),
        at("project/src/.."),
        at("project2/../project"),
        at("link"),
        at("link/"),
        at("chain"),
        at("deep/er/back"),
        at("deep/top/project"),
        at("link/src/.."),
        PathBuf::from(relative),
    ];
    let roots: BTreeSet<ProjectRoot> = spellings.iter().map(|it| root_of(it).unwrap()).collect();
    assert_eq!(roots.len(), 1, "{roots:?}");
    let others = [at("Project"), at("project2"), at("project/src"), folder.0.to_owned()];
    for other in others {
        assert!(!roots.contains(&root_of(&other).unwrap()), "{other:?}");
    }
    assert_eq!(root_of(Path::new("")).unwrap(), root_of(Path::new(".")).unwrap());
    assert_eq!(root_of(&at("absent")).unwrap_err().code(), ErrorCode::InvalidArgument);
}

/// SPEC 12.1, S-11: what was decided by one spelling is found by all, in the file too.
#[cfg(unix)]
#[test]
fn a_decision_is_found_by_another_spelling() {
    let folder = Home::new();
    std::os::unix::fs::symlink(&*folder.0, folder.0.join("link")).unwrap();
    let approvals = open(&folder.file());
    let (one, other) = (root_of(&folder.0), root_of(&folder.0.join("link/link/.")));
    approvals.decide(&one.unwrap(), "s", &identity("c"), Approved, None).unwrap();
    let again = open(&folder.file());
    assert!(again.standing(&other.unwrap(), "s", identity("c").hash).unwrap().is_some());
}

/// SPEC 12.8, 12.12: what is decided at once is kept at once, or not at all.
#[test]
fn several_decisions_of_a_name_are_one_write() {
    let home = Home::new();
    for place in [Some("memory"), home.file().to_str()] {
        let approvals = Approvals::open(place).unwrap();
        let all = |server: &str| {
            let both = ["a", "b"].map(|command| (identity(command), None));
            approvals.decide_all(&root(), server, &both, Rejected)
        };
        let standing = |server: &str| {
            let book = approvals.book().unwrap();
            ["a", "b"]
                .map(|command| book.standing(&root(), server, identity(command).hash).is_some())
        };
        // There is room for the first of the two.
        let long = "s".repeat(Book::BYTES_MAX * 3 / 5);
        assert_eq!(all(&long).unwrap_err().code(), ErrorCode::Store);
        assert_eq!(standing(&long), [false, false]);
        all("s").unwrap();
        assert_eq!(standing("s"), [true, true]);
    }
}
