//! Locating in a Bumped ribbon: first the layer, then the equation.
//!
//! A key's start in a layer determines a bucket, and the bucket's two-bit code selects a
//! threshold. If the key starts below the threshold, it was bumped and is looked up in the next
//! layer. A single query has one branch for the first layer, which is rarely taken. A batch
//! locates all its keys in the first layer without a branch, lists the bumped keys, and locates
//! these afterwards: one mispredicted branch per chunk instead of one per bumped key.
//!
//! A few buckets, the *exceptions*, bump all their keys although no threshold is that large. They
//! have the code [`MAX_CODE`] and are listed in ascending order after the codes. A filter that
//! has exceptions therefore treats every key of a bucket with this code as *possibly* bumped, and
//! only then searches the list ([`Bumps::is_bumped`]). Construction must bump exactly the keys
//! that this rule bumps; otherwise a query would end in the wrong layer.

use super::Locator;
use super::batch::CHUNK;
use super::single::{Find, Located, Opened, System};
use super::solution::Assumptions;
use crate::Width;
use crate::format::lookup::Lookup;
use crate::format::{Footer, directory_layer, little_endian};
use crate::kernel::cold_path;
use crate::ribbon::equation::{Seed, Segments, Starts, mix, seeded};
use crate::ribbon::layers::{Buckets, EXCEPTION, Layer, MAX_CODE};
use crate::ribbon::layout::Layout;
use crate::ribbon::search::partition_point;
use crate::ribbon::width::Band;

/// The numbers that locate keys in the layers after the first. Unused if there is one layer.
#[derive(Clone, Copy)]
pub(crate) struct Bumps {
    /// The threshold of each code. If there are exceptions, the threshold of [`MAX_CODE`] is
    /// the whole bucket, so that [`Bumps::is_bumped`] decides about all its keys.
    thresholds: [u16; 4],
    bucket_log: u32,
    /// The number of layers after the first.
    further: usize,
    /// The offsets of codes and exceptions, and the number of exceptions.
    codes: usize,
    exceptions: usize,
    exception_count: usize,
    second: System,
    width: Width,
    smash: bool,
    /// The seed of the last layer; the others have seed 0.
    last_seed: Seed,
}

/// A layer that begins at `first_slot`, as a system.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(super) fn system(
    layer: Layer,
    first_slot: u64,
    width: Width,
    smash: bool,
    seed: Seed,
) -> System {
    System {
        first_slot,
        segments: Segments::new(layer.segment_bits(), layer.segment_slots()),
        starts: Starts::new(layer.segment_slots(), width, smash),
        seed,
        seeds: None,
    }
}

impl Bumps {
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn new(footer: &Footer, layout: &Layout) -> Self {
        let shape = &footer.shape;
        let (width, smash, last_seed) = (shape.width, shape.smash, Seed::new(footer.seed));
        let buckets = Buckets::of(width);
        let further = shape.further.layers();
        let exception_count = shape.further.exceptions as usize;
        let mut thresholds = buckets.thresholds.map(|threshold| threshold as u16);
        if exception_count > 0 {
            thresholds[usize::from(MAX_CODE)] = buckets.slots() as u16;
        }
        let mut codes = layout.size_in_bytes() as usize;
        if further.is_empty() {
            // There are no codes. Any byte will do, since no slot is below these thresholds.
            (codes, thresholds) = (0, [0; 4]);
        }
        let first = Layer::new(shape.segment_bits, shape.segment_slots);
        let second_seed = if further.len() == 1 { last_seed } else { Seed::new(0) };
        let second = *further.first().unwrap_or(&first);
        Self {
            thresholds,
            bucket_log: buckets.log,
            further: further.len(),
            codes,
            exceptions: codes + shape.buckets().div_ceil(4) as usize,
            exception_count,
            second: system(second, first.slots(), width, smash, second_seed),
            width,
            smash,
            last_seed,
        }
    }

    /// The code of a slot's bucket, and whether it seems to bump a key that starts at the slot.
    /// If there are exceptions, [`is_bumped`](Self::is_bumped) must confirm it.
    ///
    /// `None` if there is no such byte. The last layer has no codes: for its slots the result is
    /// `None` or meaningless, so callers pass only slots of bumping layers, or discard it.
    #[inline(always)]
    pub(super) fn code(&self, bytes: &[u8], slot: u64, log: u32) -> Option<(u8, bool)> {
        let byte = *bytes.get(self.codes.wrapping_add((slot >> (log + 2)) as usize))?;
        let code = byte >> (2 * (slot >> log & 3)) & 3;
        let offset = slot & ((1 << log) - 1);
        Some((code, offset < u64::from(self.thresholds[usize::from(code)])))
    }

    /// Whether a key that starts at a slot of the first layer seems to be bumped; see
    /// [`code`](Self::code).
    #[inline(always)]
    pub(super) fn seems_bumped_from(&self, bytes: &[u8], slot: u64) -> bool {
        self.code(bytes, slot, self.bucket_log).is_none_or(|(_, seems_bumped)| seems_bumped)
    }

    /// [`code`](Self::code) from the numbers of a [`Lookup`]: whether the code of a slot's bucket
    /// seems to bump a key that starts at the slot. If there are exceptions, every bucket with
    /// the code [`MAX_CODE`] might be one. As for `code`, the slot must be in a bumping layer.
    #[inline(always)]
    pub(super) fn seems_bumped(lookup: &Lookup, bytes: &[u8], slot: u64) -> Option<bool> {
        let Buckets { log, thresholds } = Buckets::of(lookup.width);
        let at = lookup.solution_bytes as usize + (slot >> (log + 2)) as usize;
        let code = *bytes.get(at)? >> (2 * (slot >> log & 3)) & 3;
        let may_be_exception = lookup.exceptions > 0 && code == MAX_CODE;
        let offset = slot & ((1 << log) - 1);
        Some(may_be_exception || offset < u64::from(thresholds[usize::from(code)]))
    }

    /// Whether a key that seems to be bumped is bumped.
    #[inline(always)]
    fn is_bumped(&self, bytes: &[u8], slot: u64, code: u8) -> bool {
        if self.exception_count == 0 || code != MAX_CODE {
            return true;
        }
        let Buckets { log, thresholds: [max, ..] } = Buckets::of(self.width);
        slot & ((1 << log) - 1) < max.into() || self.is_exception(bytes, slot >> log)
    }

    /// Whether a bucket bumps all its keys: a binary search in the sorted list. Bytes outside
    /// the buffer read as zero, so an untrusted list can mislead the search but not stop it.
    fn is_exception(&self, bytes: &[u8], bucket: u64) -> bool {
        let entry = |index: u64| {
            let entry = bytes.get(self.exceptions + index as usize * EXCEPTION..);
            little_endian(entry.unwrap_or_default().get(..EXCEPTION).unwrap_or_default())
        };
        let count = self.exception_count as u64;
        let found = partition_point(count, |index| entry(index) < bucket);
        found < count && entry(found) == bucket
    }

    /// The equation of a key, in any layer. The loop ends after the last layer, which bumps no
    /// key, so `UNKNOWN` is never returned.
    #[inline(never)]
    pub(super) fn locate<'a>(
        &self,
        first: &System,
        opened: Opened<'a>,
        key_hash: u64,
    ) -> Located<'a> {
        let (mut layer, mut mixed) = (*first, mix(key_hash));
        let bytes = opened.bytes();
        for number in 0..=self.further {
            let located = layer.locate(opened, mixed);
            let last = number == self.further;
            let code = self.code(bytes, located.slot, self.bucket_log).filter(|_| !last);
            match code {
                Some((code, true)) if self.is_bumped(bytes, located.slot, code) => {}
                _ => return located,
            }
            mixed = located.hash.next_layer(layer.segments.number(mixed));
            layer = match number {
                0 => self.second,
                _ => self.layer_after(&layer, number, bytes),
            };
        }
        Located::UNKNOWN
    }

    /// The layer after layer `number`, counted from 0; `number` is at least 1. It is decoded from
    /// the directory in `bytes`, because few keys get there.
    fn layer_after(&self, layer: &System, number: usize, bytes: &[u8]) -> System {
        let next = directory_layer(bytes, self.further, number).unwrap_or_default();
        let first_slot = layer.first_slot + layer.segments.slots();
        let seed = if number + 1 == self.further { self.last_seed } else { Seed::new(0) };
        system(next, first_slot, self.width, self.smash, seed)
    }

    /// See [`Locate::locate_many`](super::Locate::locate_many).
    #[inline(always)]
    pub(super) fn locate_many<'a>(
        &self,
        first: &System,
        opened: Opened<'a>,
        key_hashes: &[u64],
        located: &mut [Located<'a>],
    ) {
        let bytes = opened.bytes();
        let chunks = key_hashes.chunks(CHUNK).zip(located.chunks_mut(CHUNK));
        for (key_hashes, located) in chunks {
            let (mut bumped, mut count) = ([0; CHUNK], 0);
            for (index, (&key_hash, located)) in key_hashes.iter().zip(&mut *located).enumerate() {
                let (slot, hash) = first.slot_and_hash(bytes, mix(key_hash));
                *located = opened.located(slot, hash);
                let code = self.code(bytes, slot, self.bucket_log);
                // Appends without a branch: the index is always written, but stays only if the
                // count grows. `count` is at most `index`, so the modulo changes nothing but spares
                // the bounds check.
                bumped[count % CHUNK] = index;
                count += usize::from(code.is_none_or(|(_, seems_bumped)| seems_bumped));
            }
            for &index in &bumped[..count.min(CHUNK)] {
                if let (Some(&key_hash), Some(located)) =
                    (key_hashes.get(index), located.get_mut(index))
                {
                    *located = self.locate(first, opened, key_hash);
                }
            }
        }
    }
}

/// Finds keys of Bumped ribbons in one of the first two layers. It declines keys of buckets that
/// may be exceptions, and keys that are bumped from the second layer too.
pub(super) struct Bumped;

impl Find for Bumped {
    #[inline(always)]
    fn find<'a, B: Band, A: Assumptions>(
        locator: &Locator,
        opened: Opened<'a>,
        key_hash: u64,
    ) -> Option<Located<'a>> {
        let (Locator { system, bumps, .. }, mixed) = (locator, locator.multipliers.mix(key_hash));
        let bytes = opened.bytes();
        let log = Buckets::of(B::WIDTH).log;
        let hash = seeded(mixed, system.seed);
        let slot = system.slot::<A>(mixed, hash)?;
        let (code, seems_bumped) = bumps.code(bytes, slot, log)?;
        if !seems_bumped {
            return Some(opened.located(slot, hash));
        }
        cold_path();
        if bumps.exception_count > 0 && code == MAX_CODE {
            return None;
        }
        let mixed = hash.next_layer(system.segments.number(mixed));
        let located = bumps.second.locate(opened, mixed);
        if bumps.further > 1 && bumps.code(bytes, located.slot, log)?.1 {
            return None;
        }
        Some(located)
    }
}
