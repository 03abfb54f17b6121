//! An endpoint over real sockets: clients that do as the protocol says, and those that do not.

mod connections;
#[cfg(unix)]
mod crowd;
mod documented;
mod exchange;
mod hostile;
mod lines;
mod sessions;

use std::path::PathBuf;

use rig::{Folder, Rig, host};
use serde_json::{Value, json};
use trunkline::{ServeOptions, Serving};

/// The tokens of two principals.
const ONE: &str = "token-of-one-0123456789-abcdef";
const OTHER: &str = "token-of-other-0123456789-abcd";

/// A pool with one server, an endpoint, and the files of it.
struct Endpoint {
    serving: Serving,
    rig: Rig,
    folder: Folder,
}

impl Endpoint {
    /// With these members beside those that a test needs.
    fn new(options: Value) -> Endpoint {
        let rig = Rig::new(json!({}));
        host(rig.configure(json!({ "s": rig.server(&[]) })));
        let folder = Folder::new();
        std::fs::create_dir(folder.join("run")).unwrap();
        let tokens = folder.join("tokens");
        std::fs::write(&tokens, format!("one = {ONE}\nother = {OTHER}\n")).unwrap();
        #[cfg(unix)]
        for (path, mode) in [(folder.join("run"), 0o700), (tokens.clone(), 0o600)] {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let socket = folder.join("run").join("s.sock");
        let mut all = json!({ "token_file": tokens });
        if cfg!(unix) {
            all["socket"] = json!(socket);
        }
        for (name, value) in options.as_object().unwrap() {
            all[name] = value.clone();
        }
        let options = ServeOptions::from_json(&all.to_string()).unwrap();
        let serving = rig.pool.serve(options).unwrap();
        Endpoint { serving, rig, folder }
    }

    fn port(&self) -> u16 {
        self.serving.address().unwrap().port()
    }

    fn socket(&self) -> PathBuf {
        self.serving.socket().unwrap().to_owned()
    }

    /// Ends it: nothing may be left.
    fn end(self) {
        let socket = self.serving.socket().map(ToOwned::to_owned);
        host(self.serving.close());
        host(self.rig.pool.close()).unwrap();
        self.rig.wait_for_no_process();
        assert!(socket.is_none_or(|socket| !socket.exists()), "the socket is left");
        drop(self.folder);
    }
}
