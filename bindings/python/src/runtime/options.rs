//! Arguments as Python gives them: the options of a call, and what has no form here.

use std::ops::Deref;

use pyo3::exceptions::{PyOverflowError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use trunkline::{CallOptions, Error, ErrorCode, Progress};

use crate::runtime::delivery;
use crate::runtime::failure::{OrRaise, exception};

/// JSON text; or the text, and the number under which the call's progress is to be delivered.
#[derive(FromPyObject)]
pub enum CallText {
    /// Nobody hears of progress.
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

/// A text, for functions that Python calls directly.
pub struct Text(PyBackedStr);

impl Text {
    /// Reads it. Half a surrogate pair, which has no form in UTF-8, is a wrong argument, by its
    /// path.
    pub fn read(given: &Bound<'_, PyAny>, path: &str) -> PyResult<Text> {
        given.extract().map(Text).map_err(|error: PyErr| {
            if !error.is_instance_of::<PyUnicodeEncodeError>(given.py()) {
                return error;
            }
            let message =
                format!("{path}: a text that cannot be written as UTF-8: surrogates not allowed");
            let error = Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path);
            exception(given.py(), &error)
        })
    }

    /// The parameter `server`.
    pub fn server(given: &Bound<'_, PyAny>) -> PyResult<Text> {
        Text::read(given, "server")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The index of an entry. A number that is none is one that no entry has, since none gets as far as
/// the last.
pub struct EntryIndex(pub u32);

impl<'py> FromPyObject<'_, 'py> for EntryIndex {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(EntryIndex).or_else(|error: PyErr| {
            let is_none = error.is_instance_of::<PyOverflowError>(given.py());
            if is_none { Ok(EntryIndex(u32::MAX)) } else { Err(error) }
        })
    }
}
