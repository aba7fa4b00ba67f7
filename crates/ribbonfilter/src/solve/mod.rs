//! Linear systems over the field of two elements whose rows have their ones within a window of `w`
//! slots: elimination and back substitution.
//!
//! [`banding`] inserts equations one by one (paper, Algorithm 1). [`four_russians`] and
//! [`byte_sliced`] eliminate many in a batch, the former in portable code, the latter with SIMD.
//! All produce the same solution.

pub(crate) mod back_substitution;
pub(crate) mod banding;
mod bit_matrix;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no code for this target"))]
pub(crate) mod byte_sliced;
pub(crate) mod four_russians;
pub(crate) mod right_side;

/// The lanes that pass a panel of eight rows in a sweep: those from `head` to `tail`. Lanes from
/// `before` on start in the panel.
#[derive(Clone, Copy, Default)]
struct UnderWay {
    panel: usize,
    head: usize,
    before: usize,
    tail: usize,
}
