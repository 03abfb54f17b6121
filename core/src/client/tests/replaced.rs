//! A program that is another between the look of the host and its execution (SPEC 12.12).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::host_env::{FoundProgram, StartSnapshot};
use crate::transport::stdio::ProgramCheck;

/// A server of a file, which is touched right after the first look, and the answer to a caller: how
/// often it was looked at, and the error.
async fn refused_once_touched(program: &Path, touch: fn(&Path)) -> (usize, Error) {
    let (looks, first) = (Arc::new(AtomicUsize::new(0)), Arc::new(OnceLock::new()));
    let (counted, tool) = (looks.clone(), program.to_owned());
    let check = move |found: &FoundProgram| {
        let look = StartSnapshot::at(found);
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            first.set(look.clone()).unwrap();
            touch(&tool);
        }
        match first.get().and_then(|first: &StartSnapshot| first.replaced_by(&look)) {
            None => Ok(look.expected()),
            Some(replaced) => Err(Error::new(ErrorCode::NotAdmitted, replaced.clause())),
        }
    };
    let server = Server::new(json!({ "command": program }))
        .options(|options| options.program_check = Some(ProgramCheck(Arc::new(check))));
    let refused = server.refused().await;
    (looks.load(Ordering::SeqCst), refused)
}

fn runnable(path: &Path, lines: &str) {
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

fn swap(program: &Path) {
    let ran = program.with_extension("ran");
    let evil = program.with_extension("evil");
    runnable(&evil, &format!(": > '{}'", ran.display()));
    fs::rename(evil, program).unwrap();
}

#[tokio::test]
async fn what_is_swapped_after_the_last_look_is_looked_at_again_and_not_started() {
    let folder = Folder::new();
    let (script, binary) = (folder.join("script"), folder.join("binary"));
    runnable(&script, "exit");
    fs::copy(test_server_path(), &binary).unwrap();
    for program in [script, binary] {
        let (looks, refused) = refused_once_touched(&program, swap).await;
        assert_eq!((looks, refused.code()), (2, ErrorCode::NotAdmitted), "{refused}");
        assert!(refused.message().starts_with("the program "), "{refused}");
        assert!(!program.with_extension("ran").exists());
    }
}

/// What a second look finds as it was is no wait for anybody: it is a start that failed, and is
/// tried again as any.
#[tokio::test]
async fn a_file_that_was_touched_and_is_the_same_is_a_failed_start() {
    let folder = Folder::new();
    let script = folder.join("script");
    runnable(&script, "exit");
    let touch =
        |program: &Path| fs::set_permissions(program, Permissions::from_mode(0o700)).unwrap();
    let (looks, refused) = refused_once_touched(&script, touch).await;
    assert_eq!((looks, refused.code()), (2, ErrorCode::SpawnFailed), "{refused}");
    assert_eq!(refused.detail()["replaced"], true);
}

/// SPEC 12.12, 3.4: who is no longer wanted does not wait for the second look.
#[tokio::test]
async fn a_second_look_that_hangs_ends_with_the_attempt() {
    let folder = Folder::new();
    let script = folder.join("script");
    runnable(&script, "exit");
    let looks = Arc::new(AtomicUsize::new(0));
    let (hangs, until_over) = std::sync::mpsc::channel::<()>();
    let (counted, tool, until_over) = (looks.clone(), script.clone(), Mutex::new(until_over));
    let check = move |found: &FoundProgram| {
        if counted.fetch_add(1, Ordering::SeqCst) > 0 {
            // As on a file system that does not answer.
            let _ = until_over.lock().unwrap().recv();
            return Err(Error::new(ErrorCode::NotAdmitted, "it is another"));
        }
        let look = StartSnapshot::at(found);
        swap(&tool);
        Ok(look.expected())
    };
    let server = Server::new(json!({ "command": script })).options(|options| {
        options.program_check = Some(ProgramCheck(Arc::new(check)));
        options.timeout = HANG;
    });
    let spec = ServerSpec::from_value("s", &server.value).unwrap();
    let (wanted, cancel) = watch::channel(None);
    let attempt =
        Connection::connect(&spec, server.options.clone(), Arc::<Recorder>::default(), cancel);
    let give_up = async {
        while looks.load(Ordering::SeqCst) < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(wanted);
    };
    let both = tokio::time::timeout(HANG / 2, async { tokio::join!(attempt, give_up).0 }).await;
    drop(hangs);
    let failed = both.expect("it ends at once").err().unwrap();
    assert_eq!((failed.error.code(), failed.exit), (ErrorCode::Cancelled, CloseExit::Clean));
}
