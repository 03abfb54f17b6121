//! The shapes by their words.

use crate::base::text::escaped;
use crate::error::{Error, ErrorCode, Result};

/// How a model API takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFormat {
    /// As the protocol lists them.
    Mcp,
    /// As OpenAI's Chat Completions take them, and what is compatible with them.
    OpenAi,
    /// As OpenAI's Responses take them.
    OpenAiResponses,
    /// As Anthropic's Messages take them.
    Anthropic,
    /// As Gemini's function declarations.
    Gemini,
    /// As each of these APIs takes their schemas, for who does not know which it will be; otherwise
    /// as the protocol lists them.
    Any,
}

impl ToolFormat {
    /// All of them.
    pub const ALL: [ToolFormat; 6] = [
        ToolFormat::Mcp,
        ToolFormat::OpenAi,
        ToolFormat::OpenAiResponses,
        ToolFormat::Anthropic,
        ToolFormat::Gemini,
        ToolFormat::Any,
    ];

    /// Its word: `mcp`, `openai`, `openai_responses`, `anthropic`, `gemini`, `any`.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolFormat::Mcp => "mcp",
            ToolFormat::OpenAi => "openai",
            ToolFormat::OpenAiResponses => "openai_responses",
            ToolFormat::Anthropic => "anthropic",
            ToolFormat::Gemini => "gemini",
            ToolFormat::Any => "any",
        }
    }

    /// The shape of that word.
    ///
    /// # Errors
    /// `invalid_argument` with the path `shape` for any other.
    pub fn from_word(word: &str) -> Result<ToolFormat> {
        ToolFormat::ALL.into_iter().find(|shape| shape.as_str() == word).ok_or_else(|| {
            let known = ToolFormat::ALL.map(ToolFormat::as_str).join("`, `");
            let message = format!("there is no shape \"{}\"", escaped(word));
            Error::new(ErrorCode::InvalidArgument, message)
                .with_detail("path", "shape")
                .with_hint(format!("the shapes are `{known}`"))
        })
    }
}
