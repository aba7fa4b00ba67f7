//! The mathematics that construction and queries share: which slots a key's equation has, where
//! their bits are stored, and which false-positive rate results. This module uses nothing else
//! of this crate.

pub(crate) mod equation;
pub(crate) mod layers;
pub(crate) mod layout;
mod parse;
pub(crate) mod range;
pub(crate) mod rate;
pub(crate) mod search;
pub(crate) mod shape;
mod variant;
pub(crate) mod width;

pub use parse::ParseError;
pub use variant::Variant;
pub use width::Width;
