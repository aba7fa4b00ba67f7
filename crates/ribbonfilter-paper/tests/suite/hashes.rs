//! Hashes that were chosen, not drawn: they may cost slots, but neither keys nor much time.

use ribbonfilter_paper::hash::Seeded;
use ribbonfilter_paper::random::Random;
use ribbonfilter_paper::{Filter, Settings, Variant, Width};

/// All keys start in the first sixteenth of the system under seed 0: another seed helps Standard,
/// Balanced and soft shards, the second layer helps Bumped, and the rate of Homogeneous says it.
#[test]
fn hashes_chosen_against_seed_0() {
    let chosen = |hash: &u64| Seeded::new(*hash, 0).0 >> 60 == 0;
    let hashes: Vec<u64> = Random::new(1).filter(chosen).take(3000).collect();
    for variant in Variant::ALL {
        let settings = Settings::new(variant, Width::W64, 6.0);
        let filter = Filter::from_hashes(&settings, &hashes).expect("another seed");
        assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "{variant}");
        let slots = filter.ribbon().slots();
        assert!(slots < 3 * 3000, "{variant}: {slots}");
        if variant == Variant::Homogeneous {
            let rate = filter.rate();
            assert!(rate > 0.05, "{rate}");
            let absent = Random::new(2).take(1 << 16);
            let found = absent.filter(|&hash| filter.contains_hash(hash)).count() as f64;
            assert!((found / f64::from(1 << 16) / rate - 1.0).abs() < 0.05, "{found}, {rate}");
        }
    }
}
