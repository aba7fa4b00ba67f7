//! Queries: one key as bytes, an integer or a hash, or a batch of hashes.

use crate::structure::Structure;
use core::slice;
use ribbonfilter::{Key, Membership};

impl Structure {
    #[inline]
    fn has(&self, key_hash: u64) -> bool {
        match self {
            Self::Filter(filter) => filter.contains_hash(key_hash),
            Self::Shards(shards) => shards.contains_hash(key_hash),
            Self::Part(part) => part.contains_hash(key_hash),
            Self::Exact(set) => set.contains_hash(key_hash),
            Self::Function(function) => function.lookup_hash(key_hash).is_some(),
        }
    }

    /// Batches of a filter are located together, which is faster; for the others the code would be
    /// larger than it is worth.
    fn has_many(&self, key_hashes: &[u64], hits: &mut [bool]) {
        if let Self::Filter(filter) = self {
            return filter.contains_hash_batch_into(key_hashes, hits);
        }
        for (&key_hash, hit) in key_hashes.iter().zip(hits) {
            *hit = self.has(key_hash);
        }
    }
}

/// Queries a key by its canonical bytes.
///
/// # Safety
/// `structure` is a handle, and `key` has `len` bytes.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn has_bytes(
    structure: *const Structure,
    key: *const u8,
    len: usize,
) -> bool {
    // SAFETY: as the caller guarantees.
    let (structure, key) = unsafe { (&*structure, slice::from_raw_parts(key, len)) };
    structure.has(key.key_hash(structure.key_seed()))
}

/// Queries an integer of at most 2^53 in absolute value.
///
/// # Safety
/// `structure` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn has_integer(structure: *const Structure, key: f64) -> bool {
    // SAFETY: the caller passes a handle that is not freed.
    let structure = unsafe { &*structure };
    structure.has((key as i64).key_hash(structure.key_seed()))
}

/// Queries a batch of hashes: 1 for each that may be a key, else 0. A part says 1 for keys of other
/// parts, a function for keys whose fingerprint it has.
///
/// # Safety
/// `structure` is a handle, `key_hashes` and `hits` have `count` elements.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn has_hashes(
    structure: *const Structure,
    key_hashes: *const u64,
    count: usize,
    hits: *mut u8,
) {
    // SAFETY: as the caller guarantees. The hits are zeroed first, and 0 is a valid `bool`.
    let (structure, key_hashes, hits) = unsafe {
        hits.write_bytes(0, count);
        let hits = slice::from_raw_parts_mut(hits.cast::<bool>(), count);
        (&*structure, slice::from_raw_parts(key_hashes, count), hits)
    };
    structure.has_many(key_hashes, hits);
}

/// Whether the part has the keys of a batch of hashes: 1 for each that it owns, else 0.
///
/// # Safety
/// As for [`has_hashes`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn covers_hashes(
    structure: *const Structure,
    key_hashes: *const u64,
    count: usize,
    results: *mut u8,
) {
    // SAFETY: as the caller guarantees.
    let (structure, key_hashes) =
        unsafe { (&*structure, slice::from_raw_parts(key_hashes, count)) };
    for (index, &key_hash) in key_hashes.iter().enumerate() {
        let covers = match structure {
            Structure::Part(part) => part.covers(key_hash),
            _ => true,
        };
        // SAFETY: there are as many results as hashes.
        unsafe { results.add(index).write(covers.into()) };
    }
}

/// Queries a batch of hashes in a group of an exact set. Returns whether the universe has the group; if
/// not, the results are not written.
///
/// # Safety
/// As for [`has_hashes`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn has_hashes_in(
    structure: *const Structure,
    group_hash: u64,
    key_hashes: *const u64,
    count: usize,
    hits: *mut u8,
) -> bool {
    // SAFETY: as the caller guarantees.
    let (structure, key_hashes) =
        unsafe { (&*structure, slice::from_raw_parts(key_hashes, count)) };
    let Structure::Exact(set) = structure else { return false };
    for (index, &key_hash) in key_hashes.iter().enumerate() {
        let hit = match set.contains_hash_in_group(group_hash, key_hash) {
            Membership::UnknownGroup => return false,
            membership => membership.is_member(),
        };
        // SAFETY: there are as many hits as hashes.
        unsafe { hits.add(index).write(hit.into()) };
    }
    true
}

/// The values of a batch of hashes in a static function.
///
/// # Safety
/// `structure` is a handle, `key_hashes` and `values` have `count` elements.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn get_hashes(
    structure: *const Structure,
    key_hashes: *const u64,
    count: usize,
    values: *mut u64,
) {
    // SAFETY: as the caller guarantees.
    let (structure, key_hashes, values) = unsafe {
        values.write_bytes(0, count);
        let values = slice::from_raw_parts_mut(values, count);
        (&*structure, slice::from_raw_parts(key_hashes, count), values)
    };
    if let Structure::Function(function) = structure {
        for (&key_hash, value) in key_hashes.iter().zip(values) {
            *value = function.get_hash(key_hash);
        }
    }
}
