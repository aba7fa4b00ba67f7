//! Query kernels. One surface: the answers of all columns at once.
//!
//! A kernel takes the bytes, where they lie ([`Layout`](crate::layout::Layout)), a slot
//! and the coefficients, and gives the parity of each column as one bit. It knows
//! nothing of keys or variants.

mod portable;

pub(crate) use portable::parities;
