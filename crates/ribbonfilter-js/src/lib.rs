//! The WebAssembly part of the npm package `ribbonfilter`.
//!
//! A thin layer of `extern "C"` functions over the library, made for one caller: the glue in
//! `package/src`, which checks all arguments, so that pointers, counts and handles are trusted here.
//! The bytes of a filter are not: the library checks them.
//!
//! - **Handles are addresses.** `open` and `finish` return the address of a boxed
//!   [`Structure`](structure::Structure), `builder` that of a builder; 0 stands for a failure.
//! - **Errors are values.** After a failure, [`error_kind`](error::error_kind) says which class of
//!   error it is, and the other functions of [`error`] what its message says.
//! - **Keys arrive hashed or as bytes**: [`hash_keys`](hash::hash_keys) hashes a batch of keys from one
//!   buffer, and everything else takes hashes, 8 bytes each.
//! - **64-bit numbers are `f64`** where they are counts, since JavaScript turns every `i64` into a
//!   BigInt.
//!
//! The module for queries is built without the feature `build`; the linker then leaves out all of the
//! library that only builders use. On other targets than wasm32 this is an ordinary library, so that
//! lints and tests of the workspace include it; there its functions are not exported, since some have the
//! names of functions of C.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![expect(unsafe_code, reason = "addresses from JavaScript")]

extern crate alloc;

#[cfg(any(target_arch = "wasm32", test))]
mod allocator;
#[cfg(feature = "build")]
pub mod builder;
pub mod error;
pub mod hash;
pub mod memory;
pub mod query;
pub mod structure;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: allocator::Allocator<allocator::Memory> =
    allocator::Allocator::new(allocator::Memory);

/// Traps. The message of a panic is not used, so that the code that formats it is left out; JavaScript
/// catches the trap as a `WebAssembly.RuntimeError`.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
