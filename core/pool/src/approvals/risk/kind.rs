//! One mark, and what it can be about.

use serde_json::{Value, json};

use crate::approvals::line::escaped_text;

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Risk {
    /// What it is.
    pub kind: RiskKind,
    /// The argument, variable, pattern or path that it is about, escaped.
    pub subject: String,
    /// The place of the argument in the command line, from 0, the command itself.
    pub argument: Option<usize>,
}

/// What a mark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RiskKind {
    /// A flag that gives an interpreter its program.
    InlineCode,
    /// A shell: what runs is in its arguments.
    Shell,
    /// A variable that makes programs load or run something else.
    LoaderVariable,
    /// A file of variables, which may hold such a one.
    EnvFile,
    /// A file outside of the project whose text the server gets as a value.
    SecretFile,
    /// A pattern that gives the server variables of the host.
    InheritsEnvironment,
    /// The program is a file of the project.
    ProgramInWorkspace,
    /// No file is found for the command.
    ProgramNotFound,
    /// A package that is fetched, in whatever version there is.
    UnpinnedPackage,
    /// Code of the workspace that a runner or an interpreter may take.
    WorkspaceCode,
    /// A container: what runs is in its image.
    Container,
    /// What of this machine a container gets.
    ContainerMount,
    /// Code that is fetched and run.
    RemoteCode,
    /// Another place that packages come from, or other settings of who fetches them.
    OtherRegistry,
    /// Something is loaded before the program.
    Preload,
    /// A program that runs others.
    RunsProgram,
    /// A variable that leads what a program sends to somewhere else, or says whom it trusts there.
    RedirectVariable,
    /// An address of the sign-in has another origin than the server.
    OtherOrigin,
    /// An address with the name of a user, which looks like that of a host.
    UserInfo,
    /// An address of another machine that is reached in clear text.
    ClearText,
    /// A host name with letters of other scripts, some of them look-alikes.
    Punycode,
    /// It takes the place of a server that needs no approval.
    HidesUserServer,
    /// The name looks like another one.
    LookalikeName,
}

impl RiskKind {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            RiskKind::InlineCode => "inline_code",
            RiskKind::Shell => "shell",
            RiskKind::LoaderVariable => "loader_variable",
            RiskKind::EnvFile => "env_file",
            RiskKind::SecretFile => "secret_file",
            RiskKind::InheritsEnvironment => "inherits_environment",
            RiskKind::ProgramInWorkspace => "program_in_workspace",
            RiskKind::ProgramNotFound => "program_not_found",
            RiskKind::UnpinnedPackage => "unpinned_package",
            RiskKind::WorkspaceCode => "workspace_code",
            RiskKind::Container => "container",
            RiskKind::ContainerMount => "container_mount",
            RiskKind::RemoteCode => "remote_code",
            RiskKind::OtherRegistry => "other_registry",
            RiskKind::Preload => "preload",
            RiskKind::RunsProgram => "runs_program",
            RiskKind::RedirectVariable => "redirect_variable",
            RiskKind::OtherOrigin => "other_origin",
            RiskKind::UserInfo => "user_info",
            RiskKind::ClearText => "clear_text",
            RiskKind::Punycode => "punycode",
            RiskKind::HidesUserServer => "hides_user_server",
            RiskKind::LookalikeName => "lookalike_name",
        }
    }
}

impl Risk {
    pub(super) fn new(kind: RiskKind, subject: &str) -> Risk {
        Risk::escaped(kind, escaped_text(subject))
    }

    /// About something that is escaped already.
    pub(super) fn escaped(kind: RiskKind, subject: String) -> Risk {
        Risk { kind, subject, argument: None }
    }

    pub(super) fn of_argument(kind: RiskKind, subject: &str, argument: usize) -> Risk {
        Risk { argument: Some(argument), ..Risk::new(kind, subject) }
    }

    pub(in crate::approvals) fn to_json(&self) -> Value {
        let Risk { kind, subject, argument } = self;
        json!({ "kind": kind.as_str(), "subject": subject, "argument": argument })
    }
}
