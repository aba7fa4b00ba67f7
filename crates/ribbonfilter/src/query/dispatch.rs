//! Which compiled function serves which shape.
//!
//! Single and batched queries are compiled for every width and every way to locate keys, with
//! any number of columns. The usual shapes of filters are ribbons of 64 and 128 slots with eight,
//! sixteen or up to eight columns, the latter with or without a fraction. These have functions of
//! their own in the vector kernels, and for single queries two: one for small solutions, one for
//! all others. Three cases are located
//! by portable code and evaluated to rows by one function per width: batches of static functions
//! with more than eight bits, parts of filters, and shards in ranges.
//!
//! Width, columns and locator are run-time properties of a filter, but constants inside each
//! function. The `match` expressions below are where one becomes the other; they run once, when
//! a filter is opened. Only [`membership`] and [`retrieval`] choose the [`Assumptions`] of a fused
//! function. They may choose only what the shape guarantees, because kernels compute addresses
//! from the assumptions and do not check them again.
//!
//! | | vector kernels, each | portable |
//! |---|---|---|
//! | filters of usual shapes, one key | 30 | |
//! | filters of usual shapes, batches | 15 | |
//! | other filters, one key | 11 | 11 |
//! | other filters, batches | 11 | 11 |
//! | static functions of one bit, one key | 8 | |
//! | static functions of one bit, batches | 4 | |
//! | static functions of up to eight bits, one key | 8 | |
//! | static functions of up to eight bits, batches | 4 | |
//! | other static functions, one key | 7 | 7 |
//! | evaluation of located equations | 4 | 4 |
//!
//! Compact code has few functions instead: nearly all queries locate, then evaluate in a second
//! call. The functions for all shapes would be 120 kB of WebAssembly, which has no prefetch either,
//! for which the ring of a batch is made.
//!
//! [`membership`], [`retrieval`] and [`evaluation`] are not inlined. So all of these functions
//! are compiled once, with the library, and not again in every crate that opens a filter.

use super::balanced::Balanced;
use super::bumped::Bumped;
use super::single::{Find, Fingerprints, QueryKind, Zero};
use super::solution::{Any, Assumptions, Eight, Few, FewWhole, One, SMALL_BYTES, Sixteen, Small};
use super::{
    Evaluation, Fused, Locator, Membership, Retrieval, batch, evaluation as evaluations, single,
};
use crate::format::Footer;
use crate::kernel::Kernel;
use crate::ribbon::shape::Shape;
use crate::ribbon::width::{Band, COMPACT, with_band};
use crate::{Variant, Width};

/// The choice of functions for a kind of query.
pub(crate) trait Fuse: QueryKind {
    /// The functions compiled for the shape of a filter of `len` bytes, if there are any.
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>>;
}

impl Fuse for Membership {
    #[inline(always)]
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>> {
        match COMPACT {
            true => compact(footer.shape.width),
            false => Some(membership(footer, len, kernel)),
        }
    }
}

impl Fuse for Retrieval {
    #[inline(always)]
    fn fused(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Self>> {
        if COMPACT { None } else { retrieval(footer, len, kernel) }
    }
}

/// The implementations of [`Find`], as a value.
#[derive(Clone, Copy)]
enum Finds {
    Zero,
    Fingerprints,
    Bumped,
    Balanced,
}

impl Finds {
    fn of(shape: &Shape) -> Self {
        match shape.variant {
            Variant::Homogeneous => Self::Zero,
            Variant::Balanced if shape.shards().is_some() => Self::Balanced,
            Variant::Bumped if !shape.further.layers().is_empty() => Self::Bumped,
            _ => Self::Fingerprints,
        }
    }
}

/// The only functions in compact code: batches of the widths that plans have by default.
fn compact(width: Width) -> Option<Fused<Membership>> {
    let batch = match width {
        Width::W16 | Width::W32 => return None,
        Width::W64 => batch::in_chunks::<Membership, u64>,
        Width::W128 => batch::in_chunks::<Membership, u128>,
    };
    Some(Fused { single: single::by_steps::<Membership, Locator>, batch: Some(batch) })
}

/// The functions for a filter of `len` bytes.
#[inline(never)]
fn membership(footer: &Footer, len: usize, kernel: Kernel) -> Fused<Membership> {
    let (shape, find) = (&footer.shape, Finds::of(&footer.shape));
    let small = len <= SMALL_BYTES;
    // `Eight`, `Sixteen` and `FewWhole` hold only if the number of columns is not fractional.
    let usual = match (shape.columns, shape.boundary, shape.width, find) {
        (8, 0, Width::W64, Finds::Zero) => usual::<_, u64, Eight, Zero>(small, kernel),
        (8, 0, Width::W64, Finds::Fingerprints) => {
            usual::<_, u64, Eight, Fingerprints>(small, kernel)
        }
        (8, 0, Width::W64, Finds::Bumped) => usual::<_, u64, Eight, Bumped>(small, kernel),
        (8, 0, Width::W128, Finds::Bumped) => usual::<_, u128, Eight, Bumped>(small, kernel),
        (16, 0, Width::W64, Finds::Zero) => usual::<_, u64, Sixteen, Zero>(small, kernel),
        (16, 0, Width::W128, Finds::Bumped) => usual::<_, u128, Sixteen, Bumped>(small, kernel),
        (0..=8, _, Width::W64, Finds::Zero) => usual::<_, u64, Few, Zero>(small, kernel),
        // `Fingerprints` also serves rows of zero: `Target::row` shifts every bit out.
        (0..=8, _, Width::W128, Finds::Zero) => {
            few_columns::<_, Few>(shape, Finds::Fingerprints, small, kernel)
        }
        (1..=8, 0, ..) => few_columns::<_, FewWhole>(shape, find, small, kernel),
        (0..=8, ..) => few_columns::<_, Few>(shape, find, small, kernel),
        _ => None,
    };
    usual.unwrap_or_else(|| any_columns(shape.width, find, kernel))
}

/// Functions for solutions that `A` describes. `None` for the portable kernel and for rare shapes.
fn few_columns<K: QueryKind, A: Assumptions>(
    shape: &Shape,
    find: Finds,
    small: bool,
    kernel: Kernel,
) -> Option<Fused<K>> {
    match (shape.width, find) {
        (Width::W64, Finds::Fingerprints) => usual::<_, u64, A, Fingerprints>(small, kernel),
        (Width::W64, Finds::Bumped) => usual::<_, u64, A, Bumped>(small, kernel),
        (Width::W128, Finds::Fingerprints) => usual::<_, u128, A, Fingerprints>(small, kernel),
        (Width::W128, Finds::Bumped) => usual::<_, u128, A, Bumped>(small, kernel),
        _ => None,
    }
}

/// The fused functions for one combination of types, with [`Small`] for single queries of small
/// solutions. `None` for the portable kernel, which gains nothing from them. Batches of small solutions call the single query (see `batch::run`), so the ring
/// needs no small form.
fn usual<K: QueryKind, B: Band, A: Assumptions, F: Find>(
    small: bool,
    kernel: Kernel,
) -> Option<Fused<K>> {
    Some(Fused {
        single: match small {
            true => single::with_vectors::<K, B, Small<A>, F>(kernel)?,
            false => single::with_vectors::<K, B, A, F>(kernel)?,
        },
        batch: batch::with_vectors::<K, B, A, F>(kernel),
    })
}

/// Functions for any number of columns, in every kernel. [`Fingerprints`] also serves filters
/// whose rows are all zero: [`Target::row`](super::Target::row) is zero for them.
fn any_columns(width: Width, find: Finds, kernel: Kernel) -> Fused<Membership> {
    match (width, find) {
        (Width::W16, _) => any::<u16, Fingerprints>(kernel),
        (Width::W64, Finds::Zero) => any::<u64, Zero>(kernel),
        (_, Finds::Zero | Finds::Fingerprints) => {
            with_band!(width, B => any::<B, Fingerprints>(kernel))
        }
        (Width::W32, Finds::Bumped) => any::<u32, Bumped>(kernel),
        (Width::W64, Finds::Bumped) => any::<u64, Bumped>(kernel),
        (Width::W128, Finds::Bumped) => any::<u128, Bumped>(kernel),
        (Width::W32, Finds::Balanced) => any::<u32, Balanced>(kernel),
        (Width::W64, Finds::Balanced) => any::<u64, Balanced>(kernel),
        (Width::W128, Finds::Balanced) => any::<u128, Balanced>(kernel),
    }
}

fn any<B: Band, F: Find>(kernel: Kernel) -> Fused<Membership> {
    let batch = batch::with_vectors::<Membership, B, Any, F>(kernel);
    Fused {
        batch: Some(batch.unwrap_or(batch::portable::<Membership, B, Any, F>())),
        ..any_single::<Membership, B, F>(kernel)
    }
}

fn any_single<K: QueryKind, B: Band, F: Find>(kernel: Kernel) -> Fused<K> {
    let single = single::with_vectors::<K, B, Any, F>(kernel);
    Fused { single: single.unwrap_or(single::portable::<K, B, Any, F>()), batch: None }
}

/// The functions for a static function of `len` bytes. With more than eight bits there is none
/// for batches, which are then queried in chunks. `None` for Balanced ribbons.
#[inline(never)]
fn retrieval(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Retrieval>> {
    let (shape, find) = (&footer.shape, Finds::of(&footer.shape));
    let small = len <= SMALL_BYTES;
    // A function has a whole number of columns, but untrusted bytes may have any.
    let usual = match (shape.columns, shape.boundary) {
        (1, 0) => few_columns::<_, One>(shape, find, small, kernel),
        (2..=8, 0) => few_columns::<_, FewWhole>(shape, find, small, kernel),
        _ => None,
    };
    usual.or_else(|| match (shape.width, find) {
        (Width::W32, Finds::Bumped) => Some(any_single::<_, u32, Bumped>(kernel)),
        (Width::W64, Finds::Bumped) => Some(any_single::<_, u64, Bumped>(kernel)),
        (Width::W128, Finds::Bumped) => Some(any_single::<_, u128, Bumped>(kernel)),
        (width, Finds::Fingerprints) => {
            with_band!(width, B => Some(any_single::<_, B, Fingerprints>(kernel)))
        }
        _ => None,
    })
}

/// The function that evaluates located equations of a width, for every layout.
#[inline(never)]
pub(super) fn evaluation(width: Width, kernel: Kernel) -> Evaluation {
    match width {
        Width::W128 if COMPACT => evaluations::plain::<u128>,
        _ if COMPACT => evaluations::plain::<u64>,
        _ => with_band!(width, B => {
            evaluations::with_vectors::<B>(kernel).unwrap_or(evaluations::portable::<B>())
        }),
    }
}
