//! The products that `adopt` knows.

use trunkline::settings::Format;

/// The products whose files can be pointed at the pool.
pub(crate) const PRODUCTS: [Format; 10] = [
    Format::ClaudeCode,
    Format::ClaudeDesktop,
    Format::Codex,
    Format::Cursor,
    Format::VsCode,
    Format::Gemini,
    Format::Opencode,
    Format::Zed,
    Format::Windsurf,
    Format::Cline,
];
