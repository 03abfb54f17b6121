//! What the host knows of itself, as variables of settings files.

use std::collections::HashMap;
use std::path::Path;

use trunkline_pool::expand::VariableLookup;
use trunkline_pool::settings::Platform;

use super::child_env::folded;
use super::settings_discovery::home_folder;

/// The environment and the folders of this process at one moment. No `Debug`: the environment holds
/// secrets.
pub(crate) struct HostVariables {
    environment: HashMap<String, String>,
    workspace: Option<String>,
    home: Option<String>,
}

impl HostVariables {
    /// What they are now. What is no Unicode counts as not set, since no settings file can hold it.
    pub(crate) fn new(workspace: &Path) -> HostVariables {
        let text = |path: &Path| path.to_str().map(str::to_owned);
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Some((folded(&name).into_owned(), value.into_string().ok()?))
        });
        HostVariables {
            environment: variables.collect(),
            workspace: text(workspace),
            home: home_folder(Platform::current()).as_deref().and_then(text),
        }
    }
}

impl VariableLookup for HostVariables {
    fn env(&self, name: &str) -> Option<String> {
        self.environment.get(&*folded(name)).cloned()
    }

    fn workspace_folder(&self) -> Option<String> {
        self.workspace.clone()
    }

    fn user_home(&self) -> Option<String> {
        self.home.clone()
    }
}
