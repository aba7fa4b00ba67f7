//! Orders keys by segment.
//!
//! Segments are the top bits of the mixed hashes, so keys are ordered in place: they are split by
//! the first bit, each half by the second, and so on. That takes no memory, and at most eight
//! passes for up to 10^8 keys. The keys of a function must stay in insertion order; they are
//! counted and scattered to a copy instead. (To order a copy of them in place took 12 to 25 % longer
//! for a build of 10^6 keys.)

use super::parallel::for_each;
use super::{Group, Item, Value};
use crate::error::{BuildError, OutOfMemory};
use crate::progress::{Phase, Reporter};
use crate::ribbon::width::COMPACT;
use crate::storage::memory::{try_filled, try_reserve};
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The mixed hashes of the keys of some segments, contiguous per segment.
pub(crate) struct Partitioned<'a, V: Value> {
    items: Cow<'a, [Item<u64, V>]>,
    /// The beginning of each segment, and the end of the last.
    borders: Cow<'a, [usize]>,
    /// The first of the segments.
    first: u64,
}

impl<'a, V: Value> Partitioned<'a, V> {
    /// Orders keys by segment. Borrowed keys stay unchanged; owned keys are ordered in place.
    pub(crate) fn new(
        items: impl Into<Cow<'a, [Item<u64, V>]>>,
        group: Group,
        threads: usize,
        progress: &mut Reporter<'_>,
    ) -> Result<Self, BuildError> {
        let (items, first) = (items.into(), group.first());
        if group.len() == 1 {
            let borders = Vec::from([0, items.len()]).into();
            return Ok(Self { items, borders, first });
        }
        progress.report(Phase::Partitioning, 0, 1)?;
        let threads = worthwhile(threads, items.len(), group.len());
        let (items, borders) = match items {
            Cow::Owned(mut items) => {
                let borders = order_in_place(&mut items, group, threads)?;
                (items, borders)
            }
            // Slower, but no code of its own.
            Cow::Borrowed(items) if COMPACT => {
                let mut ordered = Vec::new();
                try_reserve(&mut ordered, items.len())?;
                ordered.extend_from_slice(items);
                let borders = order_in_place(&mut ordered, group, threads)?;
                (ordered, borders)
            }
            Cow::Borrowed(items) => {
                let mut ordered = try_filled(Item::default(), items.len())?;
                let borders = order_in_copy(items, &mut ordered, group, threads)?;
                (ordered, borders)
            }
        };
        progress.report(Phase::Partitioning, 1, 1)?;
        Ok(Self::ordered(items, borders, first))
    }

    /// Wraps keys that are already in order. `borders` holds the beginning of each segment and the
    /// end of the last.
    pub(crate) fn ordered(items: Vec<Item<u64, V>>, borders: Vec<usize>, first: u64) -> Self {
        Self { items: items.into(), borders: borders.into(), first }
    }

    /// A borrowed view of the same keys.
    pub(crate) fn view(&self) -> Partitioned<'_, V> {
        Partitioned {
            items: Cow::Borrowed(&self.items),
            borders: Cow::Borrowed(&self.borders),
            first: self.first,
        }
    }

    /// The keys of a segment.
    pub(crate) fn segment(&self, segment: u64) -> &[Item<u64, V>] {
        let place = (segment - self.first) as usize;
        &self.items[self.borders[place]..self.borders[place + 1]]
    }

    /// All keys, in segment order.
    pub(crate) fn into_items(self) -> Cow<'a, [Item<u64, V>]> {
        self.items
    }
}

/// Orders keys by segment, in place. Returns the beginning of each segment and the end of the last.
pub(super) fn order_in_place<V: Value>(
    items: &mut [Item<u64, V>],
    group: Group,
    threads: usize,
) -> Result<Vec<usize>, OutOfMemory> {
    let bits = group.len().ilog2();
    let mut borders = Vec::new();
    try_reserve(&mut borders, group.len() + 1)?;
    borders.push(0);
    // Split in halves until there is a piece for every thread.
    let shared = threads.next_power_of_two().ilog2().min(bits);
    let mut pieces = Vec::from([items]);
    for level in 0..shared {
        pieces = pieces.into_iter().flat_map(|piece| halve(piece, group.bit(level))).collect();
    }
    let mut threads = vec![(); pieces.len()];
    let sizes = for_each(
        &mut threads,
        pieces.into_iter(),
        |_| Ok(()),
        |(), piece| {
            let mut sizes = Vec::new();
            try_reserve(&mut sizes, group.len() >> shared)?;
            order_by_bits(piece, group, shared..bits, &mut sizes);
            Ok(sizes)
        },
    )?;
    let mut end = 0;
    for sizes in sizes {
        borders.extend(sizes.into_iter().map(|size| {
            end += size;
            end
        }));
    }
    Ok(borders)
}

/// Orders keys by a range of bits, and appends to `sizes` the number of keys for each value of
/// these bits.
fn order_by_bits<V>(
    items: &mut [Item<u64, V>],
    group: Group,
    mut bits: Range<u32>,
    sizes: &mut Vec<usize>,
) {
    let Some(level) = bits.next() else {
        sizes.push(items.len());
        return;
    };
    let [low, high] = halve(items, group.bit(level));
    order_by_bits(low, group, bits.clone(), sizes);
    order_by_bits(high, group, bits, sizes);
}

/// Moves the keys whose bit is 0 to the front. Returns both halves.
///
/// The bit of a key cannot be predicted, so the loop has no branch. Each key is swapped with the
/// first key whose bit is 1. The position of that key advances only if the key that was swapped in
/// has bit 0.
fn halve<V>(items: &mut [Item<u64, V>], bit: u32) -> [&mut [Item<u64, V>]; 2] {
    let mut low = 0;
    for at in 0..items.len() {
        items.swap(at, low);
        low += usize::from(items[low].hash >> bit & 1 == 0);
    }
    items.split_at_mut(low).into()
}

/// Writes keys to `ordered`, which has the same length, in the order of their segments. Each thread
/// counts a chunk of the keys, then scatters it. Returns the beginning of each segment and the end of
/// the last.
fn order_in_copy<V: Value>(
    items: &[Item<u64, V>],
    ordered: &mut [Item<u64, V>],
    group: Group,
    threads: usize,
) -> Result<Vec<usize>, OutOfMemory> {
    let chunks = items.chunks(items.len().div_ceil(threads).max(1));
    let mut threads = vec![(); chunks.len().max(1)];
    let count_chunk = |(): &mut (), chunk| count(chunk, group);
    let counts = for_each(&mut threads, chunks.clone(), |_| Ok(()), count_chunk)?;
    let work = chunks.zip(pieces(&counts, ordered)?);
    for_each(
        &mut threads,
        work,
        |_| Ok(()),
        |(), (chunk, pieces)| {
            scatter(chunk, group, pieces);
            Ok::<_, OutOfMemory>(())
        },
    )?;
    borders(&counts, group.len())
}

/// The number of threads such that each has at least one key per segment: the per-segment state of
/// a thread takes more memory than a key.
fn worthwhile(threads: usize, keys: usize, segments: usize) -> usize {
    threads.min(keys / segments).max(1)
}

/// Counts how many keys of a chunk belong to each segment.
fn count<V>(chunk: &[Item<u64, V>], group: Group) -> Result<Vec<usize>, OutOfMemory> {
    let mut counts = try_filled(0, group.len())?;
    for item in chunk {
        counts[group.position(item.hash)] += 1;
    }
    Ok(counts)
}

/// The beginning of each segment, and the end of the last.
fn borders(counts: &[Vec<usize>], segments: usize) -> Result<Vec<usize>, OutOfMemory> {
    let mut borders = try_filled(0, segments + 1)?;
    for segment in 0..segments {
        let size: usize = counts.iter().map(|counts| counts[segment]).sum();
        borders[segment + 1] = borders[segment] + size;
    }
    Ok(borders)
}

/// Splits the output into one piece per segment and chunk, grouped by chunk.
fn pieces<'a, T>(
    counts: &[Vec<usize>],
    ordered: &'a mut [T],
) -> Result<Vec<Vec<&'a mut [T]>>, OutOfMemory> {
    let segments = counts.first().map_or(0, Vec::len);
    let mut pieces: Vec<Vec<&mut [T]>> = counts.iter().map(|_| Vec::new()).collect();
    for pieces in &mut pieces {
        try_reserve(pieces, segments)?;
    }
    let mut rest = ordered;
    for segment in 0..segments {
        for (chunk, counts) in counts.iter().enumerate() {
            let (piece, following) = rest.split_at_mut(counts[segment]);
            pieces[chunk].push(piece);
            rest = following;
        }
    }
    Ok(pieces)
}

/// Writes each key of a chunk into the piece of its segment.
fn scatter<V: Copy>(chunk: &[Item<u64, V>], group: Group, mut pieces: Vec<&mut [Item<u64, V>]>) {
    for &item in chunk {
        let piece = &mut pieces[group.position(item.hash)];
        if let Some((first, rest)) = core::mem::take(piece).split_first_mut() {
            *first = item;
            *piece = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ribbon::equation::segment;
    use crate::testing::Random;

    /// For any number of threads, segments and keys, every key is in its segment and none is lost.
    #[test]
    fn keys_are_in_their_segments() {
        let mut random = Random(3);
        for keys in [0, 1, 100, 5000] {
            let items: Vec<Item<u64, ()>> =
                (0..keys).map(|_| Item::default().map(|_: u64| random.next())).collect();
            for bits in [0, 1, 5, 16] {
                let group = Group::all(bits);
                for threads in [1, 2, 16] {
                    let progress = &mut Reporter::default();
                    let ordered = Partitioned::new(&items[..], group, threads, progress)
                        .expect("there is memory");
                    let segments = 0..group.len() as u64;
                    let place = |segment| ordered.segment(segment).iter().map(move |_| segment);
                    let places: Vec<_> = segments.flat_map(place).collect();
                    let found = ordered.into_items();
                    let expected = found.iter().map(|item| segment(item.hash, bits));
                    assert!(expected.eq(places), "{keys} keys, {bits} bits, {threads} threads");
                    let mut hashes = [&items[..], &found]
                        .map(|items| items.iter().map(|item| item.hash).collect::<Vec<_>>());
                    hashes.iter_mut().for_each(|hashes| hashes.sort_unstable());
                    assert_eq!(hashes[0], hashes[1]);
                }
            }
        }
    }

    /// Sixteen threads with 2^24 counts and pieces each would take 6 GB, even for few keys.
    #[test]
    fn threads_take_no_more_memory_than_keys() {
        for (threads, keys, segments, expected) in
            [(16, 1000, 1 << 24, 1), (16, 3 << 24, 1 << 24, 3), (16, 1 << 20, 64, 16), (4, 0, 2, 1)]
        {
            assert_eq!(worthwhile(threads, keys, segments), expected);
        }
    }
}
