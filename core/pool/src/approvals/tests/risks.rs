//! The tables of risk marks, row by row.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{process, root, spec};
use crate::approvals::risk::{ROWS, variable_rows};
use crate::approvals::{Asked, Candidate, CandidateLaunch, Request, RequestOrigin};

/// The marks of a configuration in the project `/p`, as words and subjects.
fn marks(value: &Value, shown: &CandidateLaunch) -> Vec<(String, String)> {
    let spec = spec(value);
    let (root, origin) =
        (root("/p"), RequestOrigin { scope: "project".into(), file: None, line: None });
    let candidate = Candidate::of_spec(&spec, shown);
    let asked = Asked {
        root: &root,
        server: "s",
        origin: &origin,
        candidate,
        last: None,
        hides: None,
        alike: None,
    };
    let json = Request::new(&asked).to_json();
    let marks = json["risks"].as_array().unwrap().iter();
    let text = |mark: &Value, name: &str| mark[name].as_str().unwrap().to_owned();
    marks.map(|mark| (text(mark, "kind"), text(mark, "subject"))).collect()
}

/// The kinds of marks of a command line.
fn of_line(line: &[&str]) -> Vec<String> {
    let (command, args) = line.split_first().unwrap();
    let value = json!({ "command": command, "args": args });
    marks(&value, &process(command, args)).into_iter().map(|(kind, _)| kind).collect()
}

/// SPEC 12.10: each row of the table marks its example, and its program is why.
#[test]
fn each_row_of_the_table_marks_its_example() {
    for row in ROWS {
        let line: Vec<&str> = row.example.split(' ').collect();
        let kind = row.kind.as_str().to_owned();
        assert!(of_line(&line).contains(&kind), "{kind}: {}", row.example);
        let innocent = [&["/srv/innocent"], &line[1..]].concat();
        assert!(!of_line(&innocent).contains(&kind), "{kind}: {innocent:?}");
    }
}

/// SPEC 12.10: each program of a row is found, not that of the example alone.
#[test]
fn each_program_of_a_row_is_marked_as_its_example_is() {
    for row in ROWS {
        let rest: Vec<&str> = row.example.split(' ').skip(1).collect();
        for program in row.programs() {
            let kinds = of_line(&[&[program], &rest[..]].concat());
            let is_own = kinds.contains(&row.kind.as_str().to_owned());
            assert!(is_own, "{}: {program} {rest:?}", row.kind.as_str());
        }
    }
}

/// SPEC 12.10: each flag, verb, letter and beginning of a row is found behind each program of it,
/// first and later, and is why.
#[test]
fn each_word_of_a_row_is_marked() {
    let mut tried = 0;
    for row in ROWS {
        let kind = row.kind.as_str().to_owned();
        for program in row.programs() {
            let has_it_alone = of_line(&[program, "y"]).contains(&kind);
            for word in row.words() {
                for line in [&[program, &*word, "y"][..], &[program, "--quiet", &*word]] {
                    assert!(of_line(line).contains(&kind), "{kind}: {line:?}");
                }
                let other = of_line(&[program, "--unknown", "y"]).contains(&kind);
                assert_eq!(other, has_it_alone, "{kind}: {program}");
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}

/// SPEC 12.10: what people were shown without a mark.
#[test]
fn lines_that_run_something_else_are_marked() {
    for (kind, line) in [
        ("workspace_code", "npx -y @modelcontextprotocol/server-everything@2.0.0"),
        ("workspace_code", "/p/venv/bin/python3.12 -m mcp_server_time"),
        ("workspace_code", "python server.py"),
        ("workspace_code", "node server"),
        ("workspace_code", "node --no-warnings dist/server.js"),
        ("workspace_code", "node /p/dist/server.js"),
        ("workspace_code", "bunx pkg@1.2.3"),
        ("container", "docker run -i mcp/fetch"),
        ("container_mount", "docker run -v /:/host x"),
        ("container", "podman run x:latest"),
        ("remote_code", "go run example.com/x@latest"),
        ("remote_code", "deno run https://example.com/x.ts"),
        ("remote_code", "deno run jsr:@x/y"),
        ("other_registry", "npx --registry=https://example.com x@1.2.3"),
        ("other_registry", "npx --userconfig=./.npmrc x@1.2.3"),
        ("other_registry", "npx --script-shell=./x x@1.2.3"),
        ("other_registry", "npx --node-options=--require=./x.js x@1.2.3"),
        ("preload", "node -r ./x.js s.js"),
        ("preload", "node --require ./x.js s.js"),
        ("preload", "node --import data:text/javascript,1 s.js"),
        ("preload", "node --experimental-loader ./x.mjs s.js"),
        ("preload", "perl -Mlib=. s.pl"),
        ("preload", "java -javaagent:x.jar -jar s.jar"),
        ("runs_program", "git -c alias.x=!id x"),
        ("runs_program", "ssh -oProxyCommand=id host"),
        ("runs_program", "tar --to-command=id -xf x"),
        ("inline_code", "script -qc id"),
        ("runs_program", "find . -exec id +"),
        ("runs_program", "make server"),
        ("runs_program", "env make server"),
    ] {
        let line: Vec<&str> = line.split(' ').collect();
        assert!(
            of_line(&line).contains(&kind.to_owned()),
            "{kind}: {line:?}: {:?}",
            of_line(&line)
        );
    }
    for line in
        ["/opt/server --port 1", "python /opt/server.py", "node ~/server.js", "uvx x==1.2.3"]
    {
        let line: Vec<&str> = line.split(' ').collect();
        assert_eq!(of_line(&line), [""; 0], "{line:?}");
    }
}

/// SPEC 12.10: which lines are a package that is fetched, and need no folder of the workspace.
#[test]
fn runners_of_packages_are_known_by_what_they_are_told() {
    for (is_one, line) in [
        (true, "npx -y x@1.2.3"),
        (true, "/usr/bin/npx x"),
        (true, "npx.cmd x"),
        (true, "bunx x"),
        (true, "uvx x"),
        (true, "npm exec x"),
        (true, "npm --yes exec x"),
        (true, "pnpm dlx x"),
        (true, "uv tool run x"),
        (true, "pipx run x"),
        (true, "env A=1 npx x"),
        (true, "cmd /c npx x"),
        (false, "uv run x"),
        (false, "npm run x"),
        (false, "pnpm exec x"),
        (false, "bun x.ts"),
        (false, "node npx"),
        (false, "npm"),
    ] {
        let line: Vec<&str> = line.split(' ').collect();
        let spec = spec(&json!({ "command": line[0], "args": line[1..] }));
        let crate::config::Transport::Stdio(stdio) = &spec.transport else { panic!() };
        assert_eq!(crate::approvals::is_package_runner(stdio), is_one, "{line:?}");
    }
}

/// SPEC 12.10: each variable of the tables is marked, set, inherited or in an argument, whatever
/// its case.
#[test]
fn each_variable_of_the_tables_is_marked() {
    for (name, kind) in variable_rows() {
        let expected = |subject: &str| (kind.as_str().to_owned(), subject.to_owned());
        let shown = process("c", &[]);
        for name in [name.clone(), name.to_lowercase()] {
            let set = json!({ "command": "c", "env": { &name: "x" } });
            assert_eq!(marks(&set, &shown), [expected(&name)]);
            let inherited = json!({ "command": "c", "inherit_env": [&name] });
            assert_eq!(marks(&inherited, &shown), [expected(&name)]);
        }
        let argument = format!("{name}=x");
        let value = json!({ "command": "c", "args": [&argument] });
        assert_eq!(marks(&value, &process("c", &[&argument])), [expected(&argument)]);
    }
    for name in ["TOKEN", "GITHUB_TOKEN", "LANG", "PORT"] {
        let value = json!({ "command": "c", "env": { name: "x" } });
        assert_eq!(marks(&value, &process("c", &[])), []);
    }
}

/// SPEC 12.10: addresses that lead elsewhere than they look like, or in the clear.
#[test]
fn addresses_are_marked() {
    for (kinds, url) in [
        (&["user_info"][..], "https://good.com@evil.com/"),
        (&["user_info"], "https://user:word@evil.com/"),
        (&["clear_text"], "http://example.com/mcp"),
        (&["clear_text"], "ws://10.0.0.1/mcp"),
        (&["punycode"], "https://xn--80ak6aa92e.com/"),
        (&["punycode"], "https://аррӏе.com/"),
        (&["user_info", "clear_text", "punycode"], "http://a@xn--80ak6aa92e.com/"),
        (&[], "http://127.0.0.1:1/mcp"),
        (&[], "http://[::1]/mcp"),
        (&[], "http://localhost:80/a@b"),
        (&[], "https://example.com/a@b?c@d"),
    ] {
        let value = json!({ "url": url });
        let shown =
            CandidateLaunch::Remote { url: url.into(), socket_path: None, oauth: BTreeMap::new() };
        let found: Vec<String> = marks(&value, &shown).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(found, kinds, "{url}");
    }
}
