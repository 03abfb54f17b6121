//! States that a client carries for us and brings back: sealed, bound to what they belong to, and
//! with an end (SPEC 19.5).
//!
//! A state is readable by its client, and nobody but an endpoint with the same key can make one.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::facts::SealingKey;

/// The longest state that is looked at, in bytes: as much as a body may have.
const STATE_BYTES_MAX: usize = 4 << 20;

/// What a state is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CarriedState {
    /// The state of a modern server; one without a state is not one with an empty state.
    OfServer(Option<String>),
    /// The handle of a parked call.
    Parked(String),
    /// The request is to be made anew.
    Anew,
}

/// Why a state is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealFault {
    /// Nobody with the key made it, or for something else.
    Forged,
    /// Its time is over.
    Expired,
}

/// Seals a state until then.
pub(super) fn seal(
    key: &SealingKey,
    state: &CarriedState,
    until_unix_seconds: u64,
    binding: &[u8; 32],
) -> String {
    let (word, text) = match state {
        CarriedState::OfServer(Some(state)) => ('s', state.as_str()),
        CarriedState::OfServer(None) => ('n', ""),
        CarriedState::Parked(handle) => ('p', handle.as_str()),
        CarriedState::Anew => ('a', ""),
    };
    let body = format!("{until_unix_seconds}{word}{text}");
    let mac = mac(key, &[binding, body.as_bytes()]);
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    format!("{}.{}", encode(&mac), encode(body.as_bytes()))
}

/// Opens a state that was sealed for the same.
pub(super) fn unseal(
    key: &SealingKey,
    sealed: &str,
    now_unix_seconds: u64,
    binding: &[u8; 32],
) -> Result<CarriedState, SealFault> {
    let open = || {
        let (mac_text, body) = sealed.split_once('.').filter(|_| sealed.len() < STATE_BYTES_MAX)?;
        let decode = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).ok();
        let (had, body) = (decode(mac_text)?, decode(body)?);
        is_same(&had, &mac(key, &[binding, &body])).then_some(())?;
        let body = String::from_utf8(body).ok()?;
        let digits = body.find(|character: char| !character.is_ascii_digit())?;
        let until = body[..digits].parse::<u64>().ok()?;
        let text = body[digits + 1..].to_owned();
        let state = match body.as_bytes()[digits] {
            b's' => CarriedState::OfServer(Some(text)),
            b'n' => CarriedState::OfServer(None),
            b'p' => CarriedState::Parked(text),
            b'a' => CarriedState::Anew,
            _ => return None,
        };
        Some((until, state))
    };
    let (until, state) = open().ok_or(SealFault::Forged)?;
    if now_unix_seconds <= until { Ok(state) } else { Err(SealFault::Expired) }
}

/// A handle that nobody can guess: the next of a row that a random nonce begins.
pub(super) fn handle(nonce: &[u8; 32], number: u64) -> String {
    let mac = mac(&SealingKey(*nonce), &[b"handle", &number.to_be_bytes()]);
    BASE64_URL_SAFE_NO_PAD.encode(mac)
}

/// One digest over several texts, in which none can pass for part of another.
pub(super) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// HMAC-SHA256 (RFC 2104) over these parts together. The first has a fixed length.
fn mac(key: &SealingKey, parts: &[&[u8]]) -> [u8; 32] {
    const BLOCK: usize = 64;
    let padded = |pad: u8| {
        let mut block = [pad; BLOCK];
        block.iter_mut().zip(key.0).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let mut inner = Sha256::new();
    inner.update(padded(0x36));
    parts.iter().for_each(|part| inner.update(part));
    let mut outer = Sha256::new();
    outer.update(padded(0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// Compares in a time that says nothing of where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: SealingKey = SealingKey([7; 32]);

    /// RFC 4231, test case 1, with its key padded as HMAC pads it.
    #[test]
    fn the_seal_is_hmac_sha256() {
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let hex: String =
            mac(&SealingKey(key), &[b"Hi ", b"There"]).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }

    #[test]
    fn a_state_comes_back_as_it_was() {
        for state in [
            CarriedState::OfServer(None),
            CarriedState::OfServer(Some(String::new())),
            CarriedState::OfServer(Some("a.b\u{e9}".to_owned())),
            CarriedState::Parked(handle(&[1; 32], 4)),
            CarriedState::Anew,
        ] {
            let sealed = seal(&KEY, &state, 100, &[1; 32]);
            assert_eq!(unseal(&KEY, &sealed, 100, &[1; 32]), Ok(state.clone()));
            assert_eq!(unseal(&KEY, &sealed, 101, &[1; 32]), Err(SealFault::Expired));
            assert_eq!(unseal(&KEY, &sealed, 1, &[2; 32]), Err(SealFault::Forged));
            let other = SealingKey([8; 32]);
            assert_eq!(unseal(&other, &sealed, 1, &[1; 32]), Err(SealFault::Forged));
        }
    }

    /// SPEC 19.5: no byte of a state can be changed.
    #[test]
    fn a_state_that_was_touched_is_refused() {
        let sealed = seal(&KEY, &CarriedState::OfServer(Some("s".to_owned())), 9, &[1; 32]);
        for at in 0..sealed.len() {
            let mut touched = sealed.clone().into_bytes();
            touched[at] = if touched[at] == b'A' { b'B' } else { b'A' };
            let touched = String::from_utf8(touched).unwrap();
            assert_eq!(unseal(&KEY, &touched, 1, &[1; 32]), Err(SealFault::Forged), "{at}");
        }
        for odd in ["", ".", "a", "a.b", &sealed[..sealed.len() - 1], "\u{e9}.\u{e9}"] {
            assert_eq!(unseal(&KEY, odd, 1, &[1; 32]), Err(SealFault::Forged), "{odd}");
        }
    }

    #[test]
    fn handles_differ_and_have_256_bits() {
        let all: std::collections::BTreeSet<_> = (0..99).map(|n| handle(&[3; 32], n)).collect();
        assert_eq!(all.len(), 99);
        assert!(all.iter().all(|handle| handle.len() == 43));
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}
