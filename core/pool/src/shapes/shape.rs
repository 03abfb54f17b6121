//! The shapes by their words.

use crate::base::text::escaped;
use crate::error::{Error, ErrorCode, Result};

/// How a model API takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
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

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 6] = [
        Shape::Mcp,
        Shape::OpenAi,
        Shape::OpenAiResponses,
        Shape::Anthropic,
        Shape::Gemini,
        Shape::Any,
    ];

    /// Its word: `mcp`, `openai`, `openai_responses`, `anthropic`, `gemini`, `any`.
    pub fn as_str(self) -> &'static str {
        match self {
            Shape::Mcp => "mcp",
            Shape::OpenAi => "openai",
            Shape::OpenAiResponses => "openai_responses",
            Shape::Anthropic => "anthropic",
            Shape::Gemini => "gemini",
            Shape::Any => "any",
        }
    }

    /// The shape of that word.
    ///
    /// # Errors
    /// `invalid_argument` with the path `shape` for any other.
    pub fn from_word(word: &str) -> Result<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.as_str() == word).ok_or_else(|| {
            let known = Shape::ALL.map(Shape::as_str).join("`, `");
            let message = format!("there is no shape \"{}\"", escaped(word));
            Error::new(ErrorCode::InvalidArgument, message)
                .with_detail("path", "shape")
                .with_hint(format!("the shapes are `{known}`"))
        })
    }
}
