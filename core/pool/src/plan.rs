//! The differences that a new desired state asks for.
