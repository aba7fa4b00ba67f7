//! Builders of filters, exact sets and static functions, from hashes.

use crate::error::{self, ErrorKind, Failure};
use crate::structure::Structure;
use alloc::boxed::Box;
use alloc::string::ToString;
use core::ops::ControlFlow;
use core::slice;
use ribbonfilter::{
    BuildError, BuildOptions, Effort, ExactSet, ExactSetBuilder, Filter, FilterBuilder, Function,
    FunctionBuilder, Phase, Progress, Variant, Width,
};

/// A builder.
#[expect(clippy::large_enum_variant, reason = "every builder is in a box of its own")]
pub enum Builder {
    /// Of a filter.
    Filter(FilterBuilder<'static>),
    /// Of an exact set.
    Exact(ExactSetBuilder<'static>),
    /// Of a static function.
    Function(FunctionBuilder<'static>),
}

#[cfg(target_arch = "wasm32")]
mod imported {
    #[link(wasm_import_module = "ribbonfilter")]
    unsafe extern "C" {
        /// Reports a fraction of a phase. Returns whether to stop.
        pub(super) safe fn progress(phase: u32, fraction: f64) -> bool;
    }
}

/// On other targets there is no JavaScript to report to.
#[cfg(not(target_arch = "wasm32"))]
mod imported {
    pub(super) fn progress(_: u32, _: f64) -> bool {
        false
    }
}

fn report(progress: Progress) -> ControlFlow<()> {
    let phase = match progress.phase {
        Phase::Partitioning => 0,
        Phase::Solving => 1,
        _ => 2,
    };
    match imported::progress(phase, progress.fraction()) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

fn fail(error: &BuildError) {
    let kind = match error {
        BuildError::OutOfMemory { .. } => ErrorKind::Memory,
        BuildError::Cancelled => ErrorKind::Cancelled,
        _ => ErrorKind::Build,
    };
    error::set(Failure { kind, code: 0, numbers: [0.0; 2], text: error.to_string().into() });
}

/// Creates a builder. `what`: 0 for a filter, 2 for an exact set, 3 for a static function.
///
/// `target` says what `amount` is: 0 nothing, 1 a rate, 2 bits per key, 3 bytes, 4 columns. `variant`
/// and `width` count from 1 in the order of the library's lists; 0 leaves the choice to the planner. A
/// negative `max_memory` stands for no limit. `bits` and `fingerprint_bits` are those of a function.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn builder(
    what: u32,
    target: u32,
    amount: f64,
    variant: usize,
    width: usize,
    is_thorough: bool,
    overhead: f64,
    key_seed: u64,
    max_memory: f64,
    bits: u32,
    fingerprint_bits: u32,
) -> *mut Builder {
    let mut options = BuildOptions::default();
    options.variant = Variant::ALL.get(variant.wrapping_sub(1)).copied();
    options.width = Width::ALL.get(width.wrapping_sub(1)).copied();
    options.effort = if is_thorough { Effort::Thorough } else { Effort::Normal };
    options.overhead = overhead;
    options.key_seed = key_seed;
    options.max_memory = (max_memory >= 0.0).then_some(max_memory as u64);
    let builder = match what {
        2 => Builder::Exact(ExactSet::builder().options(options).progress(report)),
        3 => {
            let builder = Function::builder().options(options).progress(report);
            Builder::Function(builder.value_bits(bits).fingerprint_bits(fingerprint_bits))
        }
        _ => {
            let builder = Filter::builder().options(options).progress(report);
            Builder::Filter(match target {
                1 => builder.false_positive_rate(amount),
                2 => builder.bits_per_key(amount),
                3 => builder.total_bytes(amount as u64),
                4 => builder.columns(amount),
                _ => builder,
            })
        }
    };
    Box::into_raw(Box::new(builder))
}

/// Adds hashes to a filter, or to one side of an exact set.
///
/// # Safety
/// `builder` is a handle, and `key_hashes` has `count` elements.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn push_hashes(
    builder: *mut Builder,
    key_hashes: *const u64,
    count: usize,
    is_other: bool,
) {
    // SAFETY: as the caller guarantees.
    let (builder, key_hashes) =
        unsafe { (&mut *builder, slice::from_raw_parts(key_hashes, count)) };
    let key_hashes = key_hashes.iter().copied();
    match builder {
        Builder::Filter(builder) => builder.extend_hashes(key_hashes),
        Builder::Exact(builder) if is_other => builder.extend_other_hashes(key_hashes),
        Builder::Exact(builder) => builder.extend_member_hashes(key_hashes),
        Builder::Function(_) => {}
    }
}

/// Adds hashes to one side of a group of an exact set.
///
/// # Safety
/// As for [`push_hashes`].
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn push_hashes_in(
    builder: *mut Builder,
    group_hash: u64,
    key_hashes: *const u64,
    count: usize,
    is_other: bool,
) {
    // SAFETY: as the caller guarantees.
    let (builder, key_hashes) =
        unsafe { (&mut *builder, slice::from_raw_parts(key_hashes, count)) };
    let Builder::Exact(builder) = builder else { return };
    for &key_hash in key_hashes {
        match is_other {
            true => builder.push_other_hash_in(group_hash, key_hash),
            false => builder.push_member_hash_in(group_hash, key_hash),
        }
    }
}

/// Adds hashes with their values to a static function.
///
/// # Safety
/// `builder` is a handle, `key_hashes` and `values` have `count` elements.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn push_pairs(
    builder: *mut Builder,
    key_hashes: *const u64,
    values: *const u64,
    count: usize,
) {
    // SAFETY: as the caller guarantees.
    let (builder, key_hashes, values) = unsafe {
        let values = slice::from_raw_parts(values, count);
        (&mut *builder, slice::from_raw_parts(key_hashes, count), values)
    };
    if let Builder::Function(builder) = builder {
        builder.extend_hashes(key_hashes.iter().copied().zip(values.iter().copied()));
    }
}

/// Plans a filter or a function of `keys` keys. Returns a figure: 0 bytes, 1 rate, 2 bytes of memory
/// that the build takes; NaN after a failure, and for an exact set.
///
/// # Safety
/// `builder` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn plan(builder: *const Builder, keys: f64, figure: u32) -> f64 {
    // SAFETY: the caller passes a handle that is not freed.
    let planned = match unsafe { &*builder } {
        Builder::Filter(builder) => builder.plan_for(keys as u64),
        Builder::Function(builder) => builder.plan_for(keys as u64),
        Builder::Exact(_) => return f64::NAN,
    };
    match planned {
        Ok(plan) => match figure {
            0 => plan.size_in_bytes() as f64,
            1 => plan.expected_rate(),
            _ => plan.peak_memory() as f64,
        },
        Err(error) => {
            fail(&error);
            f64::NAN
        }
    }
}

/// Builds, and frees the builder in any case. Returns the structure, or null.
///
/// # Safety
/// `builder` is a handle, and is not used again.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn finish(builder: *mut Builder) -> *mut Structure {
    // SAFETY: the handle is the address of a box, and the caller gives it up.
    let built = match *unsafe { Box::from_raw(builder) } {
        Builder::Filter(builder) => builder.finish().map(Structure::Filter),
        Builder::Exact(builder) => builder.finish().map(Structure::Exact),
        Builder::Function(builder) => builder.finish().map(Structure::Function),
    };
    match built {
        Ok(structure) => Box::into_raw(Box::new(structure)),
        Err(error) => {
            fail(&error);
            core::ptr::null_mut()
        }
    }
}

/// Frees a builder.
///
/// # Safety
/// `builder` is a handle, and is not used again.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn discard(builder: *mut Builder) {
    // SAFETY: the handle is the address of a box, and the caller gives it up.
    drop(unsafe { Box::from_raw(builder) });
}
