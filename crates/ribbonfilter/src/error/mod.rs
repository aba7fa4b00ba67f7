//! What can go wrong, and what to do about it: one file an error.
//!
//! Every variant's message names the cause with its figures and ends with the way out.

mod assemble;
mod build;
mod join;
mod kind;
mod open;
mod shrink;

pub use assemble::AssembleError;
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

from_out_of_memory!(AssembleError, BuildError, JoinError, OpenError, ShrinkError);
