//! The mathematics that builds and queries share: equations, systems, buckets.
//!
//! Pure arithmetic: nothing here allocates, reads memory or knows a CPU.

pub(crate) mod bucket;
pub(crate) mod equation;
mod parse;
pub(crate) mod rate;
pub(crate) mod system;
pub(crate) mod variant;
pub(crate) mod width;

pub use parse::ParseError;
pub use variant::Variant;
pub use width::Width;
