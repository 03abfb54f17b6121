//! Which settings files are found, in folders that the environment names.

use std::fs;
use std::path::Path;

use rig::Folder;
use trunkline::settings::{FileScope, Format};

use crate::environment::set;

/// SPEC 10.1, 10.3: what exists for the user and the workspace is listed with its product and its
/// source; a folder of that name, an empty place and another workspace are not.
#[test]
fn settings_files_that_exist_are_detected() {
    rig::alone!();
    let root = Folder::new();
    let (home, config, workspace) =
        (root.join("home"), root.join("config"), root.join("workspace"));
    for path in [
        home.join(".cursor/mcp.json"),
        home.join(".config/goose/config.yaml"),
        config.join("zed/settings.json"),
        workspace.join(".mcp.json"),
        workspace.join(".vscode/mcp.json"),
        workspace.join("opencode.jsonc"),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "not even JSON").unwrap();
    }
    fs::create_dir_all(workspace.join(".roo/mcp.json")).unwrap();
    std::os::unix::fs::symlink(workspace.join("nowhere"), workspace.join("opencode.json")).unwrap();
    set(&[("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", config.to_str().unwrap())]);

    let list = |workspace: &Path| {
        let files = trunkline::detect(workspace).into_iter();
        // What the machine's own administrator installed does not belong to this test.
        let ours = files.filter(|file| file.scope != FileScope::Managed);
        ours.map(|file| (file.format, file.scope, file.path)).collect::<Vec<_>>()
    };
    let row = |format, scope, path: &Path| (format, scope, path.to_str().unwrap().to_owned());
    let of_user = [
        row(Format::Cursor, FileScope::User, &home.join(".cursor/mcp.json")),
        row(Format::Zed, FileScope::User, &config.join("zed/settings.json")),
    ];
    let found = list(&workspace);
    assert_eq!(
        found,
        [
            row(Format::ClaudeCode, FileScope::Project, &workspace.join(".mcp.json")),
            row(Format::VsCode, FileScope::Workspace, &workspace.join(".vscode/mcp.json")),
            of_user[0].clone(),
            row(Format::Opencode, FileScope::Workspace, &workspace.join("opencode.jsonc")),
            of_user[1].clone(),
        ]
    );
    assert_eq!(list(&root), of_user);
    std::env::set_current_dir(&workspace).unwrap();
    assert_eq!(list(Path::new("")), found);
    assert_eq!(list(Path::new(".")), found);
}
