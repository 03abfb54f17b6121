//! What is shown before a decision.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{process, root, spec};
use crate::approvals::{
    Asked, Book, Candidate, CandidateLaunch, Decision, FileDifference, Replaced, Request,
    RequestOrigin, StartFile, seal,
};

fn origin() -> RequestOrigin {
    RequestOrigin { scope: "project".into(), file: Some("/p/.mcp.json".into()), line: Some(3) }
}

/// The request for a literal configuration.
fn request(value: &Value, shown: &CandidateLaunch) -> Request {
    request_for(Candidate::of_spec(&spec(value), shown))
}

fn request_for(candidate: Candidate<'_>) -> Request {
    let (root, origin) = (root("/p"), origin());
    Request::new(&Asked {
        root: &root,
        server: "s",
        origin: &origin,
        candidate,
        last: None,
        hides: None,
        alike: None,
    })
}

/// The marks of a command line, as words and places.
fn marks(command: &str, args: &[&str]) -> Vec<(String, Option<u64>)> {
    let value = json!({ "command": command, "args": args });
    let json = request(&value, &process(command, args)).to_json();
    let marks = json["risks"].as_array().unwrap().iter();
    marks.map(|it| (it["kind"].as_str().unwrap().to_owned(), it["argument"].as_u64())).collect()
}

fn has(marks: &[(String, Option<u64>)], kind: &str) -> bool {
    marks.iter().any(|(found, _)| found == kind)
}

/// SPEC 12.5, S-10, S-48: what would run in an exact and an escaped form, names and no values.
#[test]
fn a_request_shows_what_would_run_and_no_values() {
    let value = json!({
        "command": "$TOOL", "args": ["a b"], "cwd": "/w",
        "env": { "TOKEN": "canary-1", "GONE": null, "A\u{202e}B": "canary-2" }, "inherit_env": ["X*"],
    });
    let shown = CandidateLaunch::Process {
        command: "tool".into(),
        program: Some("/opt/\u{202e}tool".into()),
        args: vec!["a b".into()],
        cwd: Some("/w".into()),
        in_workspace: vec![1],
    };
    let json = request(&value, &shown).to_json();
    assert_eq!(json["exact"]["argv"], json!(["tool", "a b"]));
    assert_eq!(json["exact"]["program"], json!("/opt/\u{202e}tool"));
    assert_eq!(json["escaped"]["line"], json!("tool \"a b\""));
    assert_eq!(json["escaped"]["program"], json!("/opt/\\u{202e}tool"));
    assert_eq!(json["escaped"]["cwd"], json!("/w"));
    assert_eq!(json["escaped"]["server"], json!("s"));
    assert_eq!(json["escaped"]["in_workspace"], json!([{ "argument": 1, "path": "a b" }]));
    assert_eq!(json["env"], json!(["A\\u{202e}B", "TOKEN"]));
    assert_eq!(json["unset_env"], json!(["GONE"]));
    assert_eq!(json["inherit_env"], json!(["X*"]));
    assert_eq!(json["origin"], json!({ "scope": "project", "file": "/p/.mcp.json", "line": 3 }));
    assert_eq!(json["hash"].as_str().unwrap().len(), 67);
    assert_eq!(json["changes"], Value::Null);
    assert!(!json.to_string().contains("canary"));
    assert!(!format!("{:?}", request(&value, &shown)).contains("a b"));
}

/// SPEC 12.5, S-48: the same of a remote server.
#[test]
fn a_request_for_a_remote_server_shows_its_address_and_no_header() {
    let value = json!({ "url": "https://h/$X", "headers": { "Authorization": "canary" } });
    let shown = CandidateLaunch::Remote {
        url: "https://h/\u{430}".into(),
        socket_path: None,
        oauth: BTreeMap::new(),
    };
    let json = request(&value, &shown).to_json();
    assert_eq!(json["exact"]["url"], json!("https://h/\u{430}"));
    assert_eq!(json["escaped"]["line"], json!("https://h/\\u{430}"));
    assert_eq!(json["headers"], json!(["authorization"]));
    assert_eq!(json["risks"], json!([]));
    assert!(!json.to_string().contains("canary"));
}

/// SPEC 12.5: names of fields that are different since the last decision about the name, whichever
/// it was.
#[test]
fn a_request_names_what_changed_since_the_last_decision() {
    let before = json!({ "command": "c", "args": ["1"], "env": { "A": "1", "B": "1" } });
    let after =
        json!({ "command": "c", "args": ["2"], "env": { "A": "2", "C": "1" }, "trust": true });
    let shown = process("c", &["1"]);
    let before = spec(&before);
    let candidate = Candidate::of_spec(&before, &shown);
    let (root, origin) = (root("/p"), origin());
    let mut book = Book::default();
    let decision = (Decision::Rejected, 12);
    book.decide(&root, "s", &candidate.identity(), decision, None).unwrap();
    // The digests come back from the file.
    let book = Book::parse(book.to_text().as_bytes()).unwrap();
    let after = spec(&after);
    let shown = process("c", &["2"]);
    let request = Request::new(&Asked {
        root: &root,
        server: "s",
        origin: &origin,
        candidate: Candidate::of_spec(&after, &shown),
        last: book.last(&root, "s"),
        hides: None,
        alike: None,
    });
    assert_eq!(
        request.to_json()["changes"],
        json!({
            "decision": "rejected",
            "at_ms": 12,
            "fields": [
                { "field": "args", "change": "changed" },
                { "field": "env.A", "change": "changed" },
                { "field": "env.B", "change": "removed" },
                { "field": "env.C", "change": "added" },
                { "field": "trust", "change": "added" },
            ],
        })
    );
}

/// SPEC 12.5, S-48: neither an argument nor a value is in the file, however many there are.
#[test]
fn the_file_has_no_argument_and_no_value() {
    let env: serde_json::Map<_, _> =
        (0..100).map(|number| (format!("N{number}"), json!("canary-value"))).collect();
    let value = json!({ "command": "canary-command", "args": ["canary-arg"], "env": env });
    let spec = spec(&value);
    let shown = process("canary-command", &["canary-arg"]);
    let mut book = Book::default();
    let identity = Candidate::of_spec(&spec, &shown).identity();
    book.decide(&root("/p"), "s", &identity, (Decision::Approved, 1), None).unwrap();
    assert!(!book.to_text().contains("canary"));
    assert!(book.to_text().len() < 2_000, "{}", book.to_text().len());
}

/// S-09: flags that carry code, in every form that interpreters take them.
#[test]
fn inline_code_is_marked() {
    let lines: &[(&str, &[&str])] = &[
        ("python", &["-c", "x"]),
        ("python3.12", &["-cprint(1)"]),
        ("/usr/bin/python3", &["-X", "dev", "-Ic", "x"]),
        ("node", &["-e", "x"]),
        ("node", &["--eval=x"]),
        ("node.exe", &["-pe", "x"]),
        ("npx", &["-c", "x"]),
        ("npx", &["--call=x"]),
        ("npm", &["exec", "--call", "x"]),
        ("bash", &["-lc", "x"]),
        ("cmd.exe", &["/c", "x"]),
        ("powershell", &["-EncodedCommand", "x"]),
        ("env", &["A=1", "python3", "-c", "x"]),
        ("env", &["-S", "'bash' -c \"x\""]),
        ("env", &["-Sbash -c x"]),
        ("env", &["-viSbash -c x"]),
        ("env", &["--split-string=bash -c x"]),
        ("env", &["-S", "bash\\_-c\\_x"]),
        ("env", &["-Sbash\\t-c\\tx"]),
        ("env", &["-S", "py'th'on -c x"]),
        ("wrapper", &["--run={\"command\":\"bash\",\"args\":[\"-c\",\"x\"]}"]),
        ("perl", &["-0777ne", "x"]),
        ("uv", &["run", "python", "-c", "x"]),
        ("perl", &["-E", "x"]),
        ("ruby", &["-e", "x"]),
        ("php", &["-r", "x"]),
        ("deno", &["eval", "x"]),
    ];
    for (command, args) in lines {
        assert!(has(&marks(command, args), "inline_code"), "{command} {args:?}");
    }
    for (command, args) in [("python", ["server.py", "--port"]), ("node", ["server.js", "--all"])] {
        assert!(!has(&marks(command, &args), "inline_code"), "{command} {args:?}");
    }
}

/// S-09: shells are marked wherever they stand, and by what their name turns out to be.
#[test]
fn shells_are_marked() {
    assert!(has(&marks("bash", &["x"]), "shell"));
    assert!(has(&marks("env", &["-i", "/bin/sh", "x"]), "shell"));
    assert!(marks("env", &["-S", "dash bash x"]).contains(&("shell".to_owned(), Some(2))));
    assert!(marks("env", &["-Sdash x"]).contains(&("shell".to_owned(), Some(1))));
    assert!(has(&marks("env", &["-SNODE_OPTIONS=x c"]), "loader_variable"));
    assert!(has(&marks("C:\\Windows\\System32\\CMD.EXE", &["x"]), "shell"));
    let shown = CandidateLaunch::Process {
        command: "innocent".into(),
        program: Some("/bin/dash".into()),
        args: vec!["-c".into(), "x".into()],
        cwd: None,
        in_workspace: Vec::new(),
    };
    let json = request(&json!({ "command": "innocent", "args": ["-c", "x"] }), &shown).to_json();
    let kinds: Vec<_> = json["risks"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds[..2], ["shell", "inline_code"]);
    assert_eq!(marks("server", &["--port", "1"]), []);
}

/// SPEC 12.5: what a project's file says takes time by its length, whatever it says.
#[test]
fn a_line_of_very_many_programs_is_looked_at_in_time() {
    for line in ["python ".repeat(200_000), format!("-{}", "x".repeat(1_000_000))] {
        // One argument has one mark of a kind.
        assert!(marks("env", &["-S", &line]).len() < 2);
    }
}

/// S-09: variables that choose what programs load, whatever their case; files of variables, and
/// what is inherited by a pattern.
#[test]
fn variables_of_loaders_are_marked() {
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "BASH_ENV",
        "PATH",
        "Path",
        "npm_config_registry",
        "PERL5OPT",
        "GIT_SSH_COMMAND",
    ] {
        let value = json!({ "command": "c", "env": { name: "x" } });
        let json = request(&value, &process("c", &[])).to_json();
        let expected = json!([{ "kind": "loader_variable", "subject": name, "argument": null }]);
        assert_eq!(json["risks"], expected, "{name}");
    }
    // A program may set them from its arguments.
    assert_eq!(
        marks("env", &["LD_PRELOAD=./x.so", "c"]),
        [("loader_variable".to_owned(), Some(1))]
    );
    assert!(has(&marks("env", &["-S", "A=1 NODE_OPTIONS=--require=./x.js c"]), "loader_variable"));
    assert_eq!(marks("env", &["TOKEN=x", "=", "c"]), []);
    let value =
        json!({ "command": "c", "env": { "TOKEN": "x" }, "inherit_env": ["AWS_*", "LANG"] });
    let json = request(&value, &process("c", &[])).to_json();
    let expected =
        json!([{ "kind": "inherits_environment", "subject": "AWS_*", "argument": null }]);
    assert_eq!(json["risks"], expected);
}

/// S-08, S-09: a program that the project itself brings, and one that is not there.
#[test]
fn programs_of_the_project_are_marked() {
    let of = |program: Option<&str>| {
        let shown = CandidateLaunch::Process {
            command: "c".into(),
            program: program.map(Into::into),
            args: Vec::new(),
            cwd: None,
            in_workspace: Vec::new(),
        };
        let json = request(&json!({ "command": "c" }), &shown).to_json();
        json["risks"].as_array().unwrap().first().map(|it| it["kind"].clone())
    };
    assert_eq!(of(Some("/p/bin/c")), Some(json!("program_in_workspace")));
    assert_eq!(of(Some("/pp/bin/c")), None);
    assert_eq!(of(None), Some(json!("program_not_found")));
}

/// The packages of a line whose versions are not settled.
fn unpinned(command: &str, args: &[&str]) -> Vec<String> {
    let value = json!({ "command": command, "args": args });
    let json = request(&value, &process(command, args)).to_json();
    let marks = json["risks"].as_array().unwrap().iter();
    let marks = marks.filter(|mark| mark["kind"] == "unpinned_package");
    marks.map(|mark| mark["subject"].as_str().unwrap().to_owned()).collect()
}

/// S-09, S-16: a package whose version is not settled is marked by its name, wherever the runner is
/// told it.
#[test]
fn packages_without_a_version_are_marked() {
    let lines: &[(&str, &[&str], &str)] = &[
        ("npx", &["-y", "pkg"], "pkg"),
        ("npx", &["@scope/pkg"], "@scope/pkg"),
        ("npx", &["pkg@latest"], "pkg@latest"),
        ("npx", &["pkg@1"], "pkg@1"),
        ("npx", &["--package=pkg", "tool"], "pkg"),
        ("npx", &["-p", "pkg", "tool@1.2.3"], "pkg"),
        ("npx", &["pkg@1.2"], "pkg@1.2"),
        ("npx", &["pkg@1.2.x"], "pkg@1.2.x"),
        ("npx", &["pkg@1.2.3 || *"], "pkg@1.2.3 || *"),
        ("npx", &["pkg@1.2.3x"], "pkg@1.2.3x"),
        ("npx", &["-p", "good@1.2.3", "-p", "pkg", "tool"], "pkg"),
        ("npx", &["--prefix", "a@1.2.3", "-p", "pkg", "tool"], "pkg"),
        ("npx", &["--prefix", "a@1.2.3", "pkg"], "pkg"),
        ("npx", &["--unknown", "pkg", "-p", "good@1.2.3"], "pkg"),
        ("npx", &["pkg", "--package=good@1.2.3"], "pkg"),
        ("npm", &["exec", "good@1.2.3", "--package=pkg"], "pkg"),
        ("uvx", &["pkg==1.2.*"], "pkg==1.2.*"),
        ("uvx", &["pkg==1.2,>0"], "pkg==1.2,>0"),
        ("uvx", &["--from", "good==1.0", "--with", "pkg", "tool"], "pkg"),
        ("uvx", &["--with", "good==1.0", "pkg"], "pkg"),
        ("uvx", &["--python", "cpython@3.12.1", "--from", "pkg", "tool"], "pkg"),
        ("uvx", &["--python", "cpython@3.12.1", "pkg"], "pkg"),
        ("uvx", &["-p", "cpython@3.12.1", "pkg"], "pkg"),
        ("pnpm", &["dlx", "pkg"], "pkg"),
        ("uvx", &["pkg"], "pkg"),
        ("uvx", &["--from", "pkg>=1.0", "tool"], "pkg>=1.0"),
        ("uvx", &["git+https://host/pkg@1.2.3"], "git+https://host/pkg@1.2.3"),
        ("npx", &["./pkg@1.2.3"], "./pkg@1.2.3"),
        ("uv", &["tool", "run", "pkg"], "pkg"),
        ("uv", &["tool", "run", "-p", "cpython@3.12.1", "pkg"], "pkg"),
        ("pipx", &["run", "pkg"], "pkg"),
        ("pipx", &["run", "--python", "python@3.12.1", "--spec", "pkg", "tool"], "pkg"),
    ];
    for (command, args, package) in lines {
        assert_eq!(unpinned(command, args), [*package], "{command} {args:?}");
    }
}

/// S-09, S-16: neither are settled versions marked, nor words that name no package.
#[test]
fn packages_of_one_version_are_not_marked() {
    let lines: &[(&str, &[&str])] = &[
        ("npx", &["-y", "pkg@1.2.3"]),
        ("npx", &["-y", "pkg@1.2.3", "/folder"]),
        ("npx", &["--no-install", "--ignore-scripts", "pkg@1.2.3", "/folder"]),
        ("bunx", &["--bun", "pkg@1.2.3", "/folder"]),
        ("npx", &["@scope/pkg@1.2.3"]),
        ("uvx", &["pkg==1.2.3"]),
        ("uvx", &["pkg[extra]==1.2.3"]),
        ("uvx", &["--from", "pkg==1.2", "tool"]),
        ("uvx", &["--python", "3.12", "--from", "pkg==1.0.0", "tool"]),
        ("uvx", &["-p", "3.12", "pkg==1.0.0", "x"]),
        ("uvx", &["--with", "other==1.0", "pkg==1.2.post1"]),
        ("uv", &["--directory", "/folder", "tool", "run", "pkg==1.2.3", "x"]),
        ("npx", &["pkg@1.2.3-rc.1+build", "-p", "8080"]),
        ("npm", &["exec", "--package=pkg@1.2.3", "--", "tool", "x"]),
        ("node", &["pkg"]),
    ];
    for (command, args) in lines {
        assert_eq!(unpinned(command, args), [""; 0], "{command} {args:?}");
    }
}

/// SPEC 12.12: a program that is another than was looked at is another thing to decide about, and
/// the text says so first.
#[test]
fn a_program_that_is_another_is_said_first_and_is_another_decision() {
    let value = json!({ "command": "c" });
    let (spec, shown) = (super::spec(&value), process("c", &[]));
    let replaced = Replaced {
        file: StartFile::Interpreter,
        path: "/bin/s\u{202e}h".to_owned(),
        difference: FileDifference::Content,
        seal: seal("one"),
    };
    let other = Replaced { seal: seal("two"), ..replaced.clone() };
    let candidate = |replaced| Candidate::of_spec(&spec, &shown).replaced(replaced);
    let hashes = [None, Some(&replaced), Some(&other)].map(|it| candidate(it).identity().hash);
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    let request = request_for(candidate(Some(&replaced))).to_json();
    let path = "/bin/s\\u{202e}h";
    let expected = json!({ "file": "interpreter", "path": path, "difference": "content" });
    assert_eq!(request["replaced"], expected);
    let text = request["escaped"]["text"].as_str().unwrap();
    let clause = format!("the interpreter {path} has other content than when it was looked at");
    assert_eq!(text.lines().nth(1), Some(&*format!("  replaced {clause}")));
    assert_eq!(request_for(candidate(None)).to_json()["replaced"], Value::Null);
}
