//! A target becomes columns: a rate the fewest that reach it, a size the most that fit, in
//! steps of one block of one column.
//!
//! Building and shrinking choose by the same rules. That is why a filter shrunk to a target
//! has the bytes of one that was built for it, wherever slots do not depend on columns.

use crate::format::FOOTER_BYTES;
use crate::ribbon::shape::Shape;
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
        self.shape.data_bytes().saturating_add(FOOTER_BYTES as u64)
    }
}

/// So many columns, and one fewer in the blocks before a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) max: u32,
    pub(crate) boundary: u64,
}

impl Columns {
    pub(crate) fn whole(max: u32) -> Self {
        Self { max, boundary: 0 }
    }

    /// The fewest of up to `most` columns that promise a rate, or the lowest rate that any do.
    pub(crate) fn for_rate(
        rate: f64,
        max: u32,
        sketch: impl Fn(Self) -> Sketch,
    ) -> Result<Self, f64> {
        // No column does more than halve the rate.
        let fewest = (libm::floor(-libm::log2(rate)) as u32).max(1);
        let rate_of = |columns| sketch(Self::whole(columns)).rate;
        let Some(columns) = (fewest..=max).find(|&columns| rate_of(columns) <= rate) else {
            return Err((1..=max).map(rate_of).fold(1.0, f64::min));
        };
        let at = |boundary| Self { max: columns, boundary };
        // The boundary as far back as the rate allows: the rate grows about in proportion.
        let whole = sketch(at(0));
        let guess = (rate / whole.rate - 1.0) * whole.blocks() as f64;
        let is_good = |boundary| sketch(at(boundary)).rate <= rate;
        let first_bad = partition_point_near(whole.blocks(), guess as u64, is_good);
        Ok(at(first_bad.max(1) - 1))
    }

    /// One more column in `more` blocks, of `blocks` in all.
    pub(crate) fn and_blocks(self, more: u64, blocks: u64) -> Self {
        match self.boundary.checked_sub(more) {
            Some(boundary) => Self { boundary, ..self },
            None => {
                Self { max: self.max + 1, boundary: blocks.saturating_sub(more - self.boundary) }
            }
        }
    }

    /// The others if those are more.
    pub(crate) fn or_more(self, others: Self) -> Self {
        let order = |columns: Self| (columns.max, Reverse(columns.boundary));
        if order(others) > order(self) { others } else { self }
    }

    /// As many as asked for, to the nearest block.
    pub(crate) fn nearest(columns: f64, sketch: impl Fn(Self) -> Sketch) -> Self {
        let whole = libm::ceil(columns);
        let blocks = sketch(Self::whole(whole as u32)).blocks();
        let boundary = libm::round((whole - columns) * blocks as f64) as u64;
        Self { max: whole as u32, boundary: boundary.min(blocks - 1) }
    }

    /// Those of the lowest rate that fit so many bytes, or the bytes that the least need.
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
            // A column of a whole block is one word.
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

/// The same, searched from a guess on.
fn partition_point_near(len: u64, guess: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high, mut step) = (0, len, 1);
    let mut at = guess.min(len.saturating_sub(1));
    // Away from the guess in steps that double, until the border is between two of them.
    while low < high {
        if holds(at) {
            low = at + 1;
            if at + step >= high {
                break;
            }
            at += step;
        } else {
            high = at;
            match at.checked_sub(step) {
                Some(before) if before >= low => at = before,
                _ => break,
            }
        }
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
