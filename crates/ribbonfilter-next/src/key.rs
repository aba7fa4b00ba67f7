//! A key becomes a 64-bit *key hash*, fixed for ever.
//!
//! Filters are files, and files outlive programs, so the same key must have the
//! same hash in every version, language and machine. A key is first written as
//! bytes in one canonical way, and those bytes are hashed with XXH3-64 under the
//! filter's *key seed* (0 unless [`FilterBuilder::key_seed`] says otherwise):
//!
//! | key | canonical bytes |
//! |---|---|
//! | bytes, strings, byte arrays | themselves |
//! | an integer from 0 to 2^64 - 1, of any type | 8 bytes, little-endian |
//! | a negative integer, or one from 2^64 to 2^127 - 1 | 16 bytes, little-endian, two's complement |
//! | an integer of 2^127 or more | the same 16 bytes and a zero byte, since 16 bytes alone would be those of a negative number |
//!
//! So an integer hashes by its value, not by its type: `7u8`, `7i32` and `7u128`
//! are one key. An integer and a byte string with the same canonical bytes are one
//! key too: do not mix the two kinds in one set.
//!
//! # Different keys with the same hash
//! The filter stores hashes of 64 bits, so two keys with the same hash are one key to it. The hash of
//! an absent key is that of one of `n` keys with probability `n / 2^64`: 5 * 10^-14 for a million
//! keys, 5 * 10^-11 for a billion. That probability adds to the false-positive rate of every filter,
//! and `expected_rate()` includes it. No number of columns gets below it: with 2^32 keys it is 2^-32,
//! the rate of 32 columns.
//!
//! Among `n` keys, two have the same hash with probability of about `n^2 / 2^65`: 3 * 10^-8 for a
//! million keys, 3 % for a billion. A filter is not affected; a [`Function`](crate::Function) cannot
//! be built if they have different values, unless you choose another key seed.
//!
//! # Other hash functions
//! If your program has hashes of 64 bits already, pass them to [`FilterBuilder::push_hash`] and
//! [`Filter::contains_hash`](crate::Filter::contains_hash). They need not be good hashes, but
//! different keys must have different ones. So you can use any `Hash` and `BuildHasher`:
//!
//! ```
//! use ribbonfilter_next::Filter;
//! use std::hash::{BuildHasher, RandomState};
//!
//! let points = [(3, 4), (5, 12), (8, 15)];
//! let hasher = RandomState::new();
//! let mut builder = Filter::builder();
//! for point in &points {
//!     builder.push_hash(hasher.hash_one(point));
//! }
//! let filter = builder.finish()?;
//! assert!(points.iter().all(|point| filter.contains_hash(hasher.hash_one(point))));
//! # Ok::<(), ribbonfilter_next::BuildError>(())
//! ```
//!
//! Such a filter is of use only as long as the hashes stay the same; those of `RandomState` change
//! with every instance. This is why [`Key`] is not based on `std::hash::Hash`: what `Hash` passes to
//! a hasher may change with the version of a type or of the standard library, and depends on the
//! platform. Integers are passed in native byte order, `usize` in the platform's size, and a string
//! is followed by a byte that is not part of it. A filter on disk would miss its own keys after an
//! update, or on another machine.
//!
//! # Test vectors
//! ```
//! use ribbonfilter_next::Key;
//!
//! assert_eq!("".key_hash(0), 0x2d06_8005_38d3_94c2);
//! assert_eq!("ada".key_hash(0), 0x691d_4463_952c_802f);
//! assert_eq!(b"ada".key_hash(0), "ada".key_hash(0));
//! assert_eq!("ada".key_hash(1), 0x0175_6189_9ef5_6d24);
//! assert_eq!(0u64.key_hash(0), 0xc77b_3abb_6f87_acd9);
//! assert_eq!(1u8.key_hash(0), 0x2fbc_5935_64db_792e);
//! assert_eq!(u64::MAX.key_hash(0), 0x5111_c7e4_7d78_4413);
//! assert_eq!((-1i32).key_hash(0), 0x722a_202f_07a4_b313);
//! assert_eq!((1u128 << 64).key_hash(0), 0x0cfb_aea7_4a8c_c0e5);
//! assert_eq!(u128::MAX.key_hash(0), 0x65ff_44e9_7afd_1d83);
//! ```
//!
//! [`FilterBuilder::key_seed`]: crate::FilterBuilder::key_seed
//! [`FilterBuilder::push_hash`]: crate::FilterBuilder::push_hash

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Something that can be put into a filter and queried.
///
/// Implemented for bytes, strings, byte arrays, integers and references to them.
/// See the [module](self) for the canonical bytes of each. A type of your own can
/// join by hashing its canonical bytes:
///
/// ```
/// use ribbonfilter_next::{Filter, Key};
///
/// struct Serial { issuer: [u8; 4], number: u64 }
///
/// impl Key for Serial {
///     fn key_hash(&self, key_seed: u64) -> u64 {
///         let mut bytes = [0; 12];
///         bytes[..4].copy_from_slice(&self.issuer);
///         bytes[4..].copy_from_slice(&self.number.to_le_bytes());
///         bytes.key_hash(key_seed)
///     }
/// }
///
/// let revoked = Filter::build([Serial { issuer: *b"ACME", number: 7 }], 0.001)?;
/// assert!(revoked.contains(Serial { issuer: *b"ACME", number: 7 }));
/// # Ok::<(), ribbonfilter_next::BuildError>(())
/// ```
pub trait Key {
    /// The 64-bit hash of this key under `key_seed`, the same for ever.
    ///
    /// ```
    /// use ribbonfilter_next::Key;
    ///
    /// assert_eq!(7u8.key_hash(0), 7i64.key_hash(0));
    /// assert_ne!(7u8.key_hash(0), 7u8.key_hash(1));
    /// ```
    fn key_hash(&self, key_seed: u64) -> u64;
}

impl Key for [u8] {
    #[cfg_attr(not(target_arch = "wasm32"), inline)]
    fn key_hash(&self, key_seed: u64) -> u64 {
        xxh3_64_with_seed(self, key_seed)
    }
}

/// Implements [`Key`] for types whose hash is that of another form of the same key.
macro_rules! hashed_as {
    ($([$($generics:tt)*] $type:ty, |$key:ident| $form:expr;)*) => {$(
        impl<$($generics)*> Key for $type {
            #[inline]
            fn key_hash(&self, key_seed: u64) -> u64 {
                let $key = self;
                ($form).key_hash(key_seed)
            }
        }
    )*};
}

hashed_as! {
    [const N: usize] [u8; N], |key| key.as_slice();
    [] Vec<u8>, |key| key.as_slice();
    [] str, |key| key.as_bytes();
    [] String, |key| key.as_bytes();
    [K: Key + ?Sized] &K, |key| **key;
    [K: Key + ?Sized] &mut K, |key| **key;
    [K: Key + ?Sized] Box<K>, |key| **key;
    [K: Key + ?Sized] Rc<K>, |key| **key;
    [K: Key + ?Sized] Arc<K>, |key| **key;
    [K: Key + ToOwned + ?Sized] Cow<'_, K>, |key| **key;
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Key for $int {
            #[inline]
            fn key_hash(&self, key_seed: u64) -> u64 {
                match u64::try_from(*self) {
                    Ok(small) => small.to_le_bytes().key_hash(key_seed),
                    Err(_) => large_integer(i128::try_from(*self).ok(), *self as u128, key_seed),
                }
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// An integer outside 0..2^64: as an `i128` if it is one, else followed by a zero byte.
fn large_integer(signed: Option<i128>, bits: u128, key_seed: u64) -> u64 {
    if let Some(value) = signed {
        return value.to_le_bytes().key_hash(key_seed);
    }
    let mut bytes = [0; 17];
    bytes[..16].copy_from_slice(&bits.to_le_bytes());
    bytes.key_hash(key_seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn integers_hash_by_value_whatever_their_type() {
        let hash = 100u64.key_hash(3);
        assert_eq!(100u64.to_le_bytes().key_hash(3), hash);
        for other in [
            100u8.key_hash(3),
            100u16.key_hash(3),
            100u32.key_hash(3),
            100u128.key_hash(3),
            100usize.key_hash(3),
            100i8.key_hash(3),
            100i16.key_hash(3),
            100i32.key_hash(3),
            100i64.key_hash(3),
            100i128.key_hash(3),
            100isize.key_hash(3),
        ] {
            assert_eq!(other, hash);
        }
    }

    #[test]
    fn integers_beyond_64_bits_have_an_encoding_of_their_own() {
        let minus_one = [0xff; 16].key_hash(0);
        assert_eq!((-1i8).key_hash(0), minus_one);
        assert_eq!((-1i64).key_hash(0), minus_one);
        assert_eq!((-1isize).key_hash(0), minus_one);
        assert_eq!((-1i128).key_hash(0), minus_one);
        assert_eq!((1u128 << 64).key_hash(0), (1i128 << 64).key_hash(0));
        assert_ne!(u128::MAX.key_hash(0), minus_one);
        let mut bytes = [0xff; 17];
        bytes[16] = 0;
        assert_eq!(u128::MAX.key_hash(0), bytes.key_hash(0));
    }

    #[test]
    fn every_form_of_the_same_bytes_is_one_key() {
        let hash = b"ribbon".key_hash(9);
        let text = "ribbon".to_string();
        assert_eq!("ribbon".key_hash(9), hash);
        assert_eq!(text.key_hash(9), hash);
        assert_eq!((&&text).key_hash(9), hash);
        assert_eq!(text.clone().into_bytes().key_hash(9), hash);
        assert_eq!(Box::<str>::from("ribbon").key_hash(9), hash);
        assert_eq!(Rc::<str>::from("ribbon").key_hash(9), hash);
        assert_eq!(Arc::<str>::from("ribbon").key_hash(9), hash);
        assert_eq!(Cow::Borrowed("ribbon").key_hash(9), hash);
        assert_eq!(Cow::<str>::Owned(format!("rib{}", "bon")).key_hash(9), hash);
    }
}
