//! Files of variables: what they say is the same when it is written again.

use trunkline_pool::expand::parse_dotenv;

/// SPEC 10.5.
pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let variables = match parse_dotenv(text) {
        Ok(variables) => variables,
        Err(fault) => {
            let lines = text.matches('\n').count() + 1;
            assert!((1..=lines).contains(&fault.line), "line {} of {lines}", fault.line);
            return;
        }
    };
    let line = |(name, value): (&String, &String)| {
        assert!(!value.contains('\0') && !name.is_empty() && text.contains(name.as_str()));
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{escaped}\"\n")
    };
    let written: String = variables.iter().map(line).collect();
    assert_eq!(parse_dotenv(&written).as_ref(), Ok(&variables), "{written}");
    // One after another they are read as one.
    assert_eq!(parse_dotenv(&format!("{written}{written}")).as_ref(), Ok(&variables));
}
