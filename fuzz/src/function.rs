//! Functions of any pairs, compared with a hash map: every key has its value, or the build reports
//! a contradiction.

use crate::{Hashes, all, random, variant, width};
use ribbonfilter::{BuildError, Function};
use std::collections::HashMap;

/// Variant, width, bits of values and of fingerprints; the keys; whether the values are derived
/// from the keys, so that there is no contradiction.
pub type Input = (u8, u8, u8, u8, Vec<Hashes>, bool);

/// Runs the target.
pub fn run(input: Input) {
    let (kind, narrow, value_bits, fingerprint_bits, runs, follow) = input;
    let value =
        |index: usize, hash: u64| random(hash >> 40 ^ u64::from(!follow) * index as u64, hash);
    let cut = |value: u64| value >> (64 - u32::from(value_bits).clamp(1, 64));
    let pairs: Vec<(u64, u64)> = all(&runs)
        .into_iter()
        .enumerate()
        .map(|(index, hash)| (hash, cut(value(index, hash))))
        .collect();
    let build = |threads| {
        let mut builder = Function::builder()
            .variant(variant(kind))
            .width(width(narrow))
            .value_bits(value_bits.into())
            .fingerprint_bits(fingerprint_bits.into())
            .threads(threads);
        builder.extend_hashes(pairs.iter().copied());
        builder.finish()
    };
    let mut values = HashMap::new();
    let contradicts =
        pairs.iter().any(|&(hash, value)| *values.entry(hash).or_insert(value) != value);
    match (build(1), build(2)) {
        (Ok(function), Ok(other)) => {
            assert!(!contradicts && function.as_bytes() == other.as_bytes());
            for (&hash, &value) in &values {
                assert_eq!(function.lookup_hash(hash), Some(value));
                assert_eq!(function.get_hash(hash), value);
            }
            function.verify().expect("just built");
        }
        (Err(one), Err(other)) => {
            assert_eq!(one.to_string(), other.to_string());
            assert!(contradicts || !matches!(one, BuildError::Contradiction { .. }));
        }
        (one, other) => panic!("{one:?}, but {other:?}"),
    }
}
