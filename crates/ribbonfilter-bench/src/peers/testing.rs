//! Checks of the filters that are written for the comparison.

use crate::race::Peer;
use crate::random::Random;

/// Checks that a filter finds all its keys, and that its rate and bits per key are the expected
/// ones.
pub fn check(peer: &dyn Peer, keys: usize, rate: f64, bits_per_key: f64) {
    let name = peer.name();
    let inserted: Vec<u64> = Random::new(1).take(keys).collect();
    let filter = peer.build(&inserted);
    assert_eq!(filter.count(&inserted), keys, "{name}: a key is missing");

    let queries = 1 << 22;
    let absent: Vec<u64> = Random::new(2).take(queries).collect();
    let found = filter.count(&absent) as f64;
    let expected = rate * queries as f64;
    // Five standard deviations, and 3 % for the filters' own fluctuation.
    let error = 5.0 * expected.sqrt() + 0.03 * expected + 1.0;
    assert!((found - expected).abs() < error, "{name}: {found} found, {expected:.1} expected");

    let bits = filter.size().bytes as f64 * 8.0 / keys as f64;
    // Up to 64 bytes of padding.
    let padding = 64.0 * 8.0 / keys as f64;
    assert!(
        bits < bits_per_key * 1.003 + padding && bits > bits_per_key * 0.997,
        "{name}: {bits} bits per key, {bits_per_key} expected"
    );
}
