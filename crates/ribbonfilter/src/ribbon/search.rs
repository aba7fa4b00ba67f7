//! Binary search.

/// The first number in `0..len` for which `holds` is false, or `len`. `holds` must be false for all
/// numbers after it; if it is not, the result is any number in `0..=len`.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub(crate) fn partition_point(len: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_points_are_found() {
        for len in 0..20 {
            for point in 0..=len {
                assert_eq!(partition_point(len, |index| index < point), point);
            }
        }
    }
}
