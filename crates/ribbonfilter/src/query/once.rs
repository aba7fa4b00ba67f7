//! A query of bytes that are opened for it alone.
//!
//! No probe is made: the key is located from the few numbers of a
//! [`Lookup`](crate::format::lookup::Lookup), and its equation is evaluated as those of a batch.

use super::bumped::{Bumps, system};
use super::dispatch::evaluation;
use super::{Located, Membership, QueryKind, Target};
use crate::equation::{Multipliers, Seed, mix};
use crate::format::lookup::Lookup;
use crate::kernel::{Kernel, Solution};
use core::hint::cold_path;

/// Whether the key with this hash might be in the filter of these bytes; nothing where only a
/// probe can say.
#[inline(always)]
pub(crate) fn contains(lookup: &Lookup, bytes: &[u8], key_hash: u64) -> Option<bool> {
    let located = locate(lookup, bytes, key_hash)?;
    let solution = Solution::new(lookup.layout, lookup.width, bytes.len());
    let target = Target { solution, skipped: lookup.skipped, multipliers: Multipliers::FIXED };
    let mut row = [0];
    evaluation(lookup.width, Kernel::best()).call(&target, bytes, &[located], &mut row);
    Some(Membership::conclude(&target, located, row[0]))
}

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
