//! Turns a target into columns: a rate into the minimum number of columns that reach it, a size
//! into the maximum number that fit, in steps of one block of one column.
//!
//! Building and shrinking use the same rules. Therefore a filter shrunk to a target has the same
//! bytes as one that was built for it, wherever slots do not depend on columns.

use crate::format::FOOTER_BYTES;
use crate::ribbon::search::partition_point;
use crate::ribbon::shape::Shape;
use core::cmp::Reverse;

/// The shape and rate that a number of columns would result in.
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
        self.shape.data_bytes().saturating_add(FOOTER_BYTES as u64)
    }
}

/// A number of columns: `max`, and one fewer in the blocks before `boundary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) max: u32,
    pub(crate) boundary: u64,
}

impl Columns {
    pub(crate) fn whole(max: u32) -> Self {
        Self { max, boundary: 0 }
    }

    /// The minimum number of columns, up to `max`, that guarantee a rate. If there is none, the
    /// lowest rate that can be reached.
    pub(crate) fn for_rate(
        rate: f64,
        max: u32,
        sketch: impl Fn(Self) -> Sketch,
    ) -> Result<Self, f64> {
        // A column at best halves the rate.
        let fewest = (libm::floor(-libm::log2(rate)) as u32).max(1);
        let rate_of = |columns| sketch(Self::whole(columns)).rate;
        let Some(columns) = (fewest..=max).find(|&columns| rate_of(columns) <= rate) else {
            return Err((1..=max).map(rate_of).fold(1.0, f64::min));
        };
        let at = |boundary| Self { max: columns, boundary };
        // Move the boundary as far towards the end as the rate allows. The rate grows roughly in
        // proportion.
        let whole = sketch(at(0));
        let guess = (rate / whole.rate - 1.0) * whole.blocks() as f64;
        let is_good = |boundary| sketch(at(boundary)).rate <= rate;
        let first_bad = partition_point_near(whole.blocks(), guess as u64, is_good);
        Ok(at(first_bad.max(1) - 1))
    }

    /// One more column in `more` blocks, out of `blocks` in total.
    pub(crate) fn and_blocks(self, more: u64, blocks: u64) -> Self {
        match self.boundary.checked_sub(more) {
            Some(boundary) => Self { boundary, ..self },
            None => {
                Self { max: self.max + 1, boundary: blocks.saturating_sub(more - self.boundary) }
            }
        }
    }

    /// The larger of both.
    pub(crate) fn or_more(self, others: Self) -> Self {
        let order = |columns: Self| (columns.max, Reverse(columns.boundary));
        if order(others) > order(self) { others } else { self }
    }

    /// The requested number of columns, to the nearest block.
    pub(crate) fn nearest(columns: f64, sketch: impl Fn(Self) -> Sketch) -> Self {
        let whole = libm::ceil(columns);
        let blocks = sketch(Self::whole(whole as u32)).blocks();
        let boundary = libm::round((whole - columns) * blocks as f64) as u64;
        Self { max: whole as u32, boundary: boundary.min(blocks - 1) }
    }

    /// The columns with the lowest rate that fit `bytes` bytes. If not even `min` fits, the number
    /// of bytes that it needs.
    pub(crate) fn for_bytes(
        bytes: u64,
        min: Self,
        max: u32,
        sketch: impl Fn(Self) -> Sketch,
    ) -> Result<Self, u64> {
        let needed = sketch(min).size_in_bytes();
        if needed > bytes {
            return Err(needed);
        }
        let mut best = None;
        for columns in (1..=max).rev() {
            // Fewer columns cannot reach a lower rate than this.
            if best.is_some_and(|(_, rate): (Self, f64)| rate <= libm::exp2(-f64::from(columns))) {
                break;
            }
            let whole = sketch(Self::whole(columns));
            // In a whole block, a column is one word.
            let over = whole.size_in_bytes().saturating_sub(bytes);
            let boundary = over.div_ceil(whole.shape.layout().word_bytes() as u64);
            if boundary >= whole.blocks() {
                continue;
            }
            let fitting = Self { max: columns, boundary };
            let rate = sketch(fitting).rate;
            if best.is_none_or(|(_, lowest)| rate <= lowest) {
                best = Some((fitting, rate));
            }
        }
        Ok(best.map_or(min, |(best, _)| best))
    }
}

/// Like [`partition_point`], but starts at a guess and doubles its steps away from it.
fn partition_point_near(len: u64, guess: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut step) = (guess.min(len), 1);
    let mut high = low;
    while low > 0 && !holds(low - 1) {
        high = low - 1;
        low = high.saturating_sub(step);
        step *= 2;
    }
    while high < len && holds(high) {
        low = high + 1;
        high = len.min(low.saturating_add(step));
        step *= 2;
    }
    low + partition_point(high - low, |more| holds(low + more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_is_found_from_any_guess() {
        for len in [0u64, 1, 2, 3, 10, 100] {
            for border in 0..=len {
                for guess in [0, 1, border.saturating_sub(1), border, border + 1, len, u64::MAX] {
                    let found = partition_point_near(len, guess, |at| at < border);
                    assert_eq!(found, border, "{border} of {len} from {guess}");
                }
            }
        }
    }
}
