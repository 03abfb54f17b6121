//! Strings on their way to JavaScript and from it.

use napi::{Result, check_status, sys};
use trunkline::{Apart, CallResult};

/// A JavaScript string with this text.
///
/// Text that is plain ASCII, as nearly every JSON text is, takes the one-byte way: V8 copies it,
/// where UTF-8 would be decoded.
pub fn to_js(env: sys::napi_env, text: &str) -> Result<sys::napi_value> {
    let mut value = std::ptr::null_mut();
    let (start, length) = (text.as_ptr().cast(), text.len() as isize);
    // SAFETY: `env` is the environment whose JavaScript thread this is; `start` points to `length`
    // bytes, which outlive the call; Latin-1 and ASCII are the same for bytes below 128.
    check_status!(unsafe {
        if text.is_ascii() {
            sys::napi_create_string_latin1(env, start, length, &mut value)
        } else {
            sys::napi_create_string_utf8(env, start, length, &mut value)
        }
    })?;
    Ok(value)
}

/// The text of a result; or, as `lib/results.cjs` reads it, what is around its long strings, those,
/// and where each belongs. V8 copies such a string once then, and has no byte of it to look at.
pub fn result_to_js(env: sys::napi_env, result: &CallResult) -> Result<sys::napi_value> {
    let Some(Apart { around, strings, places }) = result.apart() else {
        return to_js(env, result.json());
    };
    let around = around.into_iter().map(|text| to_js(env, text));
    let strings = strings.iter().map(|text| to_js(env, text));
    let (around, strings) = (array(env, around), array(env, strings));
    array(env, [around, strings, to_js(env, &places)].into_iter())
}

/// A JavaScript array of these values.
fn array(
    env: sys::napi_env,
    values: impl Iterator<Item = Result<sys::napi_value>>,
) -> Result<sys::napi_value> {
    let mut array = std::ptr::null_mut();
    // SAFETY: `env` is the environment whose JavaScript thread this is.
    check_status!(unsafe { sys::napi_create_array(env, &mut array) })?;
    for (index, value) in (0..).zip(values) {
        // SAFETY: both are values of `env`, in the scope of the caller.
        check_status!(unsafe { sys::napi_set_element(env, array, index, value?) })?;
    }
    Ok(array)
}

/// JavaScript's `undefined`.
pub fn undefined(env: sys::napi_env) -> Result<sys::napi_value> {
    let mut value = std::ptr::null_mut();
    // SAFETY: `env` is the environment whose JavaScript thread this is.
    check_status!(unsafe { sys::napi_get_undefined(env, &mut value) })?;
    Ok(value)
}
