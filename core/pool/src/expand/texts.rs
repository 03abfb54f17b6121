//! The texts of one server with what their variables become.

use std::ffi::OsStr;
use std::path::Path;

use super::fields::TextRole;
use super::grammar::{
    self, HostValue, Means, Part, USER_HOME, VariableFault, WORKSPACE_FOLDER,
    WORKSPACE_FOLDER_BASENAME,
};
use super::host::{Answers, Commands, VariableLookup};
use super::words;
use crate::base::text::escaped;
use crate::config::Piece;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Template;

/// As much as the texts of one server become together, in bytes: as much as a file may have.
const EXPANDED_BYTES_MAX: usize = 16 << 20;

/// As much of a name as an error shows, in characters.
const SHOWN_MAX: usize = 80;

/// The texts of one server.
pub(super) struct Texts<'a> {
    template: &'a Template,
    variables: &'a dyn VariableLookup,
    commands: Commands,
    /// What the host answered; nothing is asked before admission.
    answers: Option<&'a Answers>,
    bytes_left: usize,
}

impl<'a> Texts<'a> {
    pub(super) fn before_admission(
        template: &'a Template,
        variables: &'a dyn VariableLookup,
        commands: Commands,
    ) -> Texts<'a> {
        Texts { template, variables, commands, answers: None, bytes_left: EXPANDED_BYTES_MAX }
    }

    pub(super) fn admitted(
        template: &'a Template,
        variables: &'a dyn VariableLookup,
        commands: Commands,
        answers: &'a Answers,
    ) -> Texts<'a> {
        let answers = Some(answers);
        Texts { template, variables, commands, answers, bytes_left: EXPANDED_BYTES_MAX }
    }

    /// Whether a text can be read, whatever its variables become.
    pub(super) fn check(&self, path: &str, role: TextRole, text: &str) -> Result<()> {
        self.parts(path, role, text).map(|_| ())
    }

    /// Whether a text has to be asked for.
    pub(super) fn waits(&self, role: TextRole, text: &str) -> bool {
        let parts = parts(text, role, self.commands);
        parts.is_ok_and(|parts| parts.iter().any(|part| is_asked(&part.means)))
    }

    /// A text that must not have to be asked for.
    pub(super) fn settled(&mut self, path: &str, role: TextRole, text: &str) -> Result<String> {
        let parts = self.parts(path, role, text)?;
        if let Some(part) = parts.iter().find(|part| is_asked(&part.means)) {
            let shown = shown(&name_of(&part.means));
            let message = format!(
                "`{path}` decides which program runs, and must not wait for an answer: `${{{shown}}}`"
            );
            return Err(self.template.error(ErrorCode::InvalidConfig, path, &message));
        }
        self.joined(path, parts)
    }

    /// A text with what its variables become; before admission, what has to be asked for stays as
    /// it is written.
    pub(super) fn expanded(&mut self, path: &str, role: TextRole, text: &str) -> Result<String> {
        let parts = self.parts(path, role, text)?;
        self.joined(path, parts)
    }

    /// A text that may be what files say: with what its other variables become, and its pieces
    /// where there are files.
    pub(super) fn secret(
        &mut self,
        path: &str,
        text: &str,
    ) -> Result<(String, Option<Vec<Piece>>)> {
        let parts = self.parts(path, TextRole::Secret, text)?;
        if !parts.iter().any(|part| matches!(part.means, Means::File(_))) {
            return Ok((self.joined(path, parts)?, None));
        }
        let mut written = String::new();
        let mut pieces = Vec::new();
        for part in parts {
            let text = match part.means {
                Means::File(file) => {
                    let file = path_of_file(self.template, self.variables, path, file)?;
                    pieces.push(Piece::file(file));
                    part.written.to_owned()
                }
                _ => {
                    let text = self.joined(path, vec![part])?;
                    pieces.push(Piece::Text(text.clone()));
                    text
                }
            };
            written.push_str(&text);
        }
        Ok((written, Some(pieces)))
    }

    fn parts<'t>(&self, path: &str, role: TextRole, text: &'t str) -> Result<Vec<Part<'t>>> {
        let parts = parts(text, role, self.commands);
        let parts = parts.map_err(|malformed| self.malformed(path, &malformed))?;
        let has_command = parts.iter().any(|part| matches!(part.means, Means::Command(_)));
        if has_command && self.commands == Commands::Refused {
            let message = format!("`{path}` wants the output of a command, and none is run for it");
            let error = self.template.error(ErrorCode::InvalidConfig, path, &message);
            return Err(error.with_hint(
                "the pool option `commands` lets sources other than a project's or workspace's run commands",
            ));
        }
        match parts.iter().any(|part| matches!(part.means, Means::File(_))) {
            true => self.check_file(path, role).map(|()| parts),
            false => Ok(parts),
        }
    }

    /// Whether a text of that role may be what a file says.
    fn check_file(&self, path: &str, role: TextRole) -> Result<()> {
        if !self.template.reads_files() {
            return Err(self.malformed(path, &VariableFault::Unknown("file")));
        }
        if role == TextRole::Secret {
            return Ok(());
        }
        let message = format!("`{path}` takes a text from a file, and must not");
        let error = self.template.error(ErrorCode::InvalidConfig, path, &message);
        Err(error.with_hint(HINT_FILE))
    }

    fn joined(&mut self, path: &str, parts: Vec<Part<'_>>) -> Result<String> {
        let mut out = String::new();
        for part in parts {
            let becomes = self.value(path, &part)?;
            self.bytes_left = match self.bytes_left.checked_sub(becomes.len()) {
                Some(left) => left,
                None => {
                    let message = format!("`{path}` is too long with its variables in place");
                    return Err(self.template.error(ErrorCode::InvalidConfig, path, &message));
                }
            };
            out.push_str(&becomes);
        }
        Ok(out)
    }

    fn value(&self, path: &str, part: &Part<'_>) -> Result<String> {
        match &part.means {
            Means::Text(text) => Ok((*text).to_owned()),
            Means::Known(known, default) => self.known(path, *known, *default),
            Means::Input(_) | Means::Secret(_) | Means::Command(_) | Means::File(_) => {
                match self.answers {
                    Some(answers) => self.answered(path, part, answers),
                    None => Ok(part.written.to_owned()),
                }
            }
        }
    }

    fn known(&self, path: &str, known: HostValue<'_>, default: Option<&str>) -> Result<String> {
        let value = match known {
            HostValue::Env(name) => self.variables.env(name),
            HostValue::WorkspaceFolder => self.variables.workspace_folder(),
            HostValue::WorkspaceFolderBasename => self.variables.workspace_folder().map(|folder| {
                let name = Path::new(&folder).file_name();
                name.and_then(OsStr::to_str).unwrap_or_default().to_owned()
            }),
            HostValue::UserHome | HostValue::Tilde => self.variables.user_home(),
        };
        match (value, default) {
            (Some(value), None) => Ok(value),
            (Some(value), Some(_)) if !value.is_empty() => Ok(value),
            (_, Some(default)) => Ok(default.to_owned()),
            (None, None) if known == HostValue::Tilde => Err(self.homeless(path)),
            (None, None) => {
                let variable = name_of(&Means::Known(known, None));
                Err(self.undefined(path, &variable, "which is not set", HINT_ENV))
            }
        }
    }

    fn answered(&self, path: &str, part: &Part<'_>, answers: &Answers) -> Result<String> {
        let (answer, why, hint) = match &part.means {
            Means::Secret(name) if answers.refused_secrets.contains(*name) => {
                (None, "which the host refused", HINT_REFUSED)
            }
            Means::Secret(name) => {
                let given = answers.secrets.get(*name).cloned();
                let answer = given.or_else(|| self.variables.env(name));
                (answer, "which the host does not have", HINT_SECRET)
            }
            Means::Command(line) => {
                (answers.commands.get(line).cloned(), "which has no output", HINT_COMMAND)
            }
            Means::Input(id) => {
                (answers.inputs.get(*id).cloned(), "which was not answered", HINT_INPUT)
            }
            // What a file says is put in place when a connection begins.
            Means::Text(_) | Means::Known(..) | Means::File(_) => {
                return Ok(part.written.to_owned());
            }
        };
        answer.ok_or_else(|| self.undefined(path, &name_of(&part.means), why, hint))
    }

    fn homeless(&self, path: &str) -> Error {
        homeless(self.template, path, "")
    }

    fn undefined(&self, path: &str, variable: &str, why: &str, hint: &str) -> Error {
        undefined(self.template, path, variable, why, hint)
    }

    fn malformed(&self, path: &str, malformed: &VariableFault<'_>) -> Error {
        match malformed {
            VariableFault::Sentence(sentence) => {
                let message = format!("`{path}` {sentence}");
                let error = self.template.error(ErrorCode::InvalidConfig, path, &message);
                error.with_hint(HINT_DOLLAR)
            }
            VariableFault::Unknown(name) if is_word(name) => {
                let variable = before(name, is_sign);
                self.undefined(
                    path,
                    &variable,
                    "which is not a variable that is known",
                    HINT_DOLLAR,
                )
            }
            // What is no word may be anything, a secret too.
            VariableFault::Unknown(_) => {
                let message = format!("`{path}` has a `${{…}}` that is not a variable");
                let error = self.template.error(ErrorCode::InvalidConfig, path, &message);
                error.with_hint(HINT_DOLLAR)
            }
        }
    }
}

/// The error for a path that begins at a home folder that nobody knows.
fn homeless(template: &Template, path: &str, file: &str) -> Error {
    let message =
        format!("`{path}` {file}begins with `~`, and `{HOME}`, the home folder, is not set");
    let error = template.error(ErrorCode::UndefinedVariable, path, &message);
    error.with_detail("variable", HOME).with_hint(HINT_HOME)
}

/// The path of a file that a value of that field is taken from; a `~` at its start is the home
/// folder.
pub(super) fn path_of_file(
    template: &Template,
    variables: &dyn VariableLookup,
    field: &str,
    written: &str,
) -> Result<String> {
    match written.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with(std::path::is_separator) => {
            let home = variables.user_home();
            let home = home.ok_or_else(|| homeless(template, field, "takes a file whose path "))?;
            Ok(format!("{home}{rest}"))
        }
        _ => Ok(written.to_owned()),
    }
}

const HINT_FILE: &str =
    "a file is read for `env`, `headers` and the client's secret of `oauth` alone";
const HINT_ENV: &str = "set it in the environment of the host, or give a default as in `${NAME:-default}`; `$$` is a plain `$`";
const HINT_HOME: &str =
    "set it in the environment of the host to an absolute path, or write the whole path here";
const HINT_SECRET: &str = "give it to the host, or set it in the host's environment";
const HINT_REFUSED: &str = "the host decides who has it; a reload asks again";
const HINT_COMMAND: &str = "run the command by hand to see why";
const HINT_INPUT: &str = "answer the question, or let the host answer it";
const HINT_DOLLAR: &str = "`$$` is a plain `$`";

/// The variable that says where the home folder is.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The pieces of a text. Where commands are asked, a value that begins with `!` is one.
pub(super) fn parts(
    text: &str,
    role: TextRole,
    commands: Commands,
) -> std::result::Result<Vec<Part<'_>>, VariableFault<'_>> {
    match text.strip_prefix('!') {
        Some(line) if role.is_value() && commands == Commands::Asked => {
            let line = words::split(line).map_err(VariableFault::Sentence)?;
            Ok(vec![Part { written: text, means: Means::Command(line) }])
        }
        _ if role.is_path() => grammar::parts_of_path(text),
        _ => grammar::parts(text),
    }
}

/// Whether somebody has to be asked for it.
fn is_asked(means: &Means<'_>) -> bool {
    match means {
        Means::Input(_) | Means::Secret(_) | Means::Command(_) | Means::File(_) => true,
        Means::Text(_) | Means::Known(..) => false,
    }
}

/// How an error names what a piece stands for: with nothing of what may be a value. The arguments
/// of a command are nobody's to see.
fn name_of(means: &Means<'_>) -> String {
    match means {
        Means::Text(_) => String::new(),
        Means::Known(HostValue::Env(name), _) => before(name, is_sign),
        Means::Known(HostValue::WorkspaceFolder, _) => WORKSPACE_FOLDER.to_owned(),
        Means::Known(HostValue::WorkspaceFolderBasename, _) => WORKSPACE_FOLDER_BASENAME.to_owned(),
        Means::Known(HostValue::UserHome | HostValue::Tilde, _) => USER_HOME.to_owned(),
        // Their names are often words with hyphens between them.
        Means::Input(id) => format!("input:{}", before(id, |c| ":=".contains(c))),
        Means::Secret(name) => {
            format!("secret:{}", before(name, |c| ":=".contains(c) || c.is_whitespace()))
        }
        Means::Command(line) => format!("cmd:{}", line.program()),
        Means::File(path) => format!("file:{path}"),
    }
}

/// What stands before the first sign behind which somebody may have put a value.
fn before(name: &str, is_end: impl Fn(char) -> bool) -> String {
    name.find(is_end).map_or_else(|| name.to_owned(), |end| format!("{}…", &name[..end]))
}

/// Whether a shell could take it for what ends a name: `:`, `-`, `(`, blanks and all the like.
fn is_sign(c: char) -> bool {
    !c.is_alphanumeric() && !"_.".contains(c)
}

/// As much of a name as can be shown.
pub(super) fn shown(name: &str) -> String {
    let cut: String = name.chars().take(SHOWN_MAX).collect();
    escaped(&cut).replace('`', "\\u{60}")
}

/// Whether it can be the name of a variable of some product.
fn is_word(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.:()".contains(c);
    name.len() <= SHOWN_MAX && name.chars().all(is_part)
}

/// The error for a variable that nobody defines.
pub(super) fn undefined(
    template: &Template,
    path: &str,
    variable: &str,
    why: &str,
    hint: &str,
) -> Error {
    let shown = shown(variable);
    let message = format!("`{path}` needs `${{{shown}}}`, {why}");
    template
        .error(ErrorCode::UndefinedVariable, path, &message)
        .with_detail("variable", shown)
        .with_hint(hint)
}
