//! On the fly: keys are added to a system until one fails (paper, section 3). Table 1, smash and
//! the natural size of a shard are all measured like this.

use super::{Random, equation};
use crate::banding::{Banding, Insertion};
use crate::width::with_word;
use crate::{Starts, Width};

/// The number of keys that a system takes until one depends on the preceding ones.
pub fn keys_until_failure(width: Width, slots: u64, smash: u64, random: &mut Random) -> u64 {
    let starts = Starts::new(slots, width, smash);
    with_word!(width, W => {
        let mut banding = Banding::<W, ()>::new(slots);
        let fits = |hash: &u64| banding.insert(equation(&starts, *hash, ())) != Insertion::Redundant;
        random.take_while(fits).count() as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;
    use crate::simulate::homogeneous;

    /// It is the longest prefix that fits: all keys before the failure are independent, and the
    /// next is not.
    #[test]
    fn the_longest_prefix_is_found() {
        for seed in 0..20 {
            let taken = keys_until_failure(Width::W64, 640, 16, &mut Random::new(seed));
            assert!(taken > 500 && taken <= 640, "{taken}");
            let hashes = hashes(taken as usize + 1, seed);
            let rank = |keys: usize| homogeneous::<u64>(640, 16, &hashes[..keys]).rank();
            assert_eq!((rank(taken as usize), rank(taken as usize + 1)), (taken, taken));
        }
    }
}
