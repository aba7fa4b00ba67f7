//! What can go wrong, and what to do about it: one file per error.
//!
//! Every variant's message names the cause with its figures and ends with the way out.

#[cfg(any(test, feature = "build"))]
mod build;
mod join;
mod kind;
mod open;
mod shrink;

#[cfg(any(test, feature = "build"))]
pub use build::BuildError;
pub use join::JoinError;
pub use kind::Kind;
pub use open::OpenError;
pub use shrink::ShrinkError;

/// An allocation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory {
    bytes: usize,
}

impl OutOfMemory {
    /// The number of bytes that were refused.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes }
    }
}

macro_rules! from_out_of_memory {
    ($($error:ident),*) => {$(
        impl From<OutOfMemory> for $error {
            fn from(error: OutOfMemory) -> Self {
                Self::OutOfMemory { bytes: error.bytes }
            }
        }
    )*};
}

#[cfg(any(test, feature = "build"))]
from_out_of_memory!(BuildError);
from_out_of_memory!(JoinError, OpenError, ShrinkError);

/// Errors that include an error of the system in their message: their source is only what caused
/// that one.
macro_rules! with_io {
    ($($error:ident: $io:pat => $cause:expr;)*) => {$(
        impl core::error::Error for $error {
            fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
                match self {
                    #[cfg(feature = "std")]
                    $io => $cause.source(),
                    _ => None,
                }
            }
        }

        #[cfg(feature = "std")]
        impl From<std::io::Error> for $error {
            fn from(error: std::io::Error) -> Self {
                Self::Io(error)
            }
        }
    )*};
}

#[cfg(any(test, feature = "build"))]
with_io! {
    BuildError: Self::Io(error) | Self::Spill { error, .. } => error;
}
with_io! {
    JoinError: Self::Io(error) => error;
    OpenError: Self::Io(error) => error;
}
