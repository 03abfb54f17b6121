//! Whether a product runs while its file is changed.

use trunkline::settings::Format;

use crate::console::terminal::Terminal;

/// Says what a product that runs makes of its file.
pub(super) fn tell(format: Format, terminal: &mut Terminal<'_>) {
    let title = format.row().title;
    if runs(format) {
        terminal.note(&format!(
            "{title} runs: restart it, and run `trunkline adopt` again if it wrote its file meanwhile"
        ));
    }
}

/// The names of the product's processes.
fn programs(format: Format) -> &'static [&'static str] {
    match format {
        Format::ClaudeCode => &["claude"],
        Format::ClaudeDesktop => &["claude-desktop", "Claude"],
        Format::Codex => &["codex"],
        Format::Cursor => &["cursor", "Cursor"],
        Format::VsCode | Format::Cline => &["code", "Code"],
        Format::Gemini => &["gemini"],
        Format::Opencode => &["opencode"],
        Format::Zed => &["zed", "zed-editor", "Zed"],
        Format::Windsurf => &["windsurf", "Windsurf"],
        _ => &[],
    }
}

/// Whether a process of that name is there: by the names that Linux shows of processes.
#[cfg(target_os = "linux")]
fn runs(format: Format) -> bool {
    let names = programs(format);
    let is_of = |process: std::fs::DirEntry| {
        let name = trunkline::bounded::text(&process.path().join("comm"), NAME_BYTES_MAX);
        name.is_ok_and(|name| names.contains(&name.trim_end()))
    };
    std::fs::read_dir("/proc").is_ok_and(|all| all.flatten().any(is_of))
}

/// Elsewhere a product counts as one that may run.
#[cfg(not(target_os = "linux"))]
fn runs(format: Format) -> bool {
    !programs(format).is_empty()
}

/// More than the name of a process has.
#[cfg(target_os = "linux")]
const NAME_BYTES_MAX: usize = 256;
