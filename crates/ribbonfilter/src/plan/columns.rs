//! A target becomes columns: a rate the fewest that reach it, a size the most that fit, in
//! steps of one block of one column.
//!
//! Building and shrinking choose by the same rules. That is why a filter shrunk to a target
//! has the bytes of one that was built for it, wherever slots do not depend on columns.

use crate::format::FIXED;
use crate::shape::Shape;
use core::cmp::Reverse;

/// What a number of columns would give.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sketch {
    pub(crate) shape: Shape,
    pub(crate) rate: f64,
}

impl Sketch {
    fn blocks(&self) -> u64 {
        self.shape.layout().blocks()
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.shape.data_bytes().saturating_add(FIXED as u64)
    }
}

/// So many columns, and one fewer in the blocks before a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) most: u32,
    pub(crate) boundary: u64,
}

impl Columns {
    pub(crate) fn whole(most: u32) -> Self {
        Self { most, boundary: 0 }
    }

    /// The fewest of up to `most` columns that promise a rate, or the lowest rate that any do.
    pub(crate) fn for_rate(
        rate: f64,
        most: u32,
        sketch: impl Fn(Self) -> Sketch,
    ) -> Result<Self, f64> {
        let rates = (1..=most).map(|columns| (columns, sketch(Self::whole(columns)).rate));
        let Some((columns, _)) = rates.clone().find(|&(_, reached)| reached <= rate) else {
            return Err(rates.map(|(_, reached)| reached).fold(1.0, f64::min));
        };
        let at = |boundary| Self { most: columns, boundary };
        // The boundary as far back as the rate allows.
        let blocks = sketch(at(0)).blocks();
        let first_bad = partition_point(blocks, |boundary| sketch(at(boundary)).rate <= rate);
        Ok(at(first_bad - 1))
    }

    /// One more column in `more` blocks, of `blocks` in all.
    pub(crate) fn and_blocks(self, more: u64, blocks: u64) -> Self {
        match self.boundary.checked_sub(more) {
            Some(boundary) => Self { boundary, ..self },
            None => {
                Self { most: self.most + 1, boundary: blocks.saturating_sub(more - self.boundary) }
            }
        }
    }

    /// The others if those are more.
    pub(crate) fn or_more(self, others: Self) -> Self {
        let order = |columns: Self| (columns.most, Reverse(columns.boundary));
        if order(others) > order(self) { others } else { self }
    }

    /// As many as asked for, to the nearest block.
    pub(crate) fn nearest(columns: f64, sketch: impl Fn(Self) -> Sketch) -> Self {
        let whole = libm::ceil(columns);
        let blocks = sketch(Self::whole(whole as u32)).blocks();
        let boundary = libm::round((whole - columns) * blocks as f64) as u64;
        Self { most: whole as u32, boundary: boundary.min(blocks - 1) }
    }

    /// Those of the lowest rate that fit so many bytes, or the bytes that the least need.
    pub(crate) fn for_bytes(
        bytes: u64,
        least: Self,
        most: u32,
        sketch: impl Fn(Self) -> Sketch,
    ) -> Result<Self, u64> {
        let needed = sketch(least).size_in_bytes();
        if needed > bytes {
            return Err(needed);
        }
        let fitting = (1..=most).filter_map(|columns| {
            let at = |boundary| Self { most: columns, boundary };
            let blocks = sketch(at(0)).blocks();
            let too_large = |boundary| sketch(at(boundary)).size_in_bytes() > bytes;
            let boundary = partition_point(blocks, too_large);
            (boundary < blocks).then(|| at(boundary))
        });
        let better =
            |best, other| if sketch(other).rate < sketch(best).rate { other } else { best };
        Ok(fitting.reduce(better).expect("the least fit"))
    }
}

/// How many of `0..len` come before the first for which `holds` does not hold; it must
/// hold for none behind that.
pub(super) fn partition_point(len: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
