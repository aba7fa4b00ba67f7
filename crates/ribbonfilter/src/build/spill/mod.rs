//! Keys that are not in memory: in a file, or nowhere without the standard library.

#[cfg(feature = "std")]
mod file;
#[cfg(not(feature = "std"))]
mod nowhere;
#[cfg(feature = "std")]
mod unnamed_file;

#[cfg(feature = "std")]
pub(crate) use file::{Directory, Spill};
#[cfg(not(feature = "std"))]
pub(crate) use nowhere::{Directory, Spill};
