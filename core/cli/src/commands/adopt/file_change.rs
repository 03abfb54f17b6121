//! The change of one file, and how it is shown.

use serde_json::{Value, json};
use trunkline::settings::FileScope;
use trunkline_pool::text::escaped;

use crate::commands::settings_file::Place;
use crate::console::adopted::AdoptedEntry;
use crate::console::format;
use crate::console::terminal::Terminal;

/// What becomes of one file, in either direction.
pub(super) struct FileChange {
    pub(super) place: Place,
    pub(super) scope: FileScope,
    pub(super) after: String,
    pub(super) entries: Vec<AdoptedEntry>,
    pub(super) left: Vec<Value>,
    pub(super) shown: Vec<(String, String)>,
}

impl FileChange {
    pub(super) fn path(&self) -> String {
        self.place.path.to_string_lossy().into_owned()
    }

    pub(super) fn show(&self, is_undo: bool, terminal: &mut Terminal<'_>) {
        if self.entries.is_empty() && self.left.is_empty() {
            return;
        }
        terminal.line(&escaped(&self.path()));
        for (entry, (before, after)) in self.entries.iter().zip(&self.shown) {
            terminal.line(&format!("  {}", escaped(&entry.name)));
            terminal.line(&format!("    - {}", escaped(before)));
            let after = if is_undo { "the entry as it was" } else { after };
            terminal.line(&format!("    + {}", escaped(after)));
        }
        for row in &self.left {
            let [server, what] = ["server", "what"].map(|member| format::text(row, member));
            terminal.line(&format!("  {}: left alone: {}", escaped(server), escaped(what)));
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let names: Vec<&str> = self.entries.iter().map(|entry| &*entry.name).collect();
        json!({
            "file": self.path(), "product": self.place.format.name(), "scope": self.scope.as_str(),
            "servers": names, "left": self.left,
        })
    }
}
