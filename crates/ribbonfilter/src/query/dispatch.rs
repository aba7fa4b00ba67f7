//! Which compiled function serves which shape.
//!
//! Functions of one key and of batches are compiled for every width and way to locate keys, with
//! any number of columns; the shapes that filters usually have, ribbons of 64 and 128 slots with
//! eight columns or up to eight, have functions of their own. Batches of static functions with
//! more than eight bits, parts of filters and shards in ranges are located by code that every CPU
//! runs and evaluated to rows by one function per width.
//!
//! | | vector kernels, each | portable |
//! |---|---|---|
//! | filters, one key | 20 | 11 |
//! | filters, batches | 20 | 11 |
//! | static functions, one key | 11 | 11 |
//! | static functions of up to eight bits, batches | 4 | 4 |
//! | evaluation of located equations | 4 | 4 |
//!
//! The functions below are not inlined, so that all this is compiled once, with the library, and
//! not with every crate that opens a filter.

use super::balanced::Balanced;
use super::batch::Ring;
use super::bumped::Bumped;
use super::system::{Fingerprints, Zero};
use super::{
    Evaluation, Fused, Located, Locator, Membership, Probe, QueryKind, Retrieval, Target, by_steps,
};
use crate::format::Header;
use crate::kernel::{Any, ColumnCount, Eight, Few, Instructions, Kernel, Many, Readable, Single};
use crate::shape::Shape;
use crate::width::{Band, with_band};
use crate::{Variant, Width};
use core::hint::cold_path;
use core::marker::PhantomData;

/// What the compiler knows about the expected row.
pub(crate) trait Rows {
    /// Every row is expected to be zero.
    const ZERO: bool = false;
}

/// Nothing is known.
pub(super) struct AnyRows;

impl Rows for AnyRows {}

/// A way to locate keys that is compiled together with the evaluation.
pub(super) trait Find: Rows {
    /// The equation of nearly every key; nothing of the others, which [`Locate`](super::Locate) finds.
    fn find<B: Band>(locator: &Locator, bytes: &[u8], key_hash: u64) -> Option<Located>;
}

/// A query of one key, located and evaluated in one function.
pub(super) struct One<K, B, C, F>(PhantomData<(K, B, C, F)>);

impl<K: QueryKind, B: Band, C: ColumnCount, F: Find> Single for One<K, B, C, F> {
    type Probe = Probe<K>;
    type Output = K::Result;

    #[inline(always)]
    fn run<I: Instructions>(
        i: I,
        probe: &Probe<K>,
        readable: Readable<'_>,
        key_hash: u64,
    ) -> K::Result {
        let located = F::find::<B>(&probe.locator, readable.bytes(), key_hash);
        let result = match located {
            Some(located) => K::evaluate::<I, B, C, F>(i, &probe.target, readable, located),
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

/// The evaluation of located equations to rows.
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

/// How keys are located, as a value.
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

/// The functions for a filter.
#[inline(never)]
pub(super) fn membership(header: &Header, kernel: Kernel) -> Fused<Membership> {
    let (shape, find) = (&header.shape, Finds::of(&header.shape));
    let special = match (shape.columns, shape.boundary) {
        (8, 0) => eight_columns(shape.width, find, kernel),
        (0..=8, _) => few_columns(shape.width, find, kernel),
        _ => None,
    };
    special.unwrap_or_else(|| any_columns(shape.width, find, kernel))
}

/// Functions for eight columns in every block. None of the portable kernel, which gains nothing
/// by them.
fn eight_columns(width: Width, find: Finds, kernel: Kernel) -> Option<Fused<Membership>> {
    match (width, find) {
        (Width::W64, Finds::Zero) => special::<u64, Eight, Zero>(kernel),
        (Width::W64, Finds::Fingerprints) => special::<u64, Eight, Fingerprints>(kernel),
        (Width::W64, Finds::Bumped) => special::<u64, Eight, Bumped>(kernel),
        (Width::W128, Finds::Bumped) => special::<u128, Eight, Bumped>(kernel),
        _ => few_columns(width, find, kernel),
    }
}

/// The same for up to eight columns.
fn few_columns(width: Width, find: Finds, kernel: Kernel) -> Option<Fused<Membership>> {
    match (width, find) {
        (Width::W64, Finds::Zero) => special::<u64, Few, Zero>(kernel),
        (Width::W64, Finds::Fingerprints) => special::<u64, Few, Fingerprints>(kernel),
        (Width::W64, Finds::Bumped) => special::<u64, Few, Bumped>(kernel),
        (Width::W128, Finds::Zero | Finds::Fingerprints) => {
            special::<u128, Few, Fingerprints>(kernel)
        }
        (Width::W128, Finds::Bumped) => special::<u128, Few, Bumped>(kernel),
        _ => None,
    }
}

fn special<B: Band, C: ColumnCount, F: Find>(kernel: Kernel) -> Option<Fused<Membership>> {
    Some(Fused {
        single: kernel.single_with_vectors::<One<Membership, B, C, F>>()?,
        batch: kernel.many_with_vectors::<Ring<Membership, B, C, F>>(),
    })
}

/// Functions for any number of columns, in every kernel. Where rows are expected to be zero,
/// [`Target::row`] makes them so.
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

/// The functions for a static function. Batches of more than eight bits go by chunks.
#[inline(never)]
pub(super) fn retrieval(header: &Header, kernel: Kernel) -> Option<Fused<Retrieval>> {
    let shape = &header.shape;
    match (shape.columns, shape.width, Finds::of(shape)) {
        (0..=8, Width::W64, Finds::Bumped) => return Some(few_bits::<u64, Bumped>(kernel)),
        (0..=8, Width::W64, Finds::Fingerprints) => {
            return Some(few_bits::<u64, Fingerprints>(kernel));
        }
        (0..=8, Width::W128, Finds::Bumped) => return Some(few_bits::<u128, Bumped>(kernel)),
        (0..=8, Width::W128, Finds::Fingerprints) => {
            return Some(few_bits::<u128, Fingerprints>(kernel));
        }
        _ => {}
    }
    let single = match (shape.width, Finds::of(shape)) {
        (Width::W32, Finds::Bumped) => kernel.single::<One<Retrieval, u32, Any, Bumped>>(),
        (Width::W64, Finds::Bumped) => kernel.single::<One<Retrieval, u64, Any, Bumped>>(),
        (Width::W128, Finds::Bumped) => kernel.single::<One<Retrieval, u128, Any, Bumped>>(),
        (width, Finds::Fingerprints) => {
            with_band!(width, B => kernel.single::<One<Retrieval, B, Any, Fingerprints>>())
        }
        _ => return None,
    };
    Some(Fused { single, batch: None })
}

fn few_bits<B: Band, F: Find>(kernel: Kernel) -> Fused<Retrieval> {
    Fused {
        single: kernel.single::<One<Retrieval, B, Few, F>>(),
        batch: Some(kernel.many::<Ring<Retrieval, B, Few, F>>()),
    }
}

/// The evaluation of located equations for every shape.
#[inline(never)]
pub(super) fn evaluation(width: Width, kernel: Kernel) -> Evaluation {
    with_band!(width, B => kernel.many::<Evaluate<B>>())
}
