//! The ribbon width: how many consecutive blocks an equation covers.

use core::fmt;

/// The number of slots in a block. Each column of a block is one word.
pub(crate) const BLOCK: u64 = 64;

/// How many consecutive slots the equation of a key covers: two, three or four whole blocks of 64
/// slots. A wider ribbon needs fewer slots and reads more memory per query.
///
/// ```
/// use ribbonfilter_next::Width;
///
/// assert_eq!("192".parse::<Width>()?, Width::W192);
/// assert_eq!(Width::W192.to_string(), "192");
/// # Ok::<(), ribbonfilter_next::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Width {
    /// One block, which holds at most some 60 keys. The planner uses it for such sets; requested for
    /// others, it stands for `W128`.
    W64,
    /// Two blocks: the fastest queries.
    W128,
    /// Three blocks.
    W192,
    /// Four blocks: the fewest slots.
    W256,
}

impl Width {
    /// The widths for any number of keys, the narrowest first.
    pub const ALL: [Self; 3] = [Self::W128, Self::W192, Self::W256];

    /// The number of slots: 64, 128, 192 or 256.
    pub const fn slots(self) -> u32 {
        self.blocks() as u32 * BLOCK as u32
    }

    /// The number of blocks: 1, 2, 3 or 4.
    #[inline]
    pub(crate) const fn blocks(self) -> usize {
        match self {
            Self::W64 => 1,
            Self::W128 => 2,
            Self::W192 => 3,
            Self::W256 => 4,
        }
    }

    /// The width of this number of blocks.
    pub(crate) fn of_blocks(blocks: u8) -> Option<Self> {
        let mut all = Self::ALL.into_iter().chain([Self::W64]);
        all.find(|width| width.blocks() == usize::from(blocks))
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.slots())
    }
}
