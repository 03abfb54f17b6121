//! Strings on their way to JavaScript and from it.

use napi::{Result, check_status, sys};

/// A JavaScript string with this text.
///
/// Text that is plain ASCII, as nearly every JSON text is, takes the one-byte way: V8 copies it, where UTF-8 would be decoded.
pub fn to_js(env: sys::napi_env, text: &str) -> Result<sys::napi_value> {
    let mut value = std::ptr::null_mut();
    let (start, length) = (text.as_ptr().cast(), text.len() as isize);
    // SAFETY: `env` is the environment whose JavaScript thread this is; `start` points to `length` bytes, which outlive the
    // call; Latin-1 and ASCII are the same for bytes below 128.
    check_status!(unsafe {
        if text.is_ascii() {
            sys::napi_create_string_latin1(env, start, length, &mut value)
        } else {
            sys::napi_create_string_utf8(env, start, length, &mut value)
        }
    })?;
    Ok(value)
}

/// JavaScript's `undefined`.
pub fn undefined(env: sys::napi_env) -> Result<sys::napi_value> {
    let mut value = std::ptr::null_mut();
    // SAFETY: `env` is the environment whose JavaScript thread this is.
    check_status!(unsafe { sys::napi_get_undefined(env, &mut value) })?;
    Ok(value)
}
