//! Which compiled queries a filter or map uses.
//!
//! This decides about speed only: whatever is chosen here is used only if it may be.

use super::layout::Layout;
use super::regular::{self, FROM_9, SMALL, UP_TO_8, UP_TO_32};
use super::slots::{IN_A_WORD, IN_NINE_BYTES, ROWS_OF, WHOLE_BYTES};
use super::stored::Row;
use super::{Batch, Single, batch, single};
use crate::kernel::Kernel;
use crate::ribbon::Width;
use crate::ribbon::system::System;

/// The queries of a key and of many keys.
pub(super) type Queries = (Single, Batch);

/// The queries of a filter.
pub(super) fn filter(layout: &Layout, kernel: Kernel) -> Queries {
    let of_shape = match (layout.first.width, layout.first.columns, layout.second) {
        (Width::W128, 8, None) => shape::<2, 8, false, true>,
        (Width::W192, 8, None) => shape::<3, 8, false, true>,
        (Width::W256, 8, None) => shape::<4, 8, false, true>,
        (Width::W128, 8, Some(_)) => shape::<2, 8, true, true>,
        (Width::W192, 8, Some(_)) => shape::<3, 8, true, true>,
        (Width::W128, 16, None) => shape::<2, 16, false, true>,
        (Width::W192, 16, None) => shape::<3, 16, false, true>,
        (Width::W192, 16, Some(_)) => shape::<3, 16, true, true>,
        (Width::W192, _, None) if is_small(&layout.first) => shape::<3, SMALL, false, true>,
        (Width::W256, _, None) if is_small(&layout.first) => shape::<4, SMALL, false, true>,
        _ => none,
    };
    let of_width = match (layout.first.width, layout.second) {
        (Width::W128, None) if layout.first.columns > 8 => shape::<2, FROM_9, false, true>,
        (Width::W192, None) if layout.first.columns > 8 => shape::<3, FROM_9, false, true>,
        (Width::W256, None) if layout.first.columns > 8 => shape::<4, FROM_9, false, true>,
        (Width::W128, Some(_)) if layout.first.columns > 8 => shape::<2, FROM_9, true, true>,
        (Width::W192, Some(_)) if layout.first.columns > 8 => shape::<3, FROM_9, true, true>,
        (Width::W256, Some(_)) if layout.first.columns > 8 => shape::<4, FROM_9, true, true>,
        (Width::W64, _) => none,
        (Width::W128, None) => shape::<2, UP_TO_8, false, true>,
        (Width::W192, None) => shape::<3, UP_TO_8, false, true>,
        (Width::W256, None) => shape::<4, UP_TO_8, false, true>,
        (Width::W128, Some(_)) => shape::<2, UP_TO_8, true, true>,
        (Width::W192, Some(_)) => shape::<3, UP_TO_8, true, true>,
        (Width::W256, Some(_)) => shape::<4, UP_TO_8, true, true>,
    };
    // Compiled shapes compare fingerprints from their first bit on.
    let chosen = (layout.first_column == 0)
        .then(|| of_shape(layout, kernel).or_else(|| of_width(layout, kernel)))
        .flatten();
    chosen.unwrap_or_else(|| any::<true>(layout, kernel))
}

/// Whether many of the equations cross the boundary.
fn is_small(system: &System) -> bool {
    system.starts < 100 && system.boundary > 0
}

/// The queries of a map.
pub(super) fn map(layout: &Layout, kernel: Kernel) -> Queries {
    let of_shape = match (layout.first.rows, layout.first.width, layout.second) {
        (true, _, None) => wide_map::<false>,
        (true, _, Some(_)) => wide_map::<true>,
        (_, Width::W192, None) => shape::<3, UP_TO_8, false, false>,
        (_, Width::W192, Some(_)) => shape::<3, UP_TO_8, true, false>,
        (_, Width::W256, None) => shape::<4, UP_TO_8, false, false>,
        _ => none,
    };
    of_shape(layout, kernel).unwrap_or_else(|| any::<false>(layout, kernel))
}

/// The queries of a map that is stored row by row.
fn wide_map<const BUMPED: bool>(layout: &Layout, kernel: Kernel) -> Option<Queries> {
    let of_columns = match layout.first.columns {
        16 => shape::<4, { ROWS_OF + 16 }, BUMPED, false>,
        32 => shape::<4, { ROWS_OF + 32 }, BUMPED, false>,
        64 => shape::<4, { ROWS_OF + 64 }, BUMPED, false>,
        columns if columns.is_multiple_of(8) => shape::<4, WHOLE_BYTES, BUMPED, false>,
        ..=57 => shape::<4, IN_A_WORD, BUMPED, false>,
        _ => shape::<4, IN_NINE_BYTES, BUMPED, false>,
    };
    of_columns(layout, kernel)
}

/// The queries of a shape, if they may be used for the layout.
fn shape<const W: usize, const SHAPE: u32, const BUMPED: bool, const FILTER: bool>(
    layout: &Layout,
    kernel: Kernel,
) -> Option<Queries> {
    single::holds::<W, SHAPE, BUMPED>(layout).then(|| {
        (
            single::compiled::<W, SHAPE, BUMPED, FILTER>(kernel) as Single,
            batch::compiled::<W, SHAPE, BUMPED, FILTER>(kernel) as Batch,
        )
    })
}

fn none(_: &Layout, _: Kernel) -> Option<Queries> {
    None
}

/// The queries of any layout.
fn any<const FILTER: bool>(layout: &Layout, kernel: Kernel) -> Queries {
    match layout.second {
        None => (
            single::any_compiled::<false, FILTER>(kernel),
            batch::any_compiled::<false, FILTER>(kernel),
        ),
        Some(_) => (
            single::any_compiled::<true, FILTER>(kernel),
            batch::any_compiled::<true, FILTER>(kernel),
        ),
    }
}

/// The function of a system whose rows are not part of a compiled query: a second system, or one of
/// an unusual shape. `None`: the general one.
pub(super) fn row(system: &System, available: u64, kernel: Kernel) -> Option<Row> {
    match (system.width, system.columns) {
        (Width::W256, 0..=8) => row_of_shape::<4, UP_TO_8>(system, available, kernel),
        (Width::W64, _) => None,
        (Width::W128, _) => row_of_shape::<2, UP_TO_32>(system, available, kernel),
        (Width::W192, _) => row_of_shape::<3, UP_TO_32>(system, available, kernel),
        (Width::W256, _) => row_of_shape::<4, UP_TO_32>(system, available, kernel),
    }
}

fn row_of_shape<const W: usize, const SHAPE: u32>(
    system: &System,
    available: u64,
    kernel: Kernel,
) -> Option<Row> {
    let holds = regular::holds::<W, SHAPE>(system, available);
    holds.then(|| regular::compiled::<W, SHAPE>(kernel) as Row)
}
