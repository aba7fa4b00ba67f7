//! What is opened: systems, where they lie, and the checks that make queries memory-safe.
#![expect(unsafe_code, reason = "codes are read through a pointer")]

use super::stored::Stored;
use crate::kernel::Kernel;
use crate::ribbon::bucket::{self, IN_BUCKET_BITS, Thresholds};
use crate::ribbon::equation::{MAX_COLUMNS, Mixer, rehash_factor};
use crate::ribbon::system::System;
use crate::ribbon::width::Width;

/// The bytes that follow a solution at least, so that whole words can be read where it ends.
pub(crate) const PADDING: u64 = 32;

/// The layout of a filter or map: where everything is in its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The seed of the [`Mixer`].
    pub(crate) seed: u8,
    /// The bit of the fingerprint that the first column of a filter stores.
    pub(crate) first_column: u32,
    /// The first system, at offset 0.
    pub(crate) first: System,
    /// What a Bumped filter or map has in addition.
    pub(crate) second: Option<Second>,
    /// The length of all bytes, with at least [`PADDING`] after the last system and the codes.
    pub(crate) len: usize,
}

/// The second system of a Bumped filter or map, for the keys that the first system bumps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Second {
    /// The system; its width is always [`Width::W256`].
    pub(crate) system: System,
    /// The seed of [`rehash`](crate::ribbon::equation::rehash). All that follows from the hash of a bumped key, its fingerprint
    /// included, follows from the new hash.
    pub(crate) seed: u8,
    /// The offset of the system.
    pub(crate) offset: u64,
    /// The offset of the codes of the first system.
    pub(crate) codes: u64,
}

/// A layout that was checked: what compiled queries work with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    pub(super) mixer: Mixer,
    pub(super) first_column: u32,
    pub(super) first: Stored,
    pub(super) bumps: Bumps,
}

/// Which keys are bumped, and where to. Not used without a second system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bumps {
    pub(super) codes: usize,
    pub(super) thresholds: Thresholds,
    second: Stored,
    offset: usize,
    rehash: u64,
}

impl Opened {
    /// `None` if the layout does not fit its length, or is not one of a filter.
    pub(super) fn filter(layout: &Layout, kernel: Kernel) -> Option<Self> {
        let allowed = |system: &System| {
            let columns = layout.first_column.saturating_add(system.columns);
            !system.rows && columns <= MAX_COLUMNS
        };
        Self::new(layout, kernel, allowed)
    }

    /// `None` if the layout does not fit its length, or is not one of a map.
    pub(super) fn map(layout: &Layout, kernel: Kernel) -> Option<Self> {
        let allowed = |system: &System| system.boundary == 0 && system.columns <= u64::BITS;
        Self::new(layout, kernel, allowed)
    }

    fn new(layout: &Layout, kernel: Kernel, allowed: impl Fn(&System) -> bool) -> Option<Self> {
        let stored = |system: &System, offset: u64| {
            let available = (layout.len as u64).checked_sub(offset)?;
            allowed(system).then(|| Stored::new(system, available, kernel))?
        };
        let first = stored(&layout.first, 0)?;
        let bumps = match layout.second {
            None => Bumps { codes: 0, thresholds: [0; 4], second: first, offset: 0, rehash: 0 },
            Some(second) => {
                let codes_end =
                    second.codes.checked_add(bucket::codes_in_bytes(layout.first.starts))?;
                if second.system.width != Width::W256
                    || codes_end.checked_add(PADDING)? > layout.len as u64
                {
                    return None;
                }
                Bumps {
                    codes: second.codes as usize,
                    thresholds: bucket::thresholds(layout.first.width),
                    second: stored(&second.system, second.offset)?,
                    offset: second.offset as usize,
                    rehash: rehash_factor(second.seed),
                }
            }
        };
        let first_column = layout.first_column;
        Some(Self { mixer: Mixer::new(layout.seed), first_column, first, bumps })
    }

    /// What the row of a mixed hash is compared with: its fingerprint, or 0 in a map.
    #[inline(always)]
    pub(super) fn expected<const FILTER: bool>(&self, mixed: u64) -> u64 {
        if FILTER { mixed >> self.first_column } else { 0 }
    }

    /// Whether the key at a position of the first system is bumped.
    ///
    /// # Safety
    /// The layout has a second system, the position is one of the first system, and `bytes` are as
    /// many as the layout says.
    #[inline(always)]
    pub(super) unsafe fn is_bumped(&self, bytes: *const u8, position: u64) -> bool {
        let at = self.bumps.codes + (position >> (IN_BUCKET_BITS + 2)) as usize;
        // SAFETY: there is a code for each start, as `new` checked.
        let codes = unsafe { *bytes.add(at) };
        let code = codes >> (position >> (IN_BUCKET_BITS - 1) & 6) & 3;
        bucket::is_bumped(position, self.bumps.thresholds[usize::from(code)])
    }

    /// The query of a bumped key. Not inlined, since about one key in 50 is bumped.
    ///
    /// # Safety
    /// As for [`is_bumped`](Self::is_bumped); the CPU has the instructions of the kernel with which
    /// the layout was opened.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn second<const FILTER: bool>(&self, bytes: *const u8, mixed: u64) -> u64 {
        let Bumps { second, offset, rehash, .. } = &self.bumps;
        if second.is_empty() {
            // No key is in an empty set; a map has no row for it.
            return FILTER.into();
        }
        let mixed = mixed.wrapping_mul(*rehash);
        // SAFETY: the system begins at the offset, and the caller guarantees the rest.
        unsafe { second.row(bytes.add(*offset), mixed, self.expected::<FILTER>(mixed)) }
    }
}
