//! Key hashes, as in Rust and Python.

use core::slice;
use ribbonfilter::Key;

/// Hashes `count` keys. Their bytes follow each other at `bytes`, and `lengths` has the length of
/// each.
///
/// # Safety
/// `bytes` has the sum of all lengths, `lengths` and `hashes` have `count` elements.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn hash_keys(
    bytes: *const u8,
    lengths: *const u32,
    count: usize,
    key_seed: u64,
    hashes: *mut u64,
) {
    // SAFETY: the caller passes arrays of this length, which do not overlap.
    let (lengths, hashes) = unsafe {
        (slice::from_raw_parts(lengths, count), slice::from_raw_parts_mut(hashes, count))
    };
    let mut bytes = bytes;
    for (&len, hash) in lengths.iter().zip(hashes) {
        // SAFETY: the lengths up to this one sum up to at most the bytes of the caller.
        let key = unsafe { slice::from_raw_parts(bytes, len as usize) };
        *hash = key.key_hash(key_seed);
        bytes = bytes.wrapping_add(len as usize);
    }
}

/// Replaces `count` integers of 64 bits by their key hashes. `is_signed` tells how to read them.
///
/// # Safety
/// `integers` has `count` elements.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn hash_integers(
    integers: *mut u64,
    count: usize,
    is_signed: bool,
    key_seed: u64,
) {
    // SAFETY: the caller passes an array of this length.
    for integer in unsafe { slice::from_raw_parts_mut(integers, count) } {
        *integer = match is_signed {
            true => integer.cast_signed().key_hash(key_seed),
            false => integer.key_hash(key_seed),
        };
    }
}
