//! The options of loading and reloading settings files.

use super::ServerSelection;
use super::check::read;
use super::parse::wanted;
use crate::error::Result;
use crate::interface;
use crate::layers::scope::Scope;
use crate::settings::Format;

/// How `load` reads a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Whether it is read again when it changes on disk, comes or goes; it is not by default.
    pub watch: bool,
    /// The scope of the source, where that is not the one that its place implies. A file inside of
    /// the workspace may only be of `project`, `workspace` or `launch`.
    pub source: Option<Scope>,
    /// By whose rules it is read, where that is not what its name and content imply.
    pub format: Option<Format>,
}

/// What a `reload` does besides reading every source again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReloadOptions {
    /// The servers whose connections are made anew; none by default.
    pub reconnect: Reconnected,
}

/// The servers whose connections a reload makes anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reconnected {
    /// None.
    #[default]
    None,
    /// Every one.
    All,
    /// These.
    Names(Vec<String>),
}

impl LoadOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<LoadOptions> {
        let given = read(interface::OptionScope::Load, text)?;
        Ok(LoadOptions {
            watch: given.bool("watch").unwrap_or(false),
            // The check let no other words pass.
            source: given.text("source").and_then(|word| Scope::from_name(&word)),
            format: given.text("format").and_then(|word| Format::of_name(&word)),
        })
    }
}

impl ReloadOptions {
    /// Parses the options' JSON object; an empty text is all defaults.
    ///
    /// # Errors
    /// `unknown_option` with the nearest name, `invalid_argument` with `detail.path`.
    pub fn from_json(text: &str) -> Result<ReloadOptions> {
        let given = read(interface::OptionScope::Reload, text)?;
        let reconnect = match wanted(&given, "reconnect") {
            None => Reconnected::None,
            Some(ServerSelection::All) => Reconnected::All,
            Some(ServerSelection::Names(names)) => Reconnected::Names(names),
        };
        Ok(ReloadOptions { reconnect })
    }
}
