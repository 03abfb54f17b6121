//! The row "lists" (SECURITY row 9): changes, losses, and sessions that come and go, all at once.

use serde_json::json;
use trunkline::CallOptions;

use crate::follower::{Follower, newest, settle};
use crate::rig::Rig;
use crate::{crash, host, rig};

/// How much of it.
struct Size {
    changes: u64,
    losses: u64,
    sessions: usize,
}

fn size() -> Size {
    match std::env::var("TRUNKLINE_STRESS") {
        Ok(form) if form == "full" => Size { changes: 10_000, losses: 500, sessions: 64 },
        Ok(form) => panic!("TRUNKLINE_STRESS is `full` or not set, not {form:?}"),
        Err(_) => Size { changes: 200, losses: 20, sessions: 16 },
    }
}

/// What happens, and what has happened so far.
struct Course<'a> {
    rig: &'a Rig,
    followers: Vec<Follower>,
    version: u64,
    attached: usize,
}

impl Course<'_> {
    /// Changes the server's list, through the session whose turn it is; again when the server went meanwhile.
    async fn change(&mut self) {
        self.version += 1;
        let turn = self.version as usize % self.followers.len();
        let options = CallOptions::from_json(r#"{"wait":true}"#).unwrap();
        let lease = &self.followers[turn].lease;
        while lease.call_tool("change_list", &self.arguments(), &options).await.is_err() {}
        self.followers[turn].look();
    }

    fn arguments(&self) -> String {
        let version = self.version;
        let definition = json!({
            "name": "version", "description": format!("version {version}"), "inputSchema": { "type": "object" },
        });
        let (add, remove) = (format!("added_{version}"), format!("added_{}", version - 1));
        json!({ "define": [definition], "add": [add], "remove": [remove] }).to_string()
    }

    /// One session goes, and a new one attaches while the lists are being read (SPEC 6.4).
    async fn replace_session(&mut self) {
        let index = self.attached % self.followers.len();
        let id = format!("s{}", self.attached);
        self.attached += 1;
        let old =
            std::mem::replace(&mut self.followers[index], Follower::attach(self.rig, &id).await);
        old.session.close(None);
    }

    /// The server goes, with changes that are announced and not read, and one that may have been read or not.
    async fn lose(&mut self) {
        self.version += 1;
        let lease = &self.followers[0].lease;
        lease.start_call_tool("change_list", &self.arguments(), &CallOptions::default(), drop);
        crash(lease).await;
    }
}

/// SPEC 7.2, 7.3, 7.4, 6.4, 8.5, I-14, I-15: whatever changes, goes and comes, at quiet every session sees what the server lists and
/// was told of every name in it, and none ever saw an older list after a newer one.
#[test]
fn no_change_is_lost_and_none_is_undone() {
    let size = size();
    let flags = ["--list-changes", "--drift", "--tools", "5", "--page-size", "12"];
    let flags = [&flags[..], &["--list-delay-ms", "5"]].concat();
    let rig = rig();
    host(async {
        rig.configure(json!({ "s": rig.server(&flags) })).await;
        let mut course = Course { rig: &rig, followers: Vec::new(), version: 0, attached: 0 };
        for number in 0..size.sessions {
            course.attached += 1;
            course.followers.push(Follower::attach(&rig, &format!("s{number}")).await);
        }
        for round in 0..size.losses {
            for number in 0..size.changes / size.losses {
                course.change().await;
                if number == round % 5 {
                    course.replace_session().await;
                }
            }
            if round % 2 == 0 {
                let truth = settle(&mut course.followers).await;
                assert_eq!(newest(&truth), (round + 1, course.version));
            }
            course.lose().await;
            if round % 3 == 0 {
                // Nothing is announced by the new one: its first lists have to be right.
                let truth = settle(&mut course.followers).await;
                assert_eq!(newest(&truth), (round + 2, 0));
            }
        }
        course.change().await;
        let truth = settle(&mut course.followers).await;
        assert_eq!(newest(&truth), (size.losses + 1, course.version));
        assert_eq!(rig.starts().len() as u64, size.losses + 1);
    });
}
