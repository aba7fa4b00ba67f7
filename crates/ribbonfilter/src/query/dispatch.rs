//! Which compiled function serves which shape.
//!
//! Functions of one key and of batches are compiled for the shapes that filters usually have:
//! ribbons of 64 and 128 slots, one system or a Bumped ribbon, eight columns, up to eight, or any
//! number. All others are located by code that every CPU runs and evaluated to rows by one
//! function per width.
//!
//! | | vector kernels, each | portable |
//! |---|---|---|
//! | filters, one key | 11 | 5 |
//! | filters, batches | 10 | 5 |
//! | static functions, one key | 4 | 4 |
//! | evaluation of located equations | 4 | 4 |
//!
//! With two vector kernels on x86-64 and four functions that join the steps ([`by_steps`]) that
//! makes 80. The functions below are not inlined, so that they are compiled once, with the
//! library, and not with every crate that opens a filter.

use super::batch::Ring;
use super::bumped::Bumped;
use super::system::{Fingerprints, Zero};
use super::{
    Evaluation, Fused, Located, Locator, Membership, Probe, QueryKind, Retrieval, Target, by_steps,
};
use crate::format::Header;
use crate::kernel::{Any, ColumnCount, Eight, Few, Instructions, Kernel, Many, Readable, Single};
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

/// The functions for a filter of the usual shapes.
#[inline(never)]
pub(super) fn membership(header: &Header, kernel: Kernel) -> Option<Fused<Membership>> {
    let shape = &header.shape;
    let layered = !shape.further.layers().is_empty();
    let find = match shape.variant {
        Variant::Balanced => return None,
        Variant::Homogeneous => Finds::Zero,
        _ if layered => Finds::Bumped,
        _ => Finds::Fingerprints,
    };
    if kernel.is_portable() {
        return portable_membership(shape.width, find);
    }
    let columns = match (shape.columns, shape.boundary) {
        (8, 0) => Count::Eight,
        (0..=8, _) => Count::Few,
        _ => Count::Any,
    };
    match (shape.width, find, columns) {
        (Width::W64, Finds::Zero, Count::Eight) => fused::<u64, Eight, Zero>(kernel),
        (Width::W64, Finds::Zero, Count::Few) => fused::<u64, Few, Zero>(kernel),
        (Width::W64, Finds::Zero, Count::Any) => fused::<u64, Any, Zero>(kernel),
        (Width::W64, Finds::Fingerprints, Count::Eight) => {
            fused::<u64, Eight, Fingerprints>(kernel)
        }
        (Width::W64, Finds::Fingerprints, Count::Few) => fused::<u64, Few, Fingerprints>(kernel),
        (Width::W64, Finds::Bumped, Count::Eight) => fused::<u64, Eight, Bumped>(kernel),
        (Width::W64, Finds::Bumped, Count::Few) => fused::<u64, Few, Bumped>(kernel),
        (Width::W128, Finds::Fingerprints, Count::Few | Count::Eight) => {
            fused::<u128, Few, Fingerprints>(kernel)
        }
        (Width::W128, Finds::Bumped, Count::Eight) => fused::<u128, Eight, Bumped>(kernel),
        (Width::W128, Finds::Bumped, Count::Few) => fused::<u128, Few, Bumped>(kernel),
        (Width::W128, Finds::Bumped, Count::Any) => Some(Fused {
            single: kernel.single_with_vectors::<One<Membership, u128, Any, Bumped>>()?,
            batch: None,
        }),
        _ => None,
    }
}

/// The same for the portable kernel, which gains nothing from what is known about columns.
fn portable_membership(width: Width, find: Finds) -> Option<Fused<Membership>> {
    Some(match (width, find) {
        (Width::W64, Finds::Zero) => portable::<u64, Zero>(),
        (Width::W64, Finds::Fingerprints) => portable::<u64, Fingerprints>(),
        (Width::W64, Finds::Bumped) => portable::<u64, Bumped>(),
        // What is expected to be zero is no fingerprint, as `Target` knows, too.
        (Width::W128, Finds::Zero | Finds::Fingerprints) => portable::<u128, Fingerprints>(),
        (Width::W128, Finds::Bumped) => portable::<u128, Bumped>(),
        (Width::W16 | Width::W32, _) => return None,
    })
}

/// What is known about the number of columns, as values.
#[derive(Clone, Copy)]
enum Count {
    Eight,
    Few,
    Any,
}

#[inline(always)]
fn portable<B: Band, F: Find>() -> Fused<Membership> {
    Fused {
        single: Kernel::portable_single::<One<Membership, B, Any, F>>(),
        batch: Some(Kernel::portable_many::<Ring<Membership, B, Any, F>>()),
    }
}

/// The ways to [`Find`], as values.
#[derive(Clone, Copy)]
enum Finds {
    Zero,
    Fingerprints,
    Bumped,
}

#[inline(always)]
fn fused<B: Band, C: ColumnCount, F: Find>(kernel: Kernel) -> Option<Fused<Membership>> {
    Some(Fused {
        single: kernel.single_with_vectors::<One<Membership, B, C, F>>()?,
        batch: kernel.many_with_vectors::<Ring<Membership, B, C, F>>(),
    })
}

/// The same for static functions. Their batches go by chunks.
#[inline(never)]
pub(super) fn retrieval(header: &Header, kernel: Kernel) -> Option<Fused<Retrieval>> {
    let shape = &header.shape;
    let layered = !shape.further.layers().is_empty();
    let single = match (shape.width, shape.variant) {
        (Width::W16 | Width::W32, _) | (_, Variant::Balanced) => return None,
        (Width::W64, _) if layered => kernel.single::<One<Retrieval, u64, Any, Bumped>>(),
        (Width::W128, _) if layered => kernel.single::<One<Retrieval, u128, Any, Bumped>>(),
        (Width::W64, _) => kernel.single::<One<Retrieval, u64, Any, Fingerprints>>(),
        (Width::W128, _) => kernel.single::<One<Retrieval, u128, Any, Fingerprints>>(),
    };
    Some(Fused { single, batch: None })
}

/// The evaluation of located equations for every shape.
#[inline(never)]
pub(super) fn evaluation(width: Width, kernel: Kernel) -> Evaluation {
    with_band!(width, B => kernel.many::<Evaluate<B>>())
}
