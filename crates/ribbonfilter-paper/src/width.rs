//! The ribbon width `w` (paper, section 3), as a value and as a type.
//!
//! The coefficients of an equation are a word of `w` bits, and so is one column of a block of the
//! solution (section 5.2). [`Width`] is the choice at run time; a [`Word`] is the same choice as a
//! type, so that all code below the dispatch is written once.
//!
//! Bit `k` of a word always stands for the slot `k` after the first one. The "first" coefficient
//! of the paper is therefore the least significant bit.

use std::fmt;
use std::ops::{BitAnd, BitXor};
use std::str::FromStr;

/// The ribbon width: the number of consecutive slots that one equation can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The widths of the paper, narrowest first.
    pub const ALL: [Self; 4] = [Self::W16, Self::W32, Self::W64, Self::W128];

    /// The width as a number of slots.
    pub const fn slots(self) -> u64 {
        16 << self as u64
    }

    /// The bytes of one word.
    pub const fn bytes(self) -> usize {
        2 << self as usize
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slots().fmt(f)
    }
}

impl FromStr for Width {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|width| width.to_string() == text);
        found.ok_or_else(|| "expected 16, 32, 64 or 128".into())
    }
}

/// A word of `w` bits.
pub trait Word:
    Copy + Eq + fmt::Debug + Send + Sync + BitAnd<Output = Self> + BitXor<Output = Self> + 'static
{
    /// The width as a value.
    const WIDTH: Width;
    /// No bit is set: an empty row of the linear system.
    const ZERO: Self;
    /// Only the first bit is set.
    const ONE: Self;

    /// The first `w` of 128 bits.
    fn from_bits(bits: u128) -> Self;
    /// The bits, padded with zeros.
    fn to_bits(self) -> u128;
    /// The number of zeros that precede the first set bit; `w` if there is none.
    fn first_set(self) -> u32;
    /// Drops the first `count` bits. `count` may be `w`, which leaves none.
    fn drop_first(self, count: u32) -> Self;
    /// Puts `count < w` zeros in front and drops as many bits from the end.
    fn put_zeros(self, count: u32) -> Self;
    /// Whether an odd number of bits is set.
    fn parity(self) -> bool;
    /// Reads a little-endian word from `bytes`, which must be of its length.
    fn read(bytes: &[u8]) -> Self;
    /// Writes a little-endian word to `bytes`, which must be of its length.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! words {
    ($($word:ty, $width:expr;)*) => {$(
        impl Word for $word {
            const WIDTH: Width = $width;
            const ZERO: Self = 0;
            const ONE: Self = 1;

            fn from_bits(bits: u128) -> Self {
                bits as Self
            }

            fn to_bits(self) -> u128 {
                self.into()
            }

            fn first_set(self) -> u32 {
                self.trailing_zeros()
            }

            fn drop_first(self, count: u32) -> Self {
                self.checked_shr(count).unwrap_or(0)
            }

            fn put_zeros(self, count: u32) -> Self {
                self << count
            }

            fn parity(self) -> bool {
                self.count_ones() & 1 == 1
            }

            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("the bytes of one word"))
            }

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

words! {
    u16, Width::W16;
    u32, Width::W32;
    u64, Width::W64;
    u128, Width::W128;
}

/// Evaluates generic code with the [`Word`] type of a [`Width`].
macro_rules! with_word {
    ($width:expr, $word:ident => $body:expr) => {
        match $width {
            $crate::Width::W16 => {
                type $word = u16;
                $body
            }
            $crate::Width::W32 => {
                type $word = u32;
                $body
            }
            $crate::Width::W64 => {
                type $word = u64;
                $body
            }
            $crate::Width::W128 => {
                type $word = u128;
                $body
            }
        }
    };
}
pub(crate) use with_word;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_width_that_they_name() {
        for width in Width::ALL {
            let (slots, bytes) = with_word!(width, W => (W::from_bits(u128::MAX).to_bits().count_ones(), size_of::<W>()));
            assert_eq!((u64::from(slots), bytes), (width.slots(), width.bytes()));
            assert_eq!(width.to_string().parse(), Ok(width));
        }
        assert!("48".parse::<Width>().is_err());
    }

    #[test]
    fn all_bits_can_be_dropped() {
        assert_eq!(u16::MAX.drop_first(16), 0);
        assert_eq!(u128::MAX.drop_first(128), 0);
        assert_eq!(0b110u64.drop_first(1), 0b11);
        assert_eq!(u64::ZERO.first_set(), 64);
    }
}
