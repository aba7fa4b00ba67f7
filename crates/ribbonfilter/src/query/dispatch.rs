//! Which compiled function serves which shape.
//!
//! Single and batched queries are compiled for every width and every way to locate keys, with
//! any number of columns. The usual shapes of filters are ribbons of 64 and 128 slots with eight,
//! sixteen or up to eight columns. These have functions of their own in the vector kernels, and
//! for single queries two: one for small solutions, one for all others. Three cases are located
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
//! | filters of usual shapes, one key | 22 | |
//! | filters of usual shapes, batches | 11 | |
//! | other filters, one key | 11 | 11 |
//! | other filters, batches | 11 | 11 |
//! | static functions of up to eight bits, one key | 8 | |
//! | static functions of up to eight bits, batches | 4 | |
//! | other static functions, one key | 7 | 7 |
//! | evaluation of located equations | 4 | 4 |
//!
//! [`membership`], [`retrieval`] and [`evaluation`] are not inlined. So all of these functions
//! are compiled once, with the library, and not again in every crate that opens a filter.

use super::balanced::Balanced;
use super::batch::Ring;
use super::bumped::Bumped;
use super::system::{Fingerprints, Zero};
use super::{
    Evaluation, Fused, Located, Locator, Membership, Probe, QueryKind, Retrieval, Target, by_steps,
};
use crate::format::Footer;
use crate::kernel::{
    Any, Assumptions, Eight, Few, Instructions, Kernel, Many, Readable, SMALL_BYTES, Single,
    Sixteen, Small,
};
use crate::ribbon::shape::Shape;
use crate::ribbon::width::{Band, with_band};
use crate::{Variant, Width};
use core::hint::cold_path;
use core::marker::PhantomData;

/// What is known about the expected row at compile time.
pub(crate) trait Rows {
    /// Every row is expected to be zero.
    const ZERO: bool = false;
}

/// Rows of which nothing is known at compile time.
pub(super) struct AnyRows;

impl Rows for AnyRows {}

/// A way to locate keys that is compiled into one function with the evaluation.
///
/// `find` may decline a key. [`by_steps`] then locates the key again with
/// [`Locate`](super::Locate), which never declines. So an implementation handles only the
/// frequent cases and stays short, and a declined key costs time but never correctness.
pub(super) trait Find: Rows {
    /// The equation of a key; `None` for the few keys that are left to
    /// [`Locate`](super::Locate).
    fn find<B: Band, A: Assumptions>(
        locator: &Locator,
        bytes: &[u8],
        key_hash: u64,
    ) -> Option<Located>;
}

/// A query of one key, located and evaluated in one function.
pub(super) struct One<K, B, A, F>(PhantomData<(K, B, A, F)>);

impl<K: QueryKind, B: Band, A: Assumptions, F: Find> Single for One<K, B, A, F> {
    type Probe = Probe<K>;
    type Output = K::Result;

    #[inline(always)]
    fn run<I: Instructions>(
        i: I,
        probe: &Probe<K>,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> K::Result {
        let located = F::find::<B, A>(&probe.locator, readable.bytes(), key_hash);
        let result = match located {
            Some(located) => K::evaluate::<I, B, A, F>(i, &probe.target, readable, located),
            None => None,
        };
        match result {
            Some(result) => result,
            None => {
                cold_path();
                by_steps(probe, readable, key_hash)
            }
        }
    }
}

/// Evaluates located equations to rows, for any layout. Equations that no kernel can read are
/// read word by word. An equation without a location gives the row 0; for filters,
/// [`QueryKind::conclude`] ignores that row.
struct Evaluate<B>(PhantomData<B>);

impl<B: Band> Many for Evaluate<B> {
    type Probe = Target;
    type Input = Located;
    type Output = u64;

    #[inline(always)]
    fn run<I: Instructions>(
        instructions: I,
        target: &Target,
        readable: Readable<'_>,
        located: &[Located],
        rows: &mut [u64],
    ) {
        for (&located, row) in located.iter().zip(rows) {
            let found =
                Retrieval::evaluate::<I, B, Any, AnyRows>(instructions, target, readable, located);
            *row = match found {
                Some(row) => row,
                None => {
                    cold_path();
                    let (words, _) = target.multipliers.expand(located.hash);
                    readable.row_plain::<B>(located.slot, words).map_or(0, |(row, _)| row)
                }
            };
        }
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

/// The functions for a filter of `len` bytes.
#[inline(never)]
pub(super) fn membership(footer: &Footer, len: usize, kernel: Kernel) -> Fused<Membership> {
    let (shape, find) = (&footer.shape, Finds::of(&footer.shape));
    let small = len <= SMALL_BYTES;
    // `Eight` and `Sixteen` hold for every block only if the number of columns is not fractional.
    let special = match (shape.columns, shape.boundary) {
        (8, 0) => eight_columns(shape.width, find, small, kernel),
        (0..=8, _) => few_columns(shape.width, find, small, kernel),
        (16, 0) => sixteen_columns(shape.width, find, small, kernel),
        _ => None,
    };
    special.unwrap_or_else(|| any_columns(shape.width, find, kernel))
}

/// Functions for eight columns in every block. `None` for the portable kernel, which gains
/// nothing from them.
fn eight_columns(
    width: Width,
    find: Finds,
    small: bool,
    kernel: Kernel,
) -> Option<Fused<Membership>> {
    match (width, find) {
        (Width::W64, Finds::Zero) => special::<_, u64, Eight, Zero>(small, kernel),
        (Width::W64, Finds::Fingerprints) => special::<_, u64, Eight, Fingerprints>(small, kernel),
        (Width::W64, Finds::Bumped) => special::<_, u64, Eight, Bumped>(small, kernel),
        (Width::W128, Finds::Bumped) => special::<_, u128, Eight, Bumped>(small, kernel),
        _ => few_columns(width, find, small, kernel),
    }
}

/// Functions for up to eight columns, also fractional ones. `None` for the portable kernel and
/// for rare shapes.
fn few_columns(
    width: Width,
    find: Finds,
    small: bool,
    kernel: Kernel,
) -> Option<Fused<Membership>> {
    match (width, find) {
        (Width::W64, Finds::Zero) => special::<_, u64, Few, Zero>(small, kernel),
        (Width::W64, Finds::Fingerprints) => special::<_, u64, Few, Fingerprints>(small, kernel),
        (Width::W64, Finds::Bumped) => special::<_, u64, Few, Bumped>(small, kernel),
        // `Fingerprints` also serves rows of zero: `Target::row` shifts every bit out.
        (Width::W128, Finds::Zero | Finds::Fingerprints) => {
            special::<_, u128, Few, Fingerprints>(small, kernel)
        }
        (Width::W128, Finds::Bumped) => special::<_, u128, Few, Bumped>(small, kernel),
        _ => None,
    }
}

/// Functions for sixteen columns in every block. `None` for the portable kernel and for rare
/// shapes.
fn sixteen_columns(
    width: Width,
    find: Finds,
    small: bool,
    kernel: Kernel,
) -> Option<Fused<Membership>> {
    match (width, find) {
        (Width::W64, Finds::Zero) => special::<_, u64, Sixteen, Zero>(small, kernel),
        (Width::W128, Finds::Bumped) => special::<_, u128, Sixteen, Bumped>(small, kernel),
        _ => None,
    }
}

/// The fused functions for one combination of types, with [`Small`] for single queries of small
/// solutions. Batches of small solutions call the single query (see `batch::run`), so the ring
/// needs no small form.
fn special<K: QueryKind, B: Band, A: Assumptions, F: Find>(
    small: bool,
    kernel: Kernel,
) -> Option<Fused<K>> {
    Some(Fused {
        single: match small {
            true => kernel.single_with_vectors::<One<K, B, Small<A>, F>>()?,
            false => kernel.single_with_vectors::<One<K, B, A, F>>()?,
        },
        batch: kernel.many_with_vectors::<Ring<K, B, A, F>>(),
    })
}

/// Functions for any number of columns, in every kernel. [`Fingerprints`] also serves filters
/// whose rows are all zero: [`Target::row`] is zero for them.
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
    Fused {
        single: kernel.single::<One<Membership, B, Any, F>>(),
        batch: Some(kernel.many::<Ring<Membership, B, Any, F>>()),
    }
}

/// The functions for a static function of `len` bytes. With more than eight bits there is none
/// for batches, which are then queried in chunks. `None` for Balanced ribbons.
#[inline(never)]
pub(super) fn retrieval(footer: &Footer, len: usize, kernel: Kernel) -> Option<Fused<Retrieval>> {
    let (shape, find) = (&footer.shape, Finds::of(&footer.shape));
    let special = match shape.columns {
        0..=8 => few_bits(shape.width, find, len <= SMALL_BYTES, kernel),
        _ => None,
    };
    special.or_else(|| {
        let single = match (shape.width, find) {
            (Width::W32, Finds::Bumped) => kernel.single::<One<Retrieval, u32, Any, Bumped>>(),
            (Width::W64, Finds::Bumped) => kernel.single::<One<Retrieval, u64, Any, Bumped>>(),
            (Width::W128, Finds::Bumped) => kernel.single::<One<Retrieval, u128, Any, Bumped>>(),
            (width, Finds::Fingerprints) => {
                with_band!(width, B => kernel.single::<One<Retrieval, B, Any, Fingerprints>>())
            }
            _ => return None,
        };
        Some(Fused { single, batch: None })
    })
}

fn few_bits(width: Width, find: Finds, small: bool, kernel: Kernel) -> Option<Fused<Retrieval>> {
    match (width, find) {
        (Width::W64, Finds::Fingerprints) => special::<_, u64, Few, Fingerprints>(small, kernel),
        (Width::W64, Finds::Bumped) => special::<_, u64, Few, Bumped>(small, kernel),
        (Width::W128, Finds::Fingerprints) => special::<_, u128, Few, Fingerprints>(small, kernel),
        (Width::W128, Finds::Bumped) => special::<_, u128, Few, Bumped>(small, kernel),
        _ => None,
    }
}

/// The function that evaluates located equations of a width, for every layout.
#[inline(never)]
pub(super) fn evaluation(width: Width, kernel: Kernel) -> Evaluation {
    with_band!(width, B => kernel.many::<Evaluate<B>>())
}
