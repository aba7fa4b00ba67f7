//! A query of bytes that are opened for one key only.
//!
//! No probe is built: the key is located and its equation evaluated with the few numbers of a
//! [`Lookup`].
#![expect(unsafe_code, reason = "kernels read through pointers")]

use super::bumped::{Bumps, system};
use super::solution::row_plain;
use crate::Width;
use crate::format::lookup::Lookup;
use crate::kernel::cold_path;
use crate::kernel::{Coefficients, GROUP, Instructions, Kernel, Work};
use crate::ribbon::equation::{Multipliers, Seed, Seeded, mix};
use crate::ribbon::layout::{Layout, first_bits};
use crate::ribbon::width::Band;
use core::marker::PhantomData;

/// Whether the key with the hash `key_hash` might be in the filter in `bytes`; `None` if that
/// takes a probe.
#[inline(always)]
pub(crate) fn contains(lookup: &Lookup, bytes: &[u8], key_hash: u64) -> Option<bool> {
    let (slot, hash) = locate(lookup, bytes, key_hash)?;
    let (words, fingerprint) = Multipliers::CONSTANTS.expand(hash);
    let row = u64::from(fingerprint) >> lookup.skipped;
    let (kernel, layout) = (Kernel::best(), &lookup.layout);
    match lookup.width {
        Width::W64 => matches::<u64>(kernel, layout, bytes, slot, words, row),
        _ => matches::<u128>(kernel, layout, bytes, slot, words, row),
    }
}

/// The first slot of a key's equation and its hash, in the first or the second layer; `None` if the key may be in a later
/// layer or its bucket may be an exception.
#[inline(always)]
fn locate(lookup: &Lookup, bytes: &[u8], key_hash: u64) -> Option<(u64, Seeded)> {
    let &Lookup { width, smash, first, second, further, .. } = lookup;
    let seed_of = |layer| Seed::new(if layer == further { lookup.seed } else { 0 });
    let mixed = mix(key_hash);
    let mut layer = system(first, 0, width, smash, seed_of(0));
    layer.seeds = lookup.has_seeds.then_some(lookup.solution_bytes as usize);
    let (slot, hash) = layer.slot_and_hash(bytes, mixed);
    if further == 0 || !Bumps::seems_bumped(lookup, bytes, slot)? {
        return Some((slot, hash));
    }
    cold_path();
    if lookup.exceptions > 0 {
        return None;
    }
    let mixed = hash.next_layer(layer.segments.number(mixed));
    let layer = system(second, first.slots(), width, smash, seed_of(1));
    let (slot, hash) = layer.slot_and_hash(bytes, mixed);
    let elsewhere = further > 1 && Bumps::seems_bumped(lookup, bytes, slot)?;
    (!elsewhere).then_some((slot, hash))
}

/// Whether an equation evaluates to `row`, in a solution of up to eight columns. Equations that
/// reach into the last, trimmed block are evaluated by plain code. `None` for a slot that does not
/// exist.
#[inline(always)]
fn matches<B: Band>(
    kernel: Kernel,
    layout: &Layout,
    bytes: &[u8],
    slot: u64,
    words: [u64; 2],
    row: u64,
) -> Option<bool> {
    let (found, columns) = match whole_parts::<B>(layout, bytes, slot) {
        Some(parts) => {
            let first = layout.of_width(B::WIDTH).block_of(slot);
            let query = Once::<B> { parts, words, slot, bytes: PhantomData };
            (u64::from(kernel.run(query)), first_bits(layout.columns_of(first) as u32))
        }
        None => {
            cold_path();
            // A copy, so that the layout itself stays in registers for all other keys.
            let layout = *layout;
            row_plain::<B>(&layout, bytes, slot, words)?
        }
    };
    Some((found ^ row) & columns == 0)
}

/// The locations of an equation's blocks if all of them are whole and eight words of each can be
/// read.
#[inline(always)]
fn whole_parts<B: Band>(layout: &Layout, bytes: &[u8], slot: u64) -> Option<[*const u8; 3]> {
    let layout = layout.of_width(B::WIDTH);
    let first = layout.block_of(slot);
    if first + B::PARTS as u64 > layout.whole_blocks() || layout.columns() as usize > GROUP {
        return None;
    }
    let mut parts = [bytes.as_ptr(); 3];
    for (block, part) in (first..).zip(&mut parts[..B::PARTS]) {
        *part = bytes.get(layout.offset(block)..)?.get(..B::BLOCK_BYTES)?.as_ptr();
    }
    Some(parts)
}

/// A single equation to evaluate.
struct Once<'a, B> {
    /// Invariant: eight words can be read for `'a` from each of the first [`Band::PARTS`] pointers
    /// on.
    parts: [*const u8; 3],
    words: [u64; 2],
    slot: u64,
    bytes: PhantomData<(&'a [u8], B)>,
}

impl<B: Band> Work for Once<'_, B> {
    type Output = u8;

    #[inline(always)]
    fn run<I: Instructions>(self, instructions: I) -> u8 {
        let coefficients = Coefficients { words: self.words, slot: self.slot };
        // SAFETY: by the invariant of `parts`, eight words can be read from each of them on for
        // `'a`.
        unsafe { instructions.parities::<B>(self.parts, coefficients, u8::MAX) }
    }
}
