//! The metadata of a Bumped ribbon: codes, exceptions, and the directory of its layers.
//!
//! ```text
//! solution | codes, 2 bits per bucket | exceptions, 5 bytes each | directory | footer
//!
//! directory:  for every layer after the first  4 bytes slots of a segment,
//!                                              1 byte segments as a power of two
//!             4 bytes number of exceptions
//! ```
//!
//! The directory is read when a filter is opened; queries read the codes and the exceptions. A
//! filter with one layer has none of the three.

use super::fields::number_of;
use super::{FOOTER_BYTES, MAX_BLOCKS, ensure};
use crate::error::OpenError;
use crate::ribbon::layers::{
    Buckets, COUNT, Codes, EXCEPTION, Further, LAYER, Layer, MAX_FURTHER, directory_bytes,
};
use crate::ribbon::shape::Shape;
use crate::{Variant, Width};

/// Fills the unused entries of the list of exceptions. No bucket has this number, and it is
/// greater than any, so the list stays sorted.
const NO_BUCKET: u64 = (1 << (8 * EXCEPTION)) - 1;

/// Reads the directory of `count` layers after the first, at the end of the data.
#[inline(always)]
pub(super) fn read_directory(data: &[u8], count: usize) -> Result<Further, OpenError> {
    if count == 0 {
        return Ok(Further::default());
    }
    let size = directory_bytes(count);
    let Some(begin) = data.len().checked_sub(size) else {
        return Err(OpenError::TooShort {
            len: data.len() + FOOTER_BYTES,
            needed: size + FOOTER_BYTES,
        });
    };
    let (entries, exceptions) = data[begin..].split_at(count * LAYER);
    let mut layers = [Layer::default(); MAX_FURTHER];
    for (layer, entry) in layers.iter_mut().zip(entries.chunks_exact(LAYER)) {
        *layer = Layer::new(u32::from(entry[4]), u64::from(number_of(entry)));
    }
    Ok(Further::new(layers, count, number_of(exceptions)))
}

/// Entry `number` of the directory at the end of a filter, which was read and checked when the
/// filter was opened. `None` or any layer if the bytes have changed since.
pub(crate) fn directory_layer(bytes: &[u8], count: usize, number: usize) -> Option<Layer> {
    let begin = bytes.len().checked_sub(FOOTER_BYTES + directory_bytes(count))?;
    let entry = bytes.get(begin + number * LAYER..)?.get(..LAYER)?;
    Some(Layer::new(u32::from(entry[4]) & 31, u64::from(number_of(entry))))
}

/// Rejects layers that no builder writes.
#[inline(always)]
pub(super) fn check(shape: &Shape) -> Result<(), OpenError> {
    let further = shape.further.layers();
    if shape.variant != Variant::Bumped {
        return ensure(further.is_empty(), "number of layers");
    }
    ensure(shape.width != Width::W16 || further.is_empty(), "width")?;
    let first = Layer::new(shape.segment_bits, shape.segment_slots);
    let last = *further.last().unwrap_or(&first);
    let has_slots = last.segment_slots() > 0 || further.is_empty();
    ensure(last.segment_bits() == 0 && has_slots, "last layer")?;
    let unit = Buckets::of(shape.width).unit();
    let max = MAX_BLOCKS * u64::from(shape.width.block_slots());
    for layer in shape.layers().take(further.len()) {
        // No equation is wider than its segment, and the sum over all layers does not overflow.
        let aligned = layer.segment_slots().is_multiple_of(unit);
        let wide = layer.segment_slots() >= u64::from(shape.width.bits());
        let fits = layer.segment_bits() <= 31 && layer.slots() <= max;
        ensure(aligned && wide && fits, "size of a layer")?;
    }
    Ok(())
}

/// Writes codes, exceptions and directory after the solution.
pub(super) fn write(bytes: &mut [u8], shape: &Shape, found: &Codes) {
    if shape.further.layers().is_empty() {
        return;
    }
    let begin = shape.layout().size_in_bytes() as usize;
    let (codes, rest) = bytes[begin..].split_at_mut(shape.buckets().div_ceil(4) as usize);
    for (byte, codes) in codes.iter_mut().zip(found.codes.chunks(4)) {
        *byte = codes.iter().rev().fold(0, |byte, code| byte << 2 | code);
    }
    let capacity = shape.further.exceptions as usize;
    debug_assert!(found.exceptions.len() <= capacity);
    let (exceptions, directory) = rest.split_at_mut(capacity * EXCEPTION);
    let padded = found.exceptions.iter().copied().chain(core::iter::repeat(NO_BUCKET));
    for (field, bucket) in exceptions.chunks_exact_mut(EXCEPTION).zip(padded) {
        field.copy_from_slice(&bucket.to_le_bytes()[..EXCEPTION]);
    }
    let (entries, count) = directory.split_at_mut(shape.further.layers().len() * LAYER);
    for (entry, layer) in entries.chunks_exact_mut(LAYER).zip(shape.further.layers()) {
        entry[..4].copy_from_slice(&(layer.segment_slots() as u32).to_le_bytes());
        entry[4] = layer.segment_bits() as u8;
    }
    count[..COUNT].copy_from_slice(&shape.further.exceptions.to_le_bytes());
}
