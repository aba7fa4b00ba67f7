//! A query of bytes that are opened for one key only.
//!
//! No probe is built: the key is located and its equation evaluated with the few numbers of a
//! [`Lookup`].

use super::Located;
use super::bumped::{Bumps, system};
use crate::Width;
use crate::format::lookup::Lookup;
use crate::kernel::{Kernel, matches_once};
use crate::ribbon::equation::{Multipliers, Seed, mix};
use core::hint::cold_path;

/// Whether the key with the hash `key_hash` might be in the filter in `bytes`; `None` if that
/// takes a probe.
#[inline(always)]
pub(crate) fn contains(lookup: &Lookup, bytes: &[u8], key_hash: u64) -> Option<bool> {
    let Located { slot, hash } = locate(lookup, bytes, key_hash)?;
    let (words, fingerprint) = Multipliers::CONSTANTS.expand(hash);
    let row = u64::from(fingerprint) >> lookup.skipped;
    let (kernel, layout) = (Kernel::best(), &lookup.layout);
    match lookup.width {
        Width::W64 => matches_once::<u64>(kernel, layout, bytes, slot, words, row),
        _ => matches_once::<u128>(kernel, layout, bytes, slot, words, row),
    }
}

/// The equation of a key in the first or the second layer; `None` if the key may be in a later
/// layer or its bucket may be an exception.
#[inline(always)]
fn locate(lookup: &Lookup, bytes: &[u8], key_hash: u64) -> Option<Located> {
    let &Lookup { width, smash, first, second, further, .. } = lookup;
    let seed_of = |layer| Seed::new(if layer == further { lookup.seed } else { 0 });
    let mixed = mix(key_hash);
    let mut layer = system(first, 0, width, smash, seed_of(0));
    layer.seeds = lookup.has_seeds.then_some(lookup.solution_bytes as usize);
    let located = layer.locate(bytes, mixed);
    if further == 0 || !Bumps::seems_bumped(lookup, bytes, located.slot)? {
        return Some(located);
    }
    cold_path();
    if lookup.exceptions > 0 {
        return None;
    }
    let mixed = located.hash.next_layer(layer.segments.number(mixed));
    let located = system(second, first.slots(), width, smash, seed_of(1)).locate(bytes, mixed);
    let elsewhere = further > 1 && Bumps::seems_bumped(lookup, bytes, located.slot)?;
    (!elsewhere).then_some(located)
}
