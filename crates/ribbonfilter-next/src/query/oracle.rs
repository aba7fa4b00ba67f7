//! The definition of a query, bit by bit: what every compiled query is compared with.

use super::{Layout, Second};
use crate::ribbon::bucket::{IN_BUCKET_BITS, is_bumped, thresholds};
use crate::ribbon::equation::{Mixer, eight_slots, rehash, word};
use crate::ribbon::system::System;

/// The row of a key, plus its fingerprint if it is the key of a filter.
pub(super) fn query(layout: &Layout, bytes: &[u8], key_hash: u64, filter: bool) -> u64 {
    let mixed = Mixer::new(layout.seed).mix(key_hash);
    let expected = |mixed: u64| if filter { mixed >> layout.first_column } else { 0 };
    if layout.first.starts == 0 {
        return filter.into();
    }
    if let Some(Second { system, seed, offset, codes }) = layout.second {
        let position = position(&layout.first, mixed);
        let code = code_at(&bytes[codes as usize..], position).unwrap();
        if is_bumped(position, thresholds(layout.first.width)[code]) {
            if system.starts == 0 {
                return filter.into();
            }
            let mixed = rehash(mixed, seed);
            return row(&system, &bytes[offset as usize..], mixed, expected(mixed));
        }
    }
    row(&layout.first, bytes, mixed, expected(mixed))
}

fn position(system: &System, mixed: u64) -> u64 {
    (((u128::from(mixed) * u128::from(system.starts)) << 16) >> 64) as u64
}

fn row(system: &System, bytes: &[u8], mixed: u64, expected: u64) -> u64 {
    let width = system.width.blocks() as u64;
    let start = position(system, mixed) >> 16;
    let block = start + start / 4096 * (width - 1);
    let columns = system.columns - u32::from(block < system.boundary);
    let parity = |column: u32| {
        let selected = (0..64 * width).filter(|&slot| selects(system, mixed, slot));
        let bits = selected.map(|slot| bit(system, bytes, 64 * block + slot, column));
        (bits.sum::<u64>() + (expected >> column)) % 2
    };
    (0..columns).map(|column| parity(column) << column).sum()
}

/// Whether an equation selects a slot of its window.
fn selects(system: &System, mixed: u64, slot: u64) -> bool {
    match system.rows {
        true => eight_slots(mixed).contains(&(slot as u8)),
        false => word(mixed, (slot / 64) as usize) >> (slot % 64) & 1 == 1,
    }
}

/// A column of a slot. Slots that were trimmed are 0.
fn bit(system: &System, bytes: &[u8], slot: u64, column: u32) -> u64 {
    let (block, in_block) = (slot / 64, slot % 64);
    let starts = system.starts;
    let blocks = starts + starts.div_ceil(4096) * (system.width.blocks() as u64 - 1);
    assert!(block < blocks);
    let last_bytes = u64::from(if block == blocks - 1 { system.last_bytes } else { 8 });
    if in_block >= 8 * last_bytes {
        return 0;
    }
    let columns = u64::from(system.columns);
    let at = match system.rows {
        true => columns * slot + u64::from(column),
        false => {
            let fewer = block.min(system.boundary);
            let begin = 8 * ((columns - 1) * fewer + columns * (block - fewer));
            8 * (begin + u64::from(column) * last_bytes) + in_block
        }
    };
    u64::from(bytes[(at / 8) as usize] >> (at % 8) & 1)
}

/// The code of the bucket of a position: two bits, four buckets to a byte.
fn code_at(codes: &[u8], position: u64) -> Option<usize> {
    let bucket = position >> IN_BUCKET_BITS;
    let byte = codes.get((bucket / 4) as usize)?;
    Some(usize::from(byte >> (2 * (bucket % 4)) & 3))
}
