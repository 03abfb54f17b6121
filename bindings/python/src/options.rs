//! The options of a call, as Python gives them.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use trunkline::{CallOptions, Progress};

use crate::delivery;
use crate::failure::OrRaise;

/// JSON text; or the text, and the number under which the call's progress is to be delivered.
#[derive(FromPyObject)]
pub enum CallText {
    /// Nobody is told of progress.
    Plain(PyBackedStr),
    /// Somebody is.
    Told(PyBackedStr, u64),
}

impl CallText {
    /// The options. `to` is where the call's end goes.
    pub fn parse(&self, to: &Bound<'_, PyAny>) -> PyResult<CallOptions> {
        let (CallText::Plain(text) | CallText::Told(text, _)) = self;
        let mut options = CallOptions::from_json(text).or_raise(to.py())?;
        if let CallText::Told(_, token) = self {
            options.progress = Progress::To(delivery::progress(to, *token)?);
        }
        // What comes of progress is for other threads.
        options.reads_here = matches!(options.progress, Progress::Off) && delivery::reads_here(to);
        Ok(options)
    }
}
