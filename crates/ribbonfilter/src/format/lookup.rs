//! The footer of a filter of a usual shape, for a single query.
//!
//! Storage engines open a filter block for each lookup. [`Footer`](super::Footer) describes every
//! structure of the format and reports what is wrong with invalid bytes, but filling it takes
//! longer than the query. [`read`] decodes only the shapes that engines use, into a few numbers.
//! It returns `None` for all other shapes and for every error; the caller then reads the
//! [`Footer`](super::Footer), which supports the shape or reports the error.
//!
//! Invariant: [`read`] accepts nothing that the footer rejects, so that untrusted input cannot
//! bypass a check. Each condition below is therefore at least as strict as its counterpart in
//! `Footer::check` and `layers::check`. A test compares the two over mutated footers.

use super::fields::number_of;
use super::{
    FINGERPRINT_BITS, FOOTER_BYTES, MAX_BLOCKS, SEGMENT_SEEDS, at, decode_rate, features,
    footer_check, get, is_recognised,
};
use crate::ribbon::layers::{Buckets, COUNT, EXCEPTION, LAYER, Layer, directory_bytes};
use crate::ribbon::layout::Layout;
use crate::{Variant, Width};

/// The numbers that a query of one key needs.
#[derive(Clone, Copy)]
pub(crate) struct Lookup {
    pub(crate) width: Width,
    pub(crate) smash: bool,
    /// The only layer, or the first.
    pub(crate) first: Layer,
    /// The number of layers after the first, and the second layer; `first` again if there is
    /// only one layer.
    pub(crate) further: usize,
    pub(crate) second: Layer,
    pub(crate) exceptions: u32,
    pub(crate) layout: Layout,
    pub(crate) solution_bytes: u64,
    /// The seed of the last layer, unless every segment has a seed of its own.
    pub(crate) seed: u8,
    pub(crate) has_seeds: bool,
    /// Low bits of a fingerprint that are not stored.
    pub(crate) skipped: u32,
}

/// Reads the footer of a Standard, Homogeneous or Bumped filter with w = 64 or 128, one to eight
/// columns, and at least `w` slots in every segment. `None` for any other bytes.
#[inline(always)]
pub(crate) fn read(bytes: &[u8]) -> Option<Lookup> {
    let (data, raw) = bytes.split_last_chunk::<FOOTER_BYTES>()?;
    let what = raw[at::WHAT];
    let width = match what >> 4 & 3 {
        2 => Width::W64,
        3 => Width::W128,
        _ => return None,
    };
    let variant = what >> 2 & 3;
    let columns = get(raw, at::COLUMNS) as u32;
    let (first_column, columns) = (columns >> 7 & 0x3f, columns & 0x7f);
    let usual = is_recognised(raw)
        && get(raw, at::FOOTER_CHECK) == footer_check(raw)
        && what & 3 == 0
        && variant != Variant::Balanced as u8
        && what >> 7 == 0
        && features(raw) & !SEGMENT_SEEDS == 0
        && (1..=8).contains(&columns)
        && first_column + columns <= FINGERPRINT_BITS
        && get(raw, at::KEYS) > 0;
    let rate = get(raw, at::RATE) as u32;
    if !usual || rate != 0 && decode_rate(rate) > 1.0 {
        return None;
    }
    let segment_bits = u32::from(raw[at::SEGMENTS] & 31);
    let first = Layer::new(segment_bits, get(raw, at::SEGMENT_SLOTS));
    let further = usize::from(raw[at::SEGMENTS] >> 5);
    let is_bumped = variant == Variant::Bumped as u8;
    let layers = match (further, is_bumped) {
        (0, _) => one_layer(first, width, variant)?,
        (_, true) => all_layers(data, first, further, width)?,
        (_, false) => return None,
    };
    if layers.has_seeds != (features(raw) == SEGMENT_SEEDS) {
        return None;
    }
    let boundary = get(raw, at::BOUNDARY);
    let blocks = layers.slots.div_ceil(64);
    if blocks > MAX_BLOCKS || boundary > 0 && boundary >= blocks {
        return None;
    }
    // Nothing overflows: there are at most 2^46 slots of eight columns. Nothing is negative:
    // `boundary < blocks`, so the boundary's slots are fewer than all slots.
    let solution_bytes = (layers.slots * u64::from(columns) - 64 * boundary).div_ceil(8);
    if solution_bytes + layers.metadata != data.len() as u64 {
        return None;
    }
    Some(Lookup {
        width,
        smash: what >> 6 & 1 == 1,
        first,
        further,
        second: layers.second,
        exceptions: layers.exceptions,
        layout: Layout::new(width, layers.slots, columns, boundary),
        solution_bytes,
        seed: raw[at::SEED],
        has_seeds: layers.has_seeds,
        skipped: if variant == Variant::Homogeneous as u8 {
            FINGERPRINT_BITS
        } else {
            first_column
        },
    })
}

/// The sizes of all layers together.
struct Layers {
    slots: u64,
    second: Layer,
    exceptions: u32,
    /// Whether every segment has a seed of its own.
    has_seeds: bool,
    /// Bytes of the metadata: seeds, or codes, exceptions and directory.
    metadata: u64,
}

/// Checks a filter with one layer.
#[inline(always)]
fn one_layer(layer: Layer, width: Width, variant: u8) -> Option<Layers> {
    let one_segment = layer.segment_bits() == 0;
    let aligned = one_segment || layer.segment_slots().is_multiple_of(64);
    let wide = layer.segment_slots() >= u64::from(width.bits());
    // The last layer of a Bumped filter, here the only one, has one segment.
    let alone = one_segment || variant != Variant::Bumped as u8;
    let has_seeds = !one_segment && variant == Variant::Standard as u8;
    (aligned && wide && alone).then_some(Layers {
        slots: layer.slots(),
        second: layer,
        exceptions: 0,
        has_seeds,
        metadata: if has_seeds { 1 << layer.segment_bits() } else { 0 },
    })
}

/// Reads the directory of a Bumped filter at the end of `data` and checks all its layers. The
/// loop checks each layer before it decodes the next one; the check of the last layer follows.
#[inline(always)]
fn all_layers(data: &[u8], first: Layer, further: usize, width: Width) -> Option<Layers> {
    let directory = &data[data.len().checked_sub(directory_bytes(further))?..];
    let (entries, count) = directory.split_at_checked(further * LAYER)?;
    let buckets = Buckets::of(width);
    let (mut bumping, mut layer) = (0u64, first);
    let mut second = first;
    for (number, entry) in entries.chunks_exact(LAYER).enumerate() {
        // Every layer but the last bumps. Its segments consist of whole buckets; a unit of
        // buckets has at least `w` slots, so no equation is wider than its segment.
        let slots = layer.segment_slots();
        if !slots.is_multiple_of(buckets.unit()) || slots == 0 || layer.segment_bits() > 31 {
            return None;
        }
        // A layer has less than 2^63 slots, and the sum is checked. `read` rejects more than 2^46.
        bumping = bumping.checked_add(layer.slots())?;
        layer = Layer::new(u32::from(entry[4]), u64::from(number_of(entry)));
        if number == 0 {
            second = layer;
        }
    }
    if layer.segment_bits() != 0 || layer.segment_slots() < u64::from(width.bits()) {
        return None;
    }
    let exceptions = number_of(count.get(..COUNT)?);
    let codes = (bumping >> buckets.log).div_ceil(4);
    let metadata = codes + u64::from(exceptions) * EXCEPTION as u64 + directory.len() as u64;
    let slots = bumping.checked_add(layer.slots())?;
    Some(Layers { slots, second, exceptions, has_seeds: false, metadata })
}
