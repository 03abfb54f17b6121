//! What belongs at one place.

/// What belongs at one place.
#[derive(Debug)]
pub enum ValueKind {
    /// Anything: it passes as it is.
    Any,
    /// A text, which may be written as a number.
    Text,
    /// A text, and nothing else.
    Words,
    /// A text that is compared or sent as it is, and nothing else: with half a surrogate pair it
    /// does not fit.
    Exact,
    /// The same, which may be written as a number.
    Credential,
    /// A finite number.
    Number,
    /// `true` or `false`.
    Bool,
    /// The same, and nothing else: trust hangs on it, so that no text is read as a yes.
    Hint,
    /// An object whose members are not looked at.
    Object,
    /// An object with these members. Others pass, unless they are `null`.
    Map(&'static [(&'static str, &'static ValueKind)]),
    /// The same, where `false` says that it is not there, and anything that is no object that it
    /// is.
    Flag(&'static [(&'static str, &'static ValueKind)]),
    /// An object with a value of this kind under each name.
    ByName(&'static ValueKind),
    /// An array of these.
    List(&'static ValueKind),
    /// An array of these texts, or one text of them with white space between.
    Spaced(&'static ValueKind),
    /// A JSON Schema.
    Schema,
}
