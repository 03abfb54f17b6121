//! The file of tokens: what a line may be, who may read it, and when it is read again.

use std::fs;

use super::*;
use crate::ErrorCode;
use crate::folder::Folder;

const ONE: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const TWO: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// A file's text, and its principals or what is wrong.
#[test]
fn a_line_is_a_name_and_a_token() {
    let rows: &[(&str, std::result::Result<&[&str], &str>)] = &[
        ("", Ok(&[])),
        ("# none\n\n", Ok(&[])),
        ("ci = ONE", Ok(&["ci"])),
        ("ci=ONE\r\nlaptop@work = TWO\n", Ok(&["ci", "laptop@work"])),
        ("ci = ONE\nci = TWO\n", Ok(&["ci", "ci"])),
        ("ONE", Err("line 1 is not `name = token`")),
        ("# x\n= ONE", Err("line 2 has a name with other characters than letters, digits, `-._`")),
        ("a b = ONE", Err("line 1 has a name with other characters than letters, digits, `-._`")),
        ("a@ = ONE", Err("line 1 has a name with other characters than letters, digits, `-._`")),
        ("ci = short", Err("line 1 has a token that is not 22 to 512 visible characters")),
        ("ci = ONE TWO", Err("line 1 has a token that is not 22 to 512 visible characters")),
        ("ci = ONE\nme = ONE", Err("line 2 has the token of another line")),
    ];
    for (text, wanted) in rows {
        let found = parsed(text.replace("ONE", ONE).replace("TWO", TWO).as_bytes());
        let found = found.map(|tokens| {
            let name = |token: &NamedToken| match &token.who.profile {
                Some(profile) => format!("{}@{profile}", token.who.name),
                None => token.who.name.to_string(),
            };
            tokens.iter().map(name).collect::<Vec<_>>()
        });
        let wanted = wanted.map(|names| names.iter().map(ToString::to_string).collect());
        assert_eq!(found, wanted.map_err(str::to_string), "{text}");
    }
}

fn name_of(found: Option<Principal>) -> Option<String> {
    found.map(|who| who.name.to_string())
}

fn write(path: &std::path::Path, text: &str) {
    fs::write(path, text.replace("ONE", ONE).replace("TWO", TWO)).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// SPEC 19.7: a token is rotated without a restart.
#[tokio::test]
async fn a_changed_file_counts_at_once() {
    let folder = Folder::new();
    let path = folder.join("tokens");
    write(&path, "ci = ONE");
    let tokens = Arc::new(Tokens::open(path.clone(), Duration::ZERO).unwrap());
    assert_eq!(name_of(tokens.principal(ONE).await).as_deref(), Some("ci"));
    assert_eq!(name_of(tokens.principal(TWO).await), None);
    write(&path, "new = TWO");
    assert_eq!(name_of(tokens.principal(TWO).await).as_deref(), Some("new"));
    assert_eq!(name_of(tokens.principal(ONE).await), None);
    fs::remove_file(&path).unwrap();
    assert_eq!(name_of(tokens.principal(TWO).await), None, "without a file no token is valid");
}

/// A new token is found also while the old ones need no look.
#[tokio::test]
async fn an_unknown_token_is_looked_for_in_the_file() {
    let folder = Folder::new();
    let path = folder.join("tokens");
    write(&path, "ci = ONE");
    let tokens = Arc::new(Tokens::open(path.clone(), Duration::from_secs(3600)).unwrap());
    write(&path, "ci = ONE\nme = TWO");
    assert_eq!(name_of(tokens.principal(TWO).await).as_deref(), Some("me"));
    for wrong in ["", "aaaa", &ONE[1..], &format!("{ONE}a")] {
        assert_eq!(name_of(tokens.principal(wrong).await), None, "{wrong}");
    }
}

/// SPEC 19.7: the first start makes a token that only this user can read.
#[test]
fn a_missing_file_is_made_with_one_random_token() {
    let folder = Folder::new();
    let open = |name: &str| Tokens::open(folder.join(name).join("tokens"), Duration::ZERO).unwrap();
    let [one, again, other] = [open("a"), open("a"), open("b")].map(|it| it.first().unwrap());
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert_eq!(one.len(), 43, "256 bits");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| fs::metadata(folder.join(path)).unwrap().permissions().mode();
        assert_eq!((mode("a/tokens") & 0o777, mode("a") & 0o777), (0o600, 0o700));
    }
}

/// SPEC 19.7: 0600.
#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    for mode in [0o640, 0o604, 0o620, 0o644] {
        let path = folder.join(format!("{mode:o}"));
        write(&path, "ci = ONE");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = Tokens::open(path.clone(), Duration::ZERO).err().unwrap();
        assert_eq!(error.code(), ErrorCode::Store, "{mode:o}");
        assert_eq!(error.detail()["path"], path.display().to_string());
        assert!(!error.to_string().contains(ONE));
    }
}
