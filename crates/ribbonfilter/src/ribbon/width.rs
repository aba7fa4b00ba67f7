//! The ribbon widths 16, 32, 64 and 128, as a value and as a trait.
//!
//! The *width* `w` is the number of consecutive slots that one equation can touch: its
//! coefficients are a word of `w` bits. [`Width`] is the run-time choice in the API; [`Band`] is
//! the same choice as a type, so that all code below the dispatch is written once. Bit `k` of a
//! word always stands for the slot `start + k`.

use core::fmt;
use core::ops::{BitAnd, BitXor};

/// The ribbon width `w`: the number of consecutive slots that one key's equation can use.
///
/// A wider ribbon packs more tightly and takes longer to build and to query.
///
/// ```
/// use ribbonfilter::{Filter, Variant, Width};
///
/// let filter = Filter::builder()
///     .variant(Variant::Homogeneous)
///     .width(Width::W32)
///     .plan_for(1_000_000)?;
/// assert_eq!(filter.width(), Width::W32);
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 16 slots.
    W16,
    /// 32 slots.
    W32,
    /// 64 slots.
    W64,
    /// 128 slots.
    W128,
}

impl Width {
    /// Every width, narrowest first.
    ///
    /// ```
    /// use ribbonfilter::Width;
    ///
    /// assert_eq!(Width::ALL.map(Width::bits), [16, 32, 64, 128]);
    /// ```
    pub const ALL: [Self; 4] = [Self::W16, Self::W32, Self::W64, Self::W128];

    /// The width as a number of slots.
    ///
    /// ```
    /// assert_eq!(ribbonfilter::Width::W64.bits(), 64);
    /// ```
    pub const fn bits(self) -> u32 {
        16 << self as u32
    }

    /// Slots in one block of the interleaved layout: a word as wide as the ribbon, but at most
    /// 64 bits wide.
    pub(crate) const fn block_slots(self) -> u32 {
        if self.bits() < 64 { self.bits() } else { 64 }
    }

    /// The number of blocks that an equation can reach into, after the block where it starts.
    pub(crate) const fn following_blocks(self) -> u32 {
        (self.bits() - 1).div_ceil(self.block_slots())
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bits().fmt(f)
    }
}

/// The coefficients of an equation: `w` bits, one per slot.
pub(crate) trait Band:
    Copy + Eq + fmt::Debug + Send + Sync + BitXor<Output = Self> + BitAnd<Output = Self> + 'static
{
    /// The width as a value.
    const WIDTH: Width;
    /// No coefficient: an empty row.
    const ZERO: Self;
    /// The maximum number of blocks that `w` consecutive slots touch.
    const PARTS: usize;
    /// Bytes of one word of a block, which holds the bits of one column.
    const WORD_BYTES: usize = Self::WIDTH.block_slots() as usize / 8;
    /// Bytes of eight words.
    const BLOCK_BYTES: usize = 8 * Self::WORD_BYTES;

    /// The first `w` of 128 bits.
    fn from_words(low: u64, high: u64) -> Self;
    /// The bits in two words, padded with zeros.
    fn to_words(self) -> [u64; 2];
    /// The first `count` bits set, all of them if `count >= w`.
    fn first_bits(count: u64) -> Self;
    /// The number of zeros that precede the first set bit.
    fn leading_gap(self) -> u32;
    /// Drops the first `count` bits: the equation relative to a start `count` slots later.
    /// `ZERO` stays `ZERO` for every count.
    fn advance(self, count: u32) -> Self;
    /// Inserts `bit` in front of all others: the equation relative to the preceding slot.
    fn prepend(self, bit: bool) -> Self;
    /// The coefficients of an equation that starts at `start`, each at the bit with its slot's
    /// number modulo `w`.
    fn cyclic(self, start: u32) -> Self;
    /// Eight bits, from bit `8 * number` on.
    fn byte(self, number: usize) -> u8;
    /// Whether an odd number of bits is set.
    fn parity(self) -> bool;
    /// The first bits, as many as a block has slots.
    fn first_block(self) -> u64;
    /// The coefficients relative to the start, from words aligned to blocks; the first is 1.
    fn from_aligned(words: [u64; 2], start: u64) -> Self;
    /// The same coefficients, one word for each of the [`PARTS`](Self::PARTS) blocks, for an
    /// equation that starts at position `shift` of the first. Only the first `PARTS` entries are
    /// used.
    fn over_blocks(words: [u64; 2], shift: u32) -> [u64; 3];
}

macro_rules! bands {
    ($($word:ty, $width:expr, $parts:expr, |$words:ident, $shift:ident| $over:expr;)*) => {$(
        impl Band for $word {
            const WIDTH: Width = $width;
            const ZERO: Self = 0;
            const PARTS: usize = $parts;

            #[inline(always)]
            fn from_words(low: u64, high: u64) -> Self {
                (u128::from(high) << 64 | u128::from(low)) as Self
            }

            #[inline(always)]
            fn to_words(self) -> [u64; 2] {
                let bits = u128::from(self);
                [bits as u64, (bits >> 64) as u64]
            }

            #[inline(always)]
            fn first_bits(count: u64) -> Self {
                if count < u64::from(Self::BITS) { (1 << count) - 1 } else { Self::MAX }
            }

            #[inline(always)]
            fn leading_gap(self) -> u32 {
                self.trailing_zeros()
            }

            #[inline(always)]
            fn advance(self, count: u32) -> Self {
                self.wrapping_shr(count)
            }

            #[inline(always)]
            fn prepend(self, bit: bool) -> Self {
                self << 1 | Self::from(bit)
            }

            #[inline(always)]
            fn cyclic(self, start: u32) -> Self {
                self.rotate_left(start % Self::BITS)
            }

            #[inline(always)]
            fn byte(self, number: usize) -> u8 {
                // Shifting one word is faster than shifting two.
                let [low, high] = self.to_words();
                let word = if number < 8 { low } else { high };
                (word >> (number % 8 * 8)) as u8
            }

            #[inline(always)]
            fn parity(self) -> bool {
                self.count_ones() & 1 == 1
            }

            #[inline(always)]
            fn first_block(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn from_aligned(words: [u64; 2], start: u64) -> Self {
                let shift = start as u32 % Self::WIDTH.block_slots();
                Self::from_words(words[0], words[1]).rotate_right(shift) | 1
            }

            #[inline(always)]
            fn over_blocks($words: [u64; 2], $shift: u32) -> [u64; 3] {
                $over
            }
        }
    )*};
}

/// The bits of a word from `shift` on, with bit `shift` set, and the bits below `shift`.
#[inline(always)]
fn split(word: u64, shift: u32) -> [u64; 2] {
    let first = 1 << shift;
    let before = word & (first - 1);
    [(word ^ before) | first, before]
}

bands! {
    u16, Width::W16, 2, |words, shift| {
        let [near, far] = split(words[0] & 0xffff, shift);
        [near, far, 0]
    };
    u32, Width::W32, 2, |words, shift| {
        let [near, far] = split(words[0] & 0xffff_ffff, shift);
        [near, far, 0]
    };
    u64, Width::W64, 2, |words, shift| {
        let [near, far] = split(words[0], shift);
        [near, far, 0]
    };
    u128, Width::W128, 3, |words, shift| {
        let [near, far] = split(words[0], shift);
        [near, words[1], far]
    };
}

/// Little code instead of fast code: WebAssembly is downloaded before it runs.
pub(crate) const COMPACT: bool = cfg!(target_arch = "wasm32");

/// Whether the rows of a linear system may be wider than the equations, which then have zeros at their
/// ends. Compact code has rows of 128 bits only: the solution is the same, but code for the other
/// widths would be twice as much as all others of a build. (Also in tests, so that these compare both.)
pub(crate) const WIDE_ROWS: bool = COMPACT || cfg!(test);

/// As [`Band::from_aligned`], for a ribbon of `bits` slots, at most 64 and fewer than `B` has: the other
/// coefficients are zero.
#[inline(always)]
pub(crate) fn narrow<B: Band>(words: [u64; 2], start: u64, bits: u32) -> B {
    let all = u64::MAX >> (64 - bits);
    let (word, shift) = (words[0] & all, start as u32 % bits);
    let rotated = word >> shift | word << ((bits - shift) % 64);
    B::from_words(rotated & all | 1, 0)
}

/// As [`with_band`], for the rows of a linear system; see [`WIDE_ROWS`].
#[cfg(any(test, feature = "build"))]
macro_rules! with_rows {
    ($width:expr, $band:ident => $body:expr) => {
        match $crate::ribbon::width::COMPACT {
            true => {
                type $band = u128;
                $body
            }
            false => $crate::ribbon::width::with_band!($width, $band => $body),
        }
    };
}
#[cfg(any(test, feature = "build"))]
pub(crate) use with_rows;

/// Evaluates generic code with the [`Band`] type of a run-time [`Width`].
macro_rules! with_band {
    ($width:expr, $band:ident => $body:expr) => {
        match $width {
            $crate::Width::W16 => {
                type $band = u16;
                $body
            }
            $crate::Width::W32 => {
                type $band = u32;
                $body
            }
            $crate::Width::W64 => {
                type $band = u64;
                $body
            }
            $crate::Width::W128 => {
                type $band = u128;
                $body
            }
        }
    };
}
pub(crate) use with_band;

#[cfg(test)]
mod tests {
    use super::*;

    fn check<B: Band>() {
        let width = B::WIDTH.bits();
        let block = B::WIDTH.block_slots();
        let words = [0x9e37_79b9_7f4a_7c15, 0xf39c_c060_5ced_c835];
        for shift in 0..block {
            let bits = B::from_aligned(words, 640 + u64::from(shift));
            let parts = B::over_blocks(words, shift);
            for slot in 0..width {
                let expected = bits.advance(slot).first_block() & 1;
                let bit = slot + shift;
                assert_eq!(parts[(bit / block) as usize] >> (bit % block) & 1, expected);
            }
            let total: u32 = parts[..B::PARTS].iter().map(|part| part.count_ones()).sum();
            assert_eq!(total & 1 == 1, bits.parity());
        }
    }

    #[test]
    fn coefficients_over_blocks_keep_every_bit() {
        check::<u16>();
        check::<u32>();
        check::<u64>();
        check::<u128>();
    }

    #[test]
    fn first_bits_saturate_at_the_width() {
        assert_eq!(u16::first_bits(0), 0);
        assert_eq!(u16::first_bits(15), 0x7fff);
        assert_eq!(u16::first_bits(16), 0xffff);
        assert_eq!(u16::first_bits(1 << 40), 0xffff);
        assert_eq!(u128::first_bits(100), (1 << 100) - 1);
    }
}
