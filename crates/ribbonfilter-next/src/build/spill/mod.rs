//! Keys that are spilled to a file. Unsupported without the standard library.

#[cfg(feature = "std")]
mod file;
#[cfg(feature = "std")]
pub(crate) mod unnamed_file;
#[cfg(not(feature = "std"))]
mod unsupported;

#[cfg(feature = "std")]
pub(crate) use file::{Directory, Spill};
#[cfg(not(feature = "std"))]
pub(crate) use unsupported::{Directory, Spill};
