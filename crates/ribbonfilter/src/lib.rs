//! Ribbon filters.
#![no_std]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod arch;
mod back_substitution;
mod banding;
mod builder;
mod bytes;
mod construct;
mod equation;
mod error;
mod filter;
mod format;
pub mod key;
mod layout;
mod plan;
mod progress;
mod rate;
mod shape;
#[doc(hidden)]
pub mod simulate;
mod variant;
mod width;

pub use builder::FilterBuilder;
pub use bytes::OwnedBytes;
pub use error::{BuildError, OpenError};
pub use filter::Filter;
pub use key::Key;
pub use plan::Plan;
pub use progress::{Control, Phase, Progress};
pub use variant::Variant;
pub use width::Width;
