//! An exact set over bytes that it owns or that the caller owns.

use crate::bytes::{self, Bytes};
use crate::handle::{self, Opaque};
use crate::status::{Failure, guarded, membership, ribbon_status};
use core::ffi::c_int;
use ribbonfilter::{ExactSet, Key, Membership};

/// An exact set: no false positives for keys of the universe that it was built from. The result
/// for any other key is arbitrary. Free it with `ribbon_exact_free`.
pub struct ribbon_exact {
    _opaque: (),
}

impl Opaque for ribbon_exact {
    type Value = ExactSet<Bytes>;
    const TAG: u64 = 0x7374_6361_7865_6272;
    const NAME: &'static str = "exact set";
}

fn open(bytes: Bytes) -> Result<ExactSet<Bytes>, Failure> {
    ExactSet::open(bytes).map_err(Failure::of(ribbon_status::NOT_A_FILTER))
}

/// Converts a built set to the type that handles hold.
pub(crate) fn owned(set: ExactSet) -> Result<ExactSet<Bytes>, Failure> {
    open(Bytes::Owned(set.into_inner()))
}

/// The properties of an exact set.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ribbon_exact_properties {
    /// The number of members.
    pub members: u64,
    /// The number of keys for which the set is exact, members included.
    pub universe: u64,
    /// The number of groups that have keys; 1 if no key has a group.
    pub groups: u64,
    /// The size of the set in bytes, footer included.
    pub bytes: u64,
    /// The minimum number of bits of any exact set with these numbers of keys.
    pub lower_bound_bits: f64,
    /// The fraction of keys outside the universe, without a group, that are reported as members.
    pub expected_rate: f64,
    /// The seed under which keys and groups are hashed.
    pub key_seed: u64,
}

/// Opens an exact set over a buffer of the caller, without copying it. The buffer may have any
/// alignment. It must not be changed or freed before the set is freed. This checks only the
/// footers; `ribbon_exact_verify` checks every byte.
///
/// # Safety
/// `bytes` points to `len` bytes that outlive the set; `out` is null or points to a writable
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_open(
    bytes: *const u8,
    len: usize,
    out: *mut *mut ribbon_exact,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (bytes, out) =
            unsafe { (handle::array(bytes, len, "buffer")?, handle::output(out, "result")?) };
        out.set(handle::new(open(Bytes::Borrowed(bytes))?));
        Ok(())
    })
}

/// Checks every byte against the checksum.
///
/// # Safety
/// `set` is an exact set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_verify(set: *const ribbon_exact) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let set = unsafe { handle::shared(set)? };
        set.verify().map_err(Failure::of(ribbon_status::NOT_A_FILTER))
    })
}

/// Returns 1 if a key without a group is a member, 0 if it is not, or a negative status. The result
/// is arbitrary for keys outside the universe. If all keys have groups, it is 0.
///
/// # Safety
/// `set` is an exact set; `key` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_contains(
    set: *const ribbon_exact,
    key: *const u8,
    len: usize,
) -> c_int {
    membership(|| {
        // SAFETY: guaranteed by the caller.
        let (set, key) = unsafe { (handle::shared(set)?, handle::array(key, len, "key")?) };
        Ok(set.contains(key))
    })
}

/// Like `ribbon_exact_contains`, for the hash of a key.
///
/// # Safety
/// `set` is an exact set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_contains_hash(set: *const ribbon_exact, hash: u64) -> c_int {
    // SAFETY: guaranteed by the caller.
    membership(|| Ok(unsafe { handle::shared(set)? }.contains_hash(hash)))
}

/// Looks up a batch of hashes, which is faster than one query per hash. Writes true or false to
/// `out` for each hash.
///
/// # Safety
/// `set` is an exact set; `hashes` points to `count` hashes, `out` to `count` writable bools.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_contains_hashes(
    set: *const ribbon_exact,
    hashes: *const u64,
    count: usize,
    out: *mut bool,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (set, hashes, out) = unsafe {
            (
                handle::shared(set)?,
                handle::array(hashes, count, "hashes")?,
                handle::bools(out, count, "result")?,
            )
        };
        set.contains_hash_batch_into(hashes, out);
        Ok(())
    })
}

/// Returns 1 if a key of a group is a member, 0 if it is not, or a negative status:
/// `RIBBON_STATUS_UNKNOWN_GROUP` if the universe has no key of this group. The result is arbitrary
/// for keys outside the universe.
///
/// # Safety
/// `set` is an exact set; `group` points to `group_len` bytes, `key` to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_contains_in(
    set: *const ribbon_exact,
    group: *const u8,
    group_len: usize,
    key: *const u8,
    len: usize,
) -> c_int {
    membership(|| {
        // SAFETY: guaranteed by the caller.
        let (set, group, key) = unsafe {
            (
                handle::shared(set)?,
                handle::array(group, group_len, "group")?,
                handle::array(key, len, "key")?,
            )
        };
        known(set.contains_in(group, key))
    })
}

/// Like `ribbon_exact_contains_in`, for the hashes of a group and a key. The hash 0 stands for keys
/// that have no group.
///
/// # Safety
/// `set` is an exact set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_contains_hash_in(
    set: *const ribbon_exact,
    group_hash: u64,
    hash: u64,
) -> c_int {
    membership(|| {
        // SAFETY: guaranteed by the caller.
        let set = unsafe { handle::shared(set)? };
        known(set.contains_hash_in_group(group_hash, hash))
    })
}

/// Like `ribbon_exact_contains_hashes`, for keys of one group. Returns
/// `RIBBON_STATUS_UNKNOWN_GROUP` if the universe has no key of this group.
///
/// # Safety
/// `set` is an exact set; `hashes` points to `count` hashes, `out` to `count` writable bools.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_contains_hashes_in(
    set: *const ribbon_exact,
    group_hash: u64,
    hashes: *const u64,
    count: usize,
    out: *mut bool,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (set, hashes) =
            unsafe { (handle::shared(set)?, handle::array(hashes, count, "hashes")?) };
        let keys: Vec<_> = hashes.iter().copied().map(Hashed).collect();
        let hits = set.contains_batch_in(Hashed(group_hash), &keys).ok_or_else(unknown_group)?;
        // SAFETY: guaranteed by the caller.
        unsafe { handle::bools(out, count, "result")? }.copy_from_slice(&hits);
        Ok(())
    })
}

/// A key or a group that is hashed already.
struct Hashed(u64);

impl Key for Hashed {
    fn key_hash(&self, _key_seed: u64) -> u64 {
        self.0
    }
}

fn known(membership: Membership) -> Result<bool, Failure> {
    match membership {
        Membership::Member => Ok(true),
        Membership::NotMember => Ok(false),
        Membership::UnknownGroup => Err(unknown_group()),
    }
}

fn unknown_group() -> Failure {
    Failure::new(ribbon_status::UNKNOWN_GROUP, "the universe has no key of this group")
}

/// Returns the bytes of an exact set, to be stored and opened again with `ribbon_exact_open`. They
/// are valid until the set is freed.
///
/// # Safety
/// `set` is an exact set; `bytes` and `len` are null or point to writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_bytes(
    set: *const ribbon_exact,
    bytes: *mut *const u8,
    len: *mut usize,
) -> ribbon_status {
    // SAFETY: guaranteed by the caller.
    guarded(|| unsafe { bytes::export(handle::shared(set)?.as_bytes(), bytes, len) })
}

/// Returns the properties of an exact set, such as the number of its members.
///
/// # Safety
/// `set` is an exact set; `out` is null or points to a writable `ribbon_exact_properties`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_info(
    set: *const ribbon_exact,
    out: *mut ribbon_exact_properties,
) -> ribbon_status {
    guarded(|| {
        // SAFETY: guaranteed by the caller.
        let (set, out) = unsafe { (handle::shared(set)?, handle::output(out, "result")?) };
        out.set(ribbon_exact_properties {
            members: set.len(),
            universe: set.universe_len(),
            groups: set.groups(),
            bytes: set.size_in_bytes() as u64,
            lower_bound_bits: set.lower_bound_bits(),
            expected_rate: set.expected_rate(),
            key_seed: set.key_seed(),
        });
        Ok(())
    })
}

/// Frees an exact set, but not the buffer that it was opened over. Null is allowed.
///
/// # Safety
/// `set` is null or an exact set that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ribbon_exact_free(set: *mut ribbon_exact) {
    // SAFETY: guaranteed by the caller.
    unsafe { handle::free(set) }
}
