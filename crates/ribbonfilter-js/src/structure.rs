//! What can be opened: a filter or a container of shards, a part, an exact set, a static function.

use crate::error;
use alloc::boxed::Box;
use ribbonfilter::{ExactSet, Filter, Function, Kind, OpenError, OwnedBytes, Part, Shards};

/// An opened structure.
pub enum Structure {
    /// One filter.
    Filter(Filter),
    /// A container of shards, which JavaScript sees as a filter.
    Shards(Shards),
    /// A part of a filter.
    Part(Part),
    /// An exact set.
    Exact(ExactSet),
    /// A static function.
    Function(Function),
}

/// Calls a method that all structures have.
macro_rules! each {
    ($structure:expr, $inner:ident => $call:expr) => {
        match $structure {
            Structure::Filter($inner) => $call,
            Structure::Shards($inner) => $call,
            Structure::Part($inner) => $call,
            Structure::Exact($inner) => $call,
            Structure::Function($inner) => $call,
        }
    };
}

impl Structure {
    fn open(bytes: OwnedBytes, expected: u32) -> Result<Self, OpenError> {
        match expected {
            1 => Part::open(bytes).map(Self::Part),
            2 => ExactSet::open(bytes).map(Self::Exact),
            3 => Function::open(bytes).map(Self::Function),
            // `open` consumes the bytes even if it fails, so the kind is found out first.
            _ => match Filter::open(bytes.as_ref()) {
                Err(OpenError::WrongKind { found: Kind::Container, .. }) => {
                    Shards::open(bytes).map(Self::Shards)
                }
                Err(error) => Err(error),
                Ok(_) => Filter::open(bytes).map(Self::Filter),
            },
        }
    }

    pub(crate) fn key_seed(&self) -> u64 {
        each!(self, inner => inner.key_seed())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        each!(self, inner => inner.as_bytes())
    }

    fn verify(&self) -> Result<(), OpenError> {
        each!(self, inner => inner.verify())
    }

    /// A property, by the number that the glue knows. NaN if the structure does not have it.
    fn property(&self, number: u32) -> f64 {
        match (number, self) {
            (0, Self::Filter(filter)) => filter.len() as f64,
            (0, Self::Shards(shards)) => shards.len() as f64,
            (0, Self::Part(part)) => part.filter_len() as f64,
            (0, Self::Exact(set)) => set.len() as f64,
            (0, Self::Function(function)) => function.len() as f64,
            (1, Self::Filter(filter)) => filter.expected_rate(),
            (1, Self::Shards(shards)) => shards.expected_rate(),
            (1, Self::Part(part)) => part.filter_rate(),
            (2, Self::Filter(filter)) => filter.columns(),
            (2, Self::Shards(shards)) => shards.columns(),
            (3, Self::Filter(filter)) => f64::from(filter.width().bits()),
            (3, Self::Shards(shards)) => f64::from(shards.width().bits()),
            (3, Self::Part(part)) => f64::from(part.width().bits()),
            (3, Self::Function(function)) => f64::from(function.width().bits()),
            (4, Self::Filter(filter)) => f64::from(filter.variant() as u32),
            (4, Self::Shards(shards)) => f64::from(shards.variant() as u32),
            (4, Self::Part(part)) => f64::from(part.variant() as u32),
            (4, Self::Function(function)) => f64::from(function.variant() as u32),
            (5, Self::Shards(shards)) => shards.shard_count() as f64,
            (5, Self::Filter(_)) => 1.0,
            (5, Self::Part(part)) => part.part_count() as f64,
            (6, Self::Part(part)) => part.number() as f64,
            (7, Self::Exact(set)) => set.universe_len() as f64,
            (8, Self::Exact(set)) => set.groups() as f64,
            (9, Self::Function(function)) => f64::from(function.value_bits()),
            (10, Self::Function(function)) => f64::from(function.fingerprint_bits()),
            _ => f64::NAN,
        }
    }
}

/// Passes a structure, or the reason why there is none, to JavaScript.
pub(crate) fn handed_out(opened: Result<Structure, OpenError>) -> *mut Structure {
    match opened {
        Ok(structure) => Box::into_raw(Box::new(structure)),
        Err(error) => {
            error::set_open(&error);
            core::ptr::null_mut()
        }
    }
}

/// Opens a buffer, and takes it over in any case. `expected`: 0 for a filter or a container of
/// shards, 1 for a part, 2 for an exact set, 3 for a static function.
///
/// # Safety
/// `buffer` is a handle from [`buffer`](crate::memory::buffer), and is not used again.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn open(buffer: *mut OwnedBytes, expected: u32) -> *mut Structure {
    // SAFETY: the handle is the address of a box, and the caller gives it up.
    let bytes = unsafe { Box::from_raw(buffer) };
    handed_out(Structure::open(*bytes, expected))
}

/// Frees a structure.
///
/// # Safety
/// `structure` is a handle, and is not used again.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn close(structure: *mut Structure) {
    // SAFETY: the handle is the address of a box, and the caller gives it up.
    drop(unsafe { Box::from_raw(structure) });
}

/// Reads all bytes and compares the checksums. Returns whether they are intact.
///
/// # Safety
/// `structure` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn verify(structure: *const Structure) -> bool {
    // SAFETY: the caller passes a handle that is not freed.
    let verified = unsafe { &*structure }.verify();
    verified.inspect_err(error::set_open).is_ok()
}

/// The address of the bytes.
///
/// # Safety
/// `structure` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn bytes(structure: *const Structure) -> *const u8 {
    // SAFETY: the caller passes a handle that is not freed.
    unsafe { &*structure }.as_bytes().as_ptr()
}

/// The number of bytes.
///
/// # Safety
/// `structure` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn byte_length(structure: *const Structure) -> usize {
    // SAFETY: the caller passes a handle that is not freed.
    unsafe { &*structure }.as_bytes().len()
}

/// The seed under which keys are hashed.
///
/// # Safety
/// `structure` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn key_seed(structure: *const Structure) -> u64 {
    // SAFETY: the caller passes a handle that is not freed.
    unsafe { &*structure }.key_seed()
}

/// A property: 0 keys, 1 rate, 2 columns, 3 width, 4 variant, 5 shards or parts, 6 number of the part,
/// 7 keys of the universe, 8 groups, 9 bits of a value, 10 bits of a fingerprint. NaN if the structure
/// does not have it.
///
/// # Safety
/// `structure` is a handle.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn property(structure: *const Structure, number: u32) -> f64 {
    // SAFETY: the caller passes a handle that is not freed.
    unsafe { &*structure }.property(number)
}
