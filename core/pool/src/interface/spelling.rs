//! The texts of the library, with the names in them as each language spells them.

use super::{OptionKind, OptionRow, SCOPES, Scope, options};

/// The text, such as a hint, with the options that it names in backticks as `spell` spells them.
///
/// Of `include.my_server` the first part alone is an option. What is none stays as it is, since a
/// host or a server may be called so; and the fields of servers do, whose configuration is the same
/// text in every language.
pub fn spelled(text: &str, spell: impl Fn(&str) -> String) -> String {
    let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
        0 => part.to_owned(),
        _ => spelled_path(part, &spell),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// The path of an option, as in `detail.path`, as `spell` spells it: the same of one name that
/// [`spelled`] does of those in a text.
pub fn spelled_path(path: &str, spell: impl Fn(&str) -> String) -> String {
    let named = |rows: &'static [OptionRow], name: &str| rows.iter().find(|row| row.name == name);
    let mut parts = path.split('.');
    let first = parts.next().unwrap_or_default();
    let mut scopes = SCOPES.iter().filter(|scope| **scope != Scope::Server);
    let Some(mut row) = scopes.find_map(|scope| named(options(*scope), first)) else {
        return path.to_owned();
    };
    let mut out = spell(row.name);
    let mut is_ours = true;
    for part in parts {
        out.push('.');
        let member = match row.kind {
            OptionKind::Object(rows) if is_ours => named(rows, part),
            _ => None,
        };
        is_ours = member.is_some();
        row = member.unwrap_or(row);
        out.push_str(&member.map_or_else(|| part.to_owned(), |member| spell(member.name)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{spelled, spelled_path};
    use crate::interface::{node_name, python_name};

    /// SPEC 16.5: a person reads the names that the host's language has.
    #[test]
    fn a_text_names_options_as_a_language_spells_them() {
        let python = |text: &str| spelled(text, |name| python_name(name).to_owned());
        let node = |text: &str| spelled(text, node_name);
        let text = "raise `timeout_ms` of the call, or call_timeout_ms in the configuration";
        assert_eq!(python(text), text.replace("`timeout_ms`", "`timeout`"));
        assert_eq!(node(text), text.replace("`timeout_ms`", "`timeoutMs`"));
        assert_eq!(node("`limits.frame_bytes`"), "`limits.frameBytes`");
        assert_eq!(python("`reconnect.delays_ms.local_ms`"), "`reconnect.delays.local_ms`");
        assert_eq!(
            node("`include.drain_delay_ms.drain_delay_ms`, `"),
            "`include.drain_delay_ms.drain_delay_ms`, `"
        );
        let path = "reconnect.delays_ms.local_ms[0]";
        let in_python = spelled_path(path, |name| python_name(name).to_owned());
        assert_eq!(in_python, "reconnect.delays.local_ms[0]");
        for foreign in
            ["no prompt `my_prompt`", "`_meta` is given twice", "drain_delay_ms", "``", ""]
        {
            assert_eq!((python(foreign), node(foreign)), (foreign.to_owned(), foreign.to_owned()));
        }
    }
}
