//! The table of command lines that risk marks are found by.
//!
//! Another program, flag or beginning is a word of a row. Another kind of line is a row: the mark,
//! the programs, what about them, and an example, which its test takes.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::cue::{Cue, RiskRow, row};
use super::kind::RiskKind;

/// The rows of a program of that name.
pub(super) fn of(name: &str) -> &'static [&'static RiskRow] {
    static OF: LazyLock<HashMap<&str, Vec<&RiskRow>>> = LazyLock::new(|| {
        let mut of = HashMap::<_, Vec<_>>::new();
        for row in ROWS {
            row.programs().for_each(|name| of.entry(name).or_default().push(row));
        }
        of
    });
    OF.get(name).map_or(&[], Vec::as_slice)
}

pub(in crate::approvals) static ROWS: &[RiskRow] = &[
    // What a runner or an interpreter takes of the folder that it works in.
    row(RiskKind::WorkspaceCode, "npx bunx pnpx dnx", Cue::Named, "npx -y pkg@1.2.3"),
    row(
        RiskKind::WorkspaceCode,
        "npm pnpm yarn bun",
        Cue::Long("exec x dlx run run-script start test"),
        "npm exec pkg@1.2.3",
    ),
    row(
        RiskKind::WorkspaceCode,
        "uv poetry pdm pipenv hatch rye pixi conda mamba micromamba",
        Cue::Long("run"),
        "uv run server",
    ),
    row(RiskKind::WorkspaceCode, "bundle", Cue::Long("exec"), "bundle exec server"),
    row(RiskKind::WorkspaceCode, "go cargo dotnet", Cue::Long("run exec test"), "go run ."),
    row(RiskKind::WorkspaceCode, "deno", Cue::Long("task serve"), "deno task start"),
    row(
        RiskKind::WorkspaceCode,
        "gradle gradlew mvn mvnw rake tox nox pytest jest vitest turbo lerna",
        Cue::Named,
        "gradlew server",
    ),
    row(
        RiskKind::WorkspaceCode,
        "python pythonw pypy py ipython",
        Cue::Short("m"),
        "python -m mcp_server_time",
    ),
    row(RiskKind::WorkspaceCode, "node nodejs", Cue::Long("--run"), "node --run server"),
    row(
        RiskKind::WorkspaceCode,
        "java",
        Cue::Long("-jar -cp -classpath --class-path"),
        "java -jar server.jar",
    ),
    row(
        RiskKind::WorkspaceCode,
        "npx npm pnpm pnpx yarn bunx bun deno uv uvx pipx pip node nodejs go",
        Cue::Long("--prefix --cwd --dir --directory --project --node-modules-dir"),
        "uv --directory . tool run pkg==1.2.3",
    ),
    row(
        RiskKind::WorkspaceCode,
        "npx npm pnpm pnpx yarn bunx bun deno uv uvx pipx pip node nodejs go",
        Cue::Long("--with-editable --editable"),
        "uv run --with-editable . server",
    ),
    row(
        RiskKind::WorkspaceCode,
        "cargo",
        Cue::Long("--prefix --cwd --dir --directory --project --node-modules-dir"),
        "cargo --directory . run",
    ),
    row(
        RiskKind::WorkspaceCode,
        "cargo",
        Cue::Long("--with-editable --editable"),
        "cargo --with-editable . run",
    ),
    row(
        RiskKind::WorkspaceCode,
        "python pythonw pypy py ipython node nodejs bun tsx ts-node electron",
        Cue::Script,
        "node ./server.js",
    ),
    row(
        RiskKind::WorkspaceCode,
        "deno ruby perl php lua luajit julia rscript java dotnet sh bash dash",
        Cue::Script,
        "deno ./server.js",
    ),
    row(
        RiskKind::WorkspaceCode,
        "zsh ksh fish pwsh powershell tclsh osascript",
        Cue::Script,
        "zsh ./server.zsh",
    ),
    // Containers, and what of this machine is in them.
    row(
        RiskKind::Container,
        "docker podman nerdctl finch docker-compose podman-compose singularity",
        Cue::Named,
        "docker run -i --rm mcp/fetch",
    ),
    row(
        RiskKind::Container,
        "apptainer runc crun ctr nspawn systemd-nspawn lxc lxc-attach kubectl",
        Cue::Named,
        "apptainer run docker://mcp/fetch",
    ),
    row(
        RiskKind::Container,
        "flatpak bwrap firejail distrobox toolbox",
        Cue::Named,
        "flatpak run org.example.Server",
    ),
    row(
        RiskKind::ContainerMount,
        "docker podman nerdctl finch docker-compose podman-compose singularity",
        Cue::Long("--volume --mount --volumes-from --device --privileged --network --net"),
        "docker run --mount type=bind,src=/,dst=/host x",
    ),
    row(
        RiskKind::ContainerMount,
        "docker podman nerdctl finch docker-compose podman-compose singularity",
        Cue::Long("--pid --ipc --uts --userns --cap-add --security-opt --env-file --bind"),
        "docker run --pid host mcp/fetch",
    ),
    row(
        RiskKind::ContainerMount,
        "docker podman nerdctl finch docker-compose podman-compose singularity",
        Cue::Long("--bind-try --dev-bind --filesystem --tmpfs"),
        "docker run --tmpfs /run mcp/fetch",
    ),
    row(
        RiskKind::ContainerMount,
        "apptainer runc bwrap flatpak systemd-nspawn",
        Cue::Long("--volume --mount --volumes-from --device --privileged --network --net"),
        "apptainer run --mount type=bind,src=/,dst=/host x.sif",
    ),
    row(
        RiskKind::ContainerMount,
        "apptainer runc bwrap flatpak systemd-nspawn",
        Cue::Long("--pid --ipc --uts --userns --cap-add --security-opt --env-file --bind"),
        "apptainer exec --pid x.sif server",
    ),
    row(
        RiskKind::ContainerMount,
        "apptainer runc bwrap flatpak systemd-nspawn",
        Cue::Long("--bind-try --dev-bind --filesystem --tmpfs"),
        "bwrap --dev-bind / / /srv/server",
    ),
    row(
        RiskKind::ContainerMount,
        "docker podman nerdctl finch docker-compose podman-compose",
        Cue::Short("v"),
        "docker run -v /:/host x",
    ),
    row(
        RiskKind::ContainerMount,
        "singularity apptainer",
        Cue::Short("B"),
        "apptainer exec -B / x.sif server",
    ),
    // Code that is fetched from somewhere and run.
    row(RiskKind::RemoteCode, "go", Cue::Long("run install get"), "go run example.com/x@latest"),
    row(
        RiskKind::RemoteCode,
        "deno node nodejs bun tsx ts-node electron",
        Cue::Begins("http: https: jsr: npm: data:"),
        "deno run https://example.com/x.ts",
    ),
    row(
        RiskKind::RemoteCode,
        "npx npm pnpm pnpx yarn bunx bun uv uvx pipx pip",
        Cue::Begins("http: https: git+ git: git@ github: gitlab: bitbucket: gist: ssh:"),
        "uvx git+https://example.com/x",
    ),
    row(RiskKind::RemoteCode, "cargo", Cue::Long("install binstall"), "cargo install server"),
    row(RiskKind::RemoteCode, "nix", Cue::Long("run shell develop"), "nix run nixpkgs#server"),
    row(
        RiskKind::RemoteCode,
        "curl wget jbang pkgx nix-shell dnx",
        Cue::Named,
        "jbang https://example.com/x.java",
    ),
    row(RiskKind::RemoteCode, "gem dotnet", Cue::Long("exec tool"), "gem exec server"),
    // Another place that packages come from, or other settings of who fetches them.
    row(
        RiskKind::OtherRegistry,
        "npx npm pnpm pnpx yarn bunx bun",
        Cue::Long("--registry --userconfig --globalconfig --script-shell --node-options"),
        "npx --registry=https://example.com pkg@1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "npx npm pnpm pnpx yarn bunx bun",
        Cue::Long("--cache --config --init-module --use-yarnrc --config-file"),
        "npx --cache ./cache pkg@1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "npx npm pnpm pnpx yarn bunx bun",
        Cue::Long("--allow-build"),
        "pnpm dlx --allow-build=pkg pkg@1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "uv uvx pipx pip",
        Cue::Long("--index-url --index --default-index --extra-index-url --find-links"),
        "uvx --index-url https://example.com pkg==1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "uv uvx pipx pip",
        Cue::Long("--config-file --trusted-host --allow-insecure-host --index-strategy"),
        "uvx --config-file ./uv.toml pkg==1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "uv uvx pipx pip",
        Cue::Long("--pip-args --constraint --overrides --build-constraint"),
        "pipx run --pip-args=--pre pkg==1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "uv uvx pipx pip",
        Cue::Short("if"),
        "uvx -i https://example.com pkg==1.2.3",
    ),
    row(
        RiskKind::OtherRegistry,
        "deno",
        Cue::Long("--config --import-map --lock --unsafely-ignore-certificate-errors"),
        "deno run --import-map=./x.json server.ts",
    ),
    row(RiskKind::OtherRegistry, "deno", Cue::Long("--cert"), "deno run --cert ./x.pem server.ts"),
    row(
        RiskKind::OtherRegistry,
        "go",
        Cue::Long("-modfile -toolexec -overlay -exec -mod"),
        "go run -modfile=x.mod .",
    ),
    row(
        RiskKind::OtherRegistry,
        "cargo",
        Cue::Long("--config --registry --index"),
        "cargo --config x.toml run",
    ),
    row(
        RiskKind::OtherRegistry,
        "docker podman nerdctl",
        Cue::Long("--host --config --context --tlscacert --url --connection"),
        "docker --host tcp://example.com run x",
    ),
    // What is loaded before the program that the line names.
    row(
        RiskKind::Preload,
        "node nodejs bun tsx ts-node electron",
        Cue::Long("--require --import --loader --experimental-loader --preload --env-file"),
        "node --import ./x.js /srv/server.js",
    ),
    row(
        RiskKind::Preload,
        "node nodejs bun tsx ts-node electron",
        Cue::Long("--env-file-if-exists --openssl-config --snapshot-blob"),
        "node --env-file-if-exists=.env /srv/server.js",
    ),
    row(
        RiskKind::Preload,
        "node nodejs bun tsx ts-node electron",
        Cue::Long("--experimental-config-file --experimental-default-config-file"),
        "node --experimental-config-file=x.json /srv/server.js",
    ),
    row(
        RiskKind::Preload,
        "node nodejs bun tsx ts-node electron",
        Cue::Long("--inspect --inspect-brk"),
        "node --inspect=0.0.0.0:9229 /srv/server.js",
    ),
    row(
        RiskKind::Preload,
        "node nodejs bun tsx ts-node electron",
        Cue::Short("r"),
        "node -r ./x.js /srv/server.js",
    ),
    row(
        RiskKind::Preload,
        "deno",
        Cue::Long("--preload --require --env-file"),
        "deno run --preload=./x.ts server.ts",
    ),
    row(RiskKind::Preload, "perl", Cue::Short("MmI"), "perl -Mlib=. /srv/server.pl"),
    row(RiskKind::Preload, "ruby irb", Cue::Short("rI"), "ruby -r./x /srv/server.rb"),
    row(
        RiskKind::Preload,
        "ruby irb elixir iex",
        Cue::Long("--require -pa -pz -s"),
        "elixir --require x.exs /srv/server.exs",
    ),
    row(RiskKind::Preload, "php", Cue::Short("dcz"), "php -d auto_prepend_file=x /srv/server.php"),
    row(
        RiskKind::Preload,
        "php",
        Cue::Long("--define --php-ini --zend-extension"),
        "php --php-ini x.ini /srv/server.php",
    ),
    row(
        RiskKind::Preload,
        "java kotlin scala groovy",
        Cue::Begins("-javaagent: -agentlib: -agentpath: -xbootclasspath"),
        "java -javaagent:x.jar -version",
    ),
    row(
        RiskKind::Preload,
        "java kotlin scala groovy",
        Cue::Begins("-djava.system.class.loader -xx:onoutofmemoryerror -xx:onerror @"),
        "java -Djava.system.class.loader=x.Loader -version",
    ),
    row(
        RiskKind::Preload,
        "java",
        Cue::Long("--module-path --upgrade-module-path --patch-module --add-modules"),
        "java --module-path x -m server",
    ),
    row(RiskKind::Preload, "lua luajit", Cue::Short("l"), "lua -l x /srv/server.lua"),
    row(RiskKind::Preload, "julia", Cue::Short("LJ"), "julia -L x.jl /srv/server.jl"),
    row(
        RiskKind::Preload,
        "julia",
        Cue::Long("--load --project --sysimage"),
        "julia --project=. /srv/server.jl",
    ),
    row(
        RiskKind::Preload,
        "erl",
        Cue::Long("-pa -pz -s -run -eval -config -args_file"),
        "erl -noshell -pa ./ebin",
    ),
    row(
        RiskKind::Preload,
        "ld-linux-x86-64.so ld-linux.so ld-linux-aarch64.so ld-linux-armhf.so",
        Cue::Long("--preload --library-path --audit --inhibit-rpath"),
        "/lib64/ld-linux-x86-64.so.2 --preload ./x.so /srv/server",
    ),
    row(
        RiskKind::Preload,
        "ld-musl-x86_64.so ld-musl-aarch64.so ld.so",
        Cue::Long("--preload --library-path --audit --inhibit-rpath"),
        "ld-musl-x86_64.so --preload ./x.so /srv/server",
    ),
    // Programs whose arguments or files are programs.
    row(RiskKind::InlineCode, "script", Cue::Short("c"), "script -qc id"),
    row(
        RiskKind::RunsProgram,
        "awk gawk mawk nawk sed gsed xargs parallel socat ncat expect nsenter",
        Cue::Named,
        "awk BEGIN{system(1)}",
    ),
    row(
        RiskKind::RunsProgram,
        "systemd-run run-parts xvfb-run dbus-run-session nodemon concurrently",
        Cue::Named,
        "systemd-run --user --pipe server",
    ),
    row(
        RiskKind::RunsProgram,
        "supergateway flock entr strace ltrace sudo doas pkexec runuser",
        Cue::Named,
        "supergateway --stdio server",
    ),
    row(
        RiskKind::RunsProgram,
        "make gmake ninja cmake bazel bazelisk scons ant just task rake gradle",
        Cue::Named,
        "make server",
    ),
    row(RiskKind::RunsProgram, "gradlew mvn mvnw", Cue::Named, "gradlew server"),
    row(
        RiskKind::RunsProgram,
        "time watch timeout nice ionice at batch script screen tmux su nohup",
        Cue::First,
        "timeout 9 server",
    ),
    row(
        RiskKind::RunsProgram,
        "setsid stdbuf taskset chroot unshare nc telnet vim vi nvim emacs less",
        Cue::First,
        "setsid --wait server",
    ),
    row(RiskKind::RunsProgram, "man", Cue::First, "man -P id ls"),
    row(
        RiskKind::RunsProgram,
        "find gfind",
        Cue::Long("-exec -execdir -ok -okdir"),
        "find . -exec id +",
    ),
    row(RiskKind::RunsProgram, "fd fdfind", Cue::Long("--exec --exec-batch -x"), "fd --exec id"),
    row(
        RiskKind::RunsProgram,
        "ssh sshpass mosh scp sftp autossh plink",
        Cue::Named,
        "ssh -oProxyCommand=id example.com",
    ),
    row(RiskKind::RunsProgram, "rsync", Cue::Long("--rsh --rsync-path"), "rsync --rsh=id a b"),
    row(RiskKind::RunsProgram, "rsync", Cue::Short("e"), "rsync -e id a b"),
    row(RiskKind::RunsProgram, "git", Cue::Short("c"), "git -c alias.x=!id x"),
    row(
        RiskKind::RunsProgram,
        "git",
        Cue::Long("--exec-path --config-env --upload-pack --receive-pack --git-dir"),
        "git --exec-path=. status",
    ),
    row(
        RiskKind::RunsProgram,
        "git",
        Cue::Long("--work-tree --extcmd"),
        "git --work-tree=. status",
    ),
    row(RiskKind::RunsProgram, "git", Cue::Short("C"), "git -C . status"),
    row(
        RiskKind::RunsProgram,
        "tar gtar bsdtar",
        Cue::Long("--to-command --checkpoint-action --use-compress-program --rsh-command"),
        "tar --to-command=id -xf x.tar",
    ),
    row(
        RiskKind::RunsProgram,
        "tar gtar bsdtar",
        Cue::Long("--info-script --new-volume-script"),
        "tar --info-script=id -xf x.tar",
    ),
    row(RiskKind::RunsProgram, "tar gtar bsdtar", Cue::Short("IF"), "tar -I id -xf x.tar"),
    row(
        RiskKind::RunsProgram,
        "zip",
        Cue::Long("--unzip-command -tt"),
        "zip --unzip-command id x.zip y",
    ),
    row(RiskKind::RunsProgram, "cargo", Cue::Long("run test bench build install"), "cargo run"),
    row(
        RiskKind::RunsProgram,
        "mise asdf direnv volta fnm pyenv rbenv op doppler dotenvx infisical",
        Cue::Long("exec x run"),
        "mise exec server",
    ),
    row(
        RiskKind::RunsProgram,
        "aws-vault chamber",
        Cue::Long("exec x run"),
        "aws-vault exec server",
    ),
];
