//! The shape of a filter: the planner chooses it, construction fills it, the format stores it, and
//! queries need it.

use crate::ribbon::equation::{Balance, Shards, Starts};
use crate::ribbon::layers::{Buckets, EXCEPTION, Further, Layer, directory_bytes};
use crate::ribbon::layout::{Layout, Order};
use crate::ribbon::rate::Rate;
use crate::{Variant, Width};

/// All properties of a filter except its keys and seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) variant: Variant,
    pub(crate) width: Width,
    pub(crate) smash: bool,
    /// There are `1 << segment_bits` segments.
    pub(crate) segment_bits: u32,
    /// Slots of each segment; a multiple of 64 unless there is only one, so that no two
    /// segments share a block.
    pub(crate) segment_slots: u64,
    /// The layers after these segments, which are then the first layer of several.
    pub(crate) further: Further,
    /// Columns of the blocks after the boundary.
    pub(crate) columns: u32,
    /// The number of blocks at the front that have one column fewer.
    pub(crate) boundary: u64,
    /// The order of the bits in a block; the blocks of filters are interleaved.
    pub(crate) order: Order,
    /// The shards of a Balanced ribbon; [`Balance::EVEN`] for the other variants.
    pub(crate) balance: Balance,
}

impl Shape {
    /// The shape of a filter without slots.
    pub(crate) const EMPTY: Self = Self {
        variant: Variant::Standard,
        width: Width::W128,
        smash: false,
        segment_bits: 0,
        segment_slots: 0,
        further: Further::NONE,
        columns: 0,
        boundary: 0,
        order: Order::Columns,
        balance: Balance::EVEN,
    };

    #[inline]
    pub(crate) fn segments(&self) -> u64 {
        1 << self.segment_bits
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn slots(&self) -> u64 {
        (self.segment_slots << self.segment_bits) + self.further.slots()
    }

    /// All layers, at least one; the last is a Standard ribbon of one segment.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn layers(&self) -> impl Iterator<Item = Layer> {
        let first = Layer::new(self.segment_bits, self.segment_slots);
        core::iter::once(first).chain(self.further.layers().iter().copied())
    }

    /// The shape of a layer that begins at `first_slot`, as a separate system.
    pub(crate) fn of_layer(&self, first_slot: u64, layer: Layer) -> Self {
        let layout = self.layout().part(first_slot, layer.slots());
        Self {
            segment_bits: layer.segment_bits(),
            segment_slots: layer.segment_slots(),
            further: Further::default(),
            columns: layout.columns(),
            boundary: layout.boundary_slot() / u64::from(self.width.block_slots()),
            ..*self
        }
    }

    /// The number of buckets of all bumping layers, which are all layers but the last.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn buckets(&self) -> u64 {
        match self.further.layers().last() {
            Some(last) => (self.slots() - last.slots()) >> Buckets::of(self.width).log,
            None => 0,
        }
    }

    #[inline]
    pub(crate) fn starts(&self) -> Starts {
        Starts::new(self.segment_slots, self.width, self.smash)
    }

    #[inline]
    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.width, self.slots(), self.columns, self.boundary).ordered(self.order)
    }

    /// Whether each segment has a seed of its own, stored as one byte after the solution.
    #[inline]
    pub(crate) fn segment_seeds(&self) -> bool {
        self.variant == Variant::Standard && self.segment_bits > 0
    }

    /// The shards of a Balanced ribbon; `None` for a single shard or another variant. Each shard
    /// has one byte after the solution, with a bit for each bumped bucket.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn shards(&self) -> Option<Shards> {
        let shards = Shards::new(self.segment_bits, self.balance);
        (self.variant == Variant::Balanced && shards.count() > 1).then_some(shards)
    }

    /// Bytes between the solution and the footer.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn metadata_bytes(&self) -> u64 {
        match self.shards() {
            Some(shards) => shards.count(),
            None if self.segment_seeds() => self.segments(),
            None => self.layer_bytes(),
        }
    }

    /// The bytes of codes, exceptions and directory of a Bumped ribbon.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn layer_bytes(&self) -> u64 {
        match self.further.layers().len() {
            0 => 0,
            count => {
                let exceptions = u64::from(self.further.exceptions) * EXCEPTION as u64;
                self.buckets().div_ceil(4) + exceptions + directory_bytes(count) as u64
            }
        }
    }

    /// The bytes of solution and metadata.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(crate) fn data_bytes(&self) -> u64 {
        self.layout().size_in_bytes().saturating_add(self.metadata_bytes())
    }

    /// The mean number of columns.
    pub(crate) fn mean_columns(&self) -> f64 {
        match self.slots() {
            0 => 0.0,
            slots => self.layout().size_in_bits() as f64 / slots as f64,
        }
    }

    /// The rate of independent, random fingerprints: 2^-r, averaged over the starts. The rate of a
    /// homogeneous filter is higher on average over the seeds; under a single seed it may be a
    /// little lower.
    pub(crate) fn nominal_rate(&self) -> Rate {
        if self.slots() == 0 {
            return Rate::default();
        }
        if !self.further.layers().is_empty() {
            // A query ends in a layer, and in a range of its slots, with the same probability as a
            // key, and every key takes one slot. So the average over the slots is used.
            let (slots, before) = (u128::from(self.slots()), self.layout().boundary_slot());
            return Rate::new(slots + u128::from(before), slots << self.columns);
        }
        let starts = self.starts();
        let total = u128::from(starts.total_weight()) << self.segment_bits;
        let boundary = self.layout().boundary_slot();
        let (whole, rest) = (boundary / self.segment_slots, boundary % self.segment_slots);
        let before = u128::from(starts.total_weight()) * u128::from(whole)
            + u128::from(starts.weight_before(rest));
        // A start before the boundary has one column fewer: twice the probability.
        Rate::new(total + before, total << self.columns)
    }
}
