//! What of this process and its file system goes into a server: variables, folders, programs (SPEC
//! 10.5, 10.6).
//!
//! Everything but [`runners::make`] only looks, so that it may be done for a server that nobody has
//! admitted; a file of variables is read once the server is admitted; files of values are read when
//! it connects.

mod child_env;
mod dotenv_file;
mod interpreter;
mod look;
mod path_search;
mod program_preview;
pub(crate) mod runners;
pub(crate) mod settings_discovery;
#[cfg(all(test, target_os = "linux"))]
mod tests;
mod value_files;
mod variables;
mod withheld_variables;

pub(crate) use self::child_env::Environment;
pub(crate) use self::dotenv_file::read_env_file;
pub(crate) use self::interpreter::{check_interpreter, interpreter};
pub(crate) use self::look::StartSnapshot;
pub(crate) use self::path_search::{
    FoundProgram, ProgramQuery, SearchCache, check_folder, failure, folder, program, replaced,
};
pub(crate) use self::program_preview::{known_of, looked_up_program};
pub(crate) use self::value_files::{leads_out, value_of_files, with_values};
pub(crate) use self::variables::HostVariables;
pub(crate) use self::withheld_variables::{CERTIFICATES, PROXIES, with_withheld, withheld};
