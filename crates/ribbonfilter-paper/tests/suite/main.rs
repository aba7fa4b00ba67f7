//! What a user relies on, for every variant and width.

mod hashes;
mod members;
mod rates;

use ribbonfilter_paper::{Filter, Settings, Variant, Width};

/// Builds a filter with the default settings.
fn build(variant: Variant, width: Width, columns: f64, hashes: &[u64]) -> Filter {
    let settings = Settings::new(variant, width, columns);
    Filter::from_hashes(&settings, hashes)
        .unwrap_or_else(|error| panic!("{variant}, w = {width}, {}: {error}", hashes.len()))
}

/// Calls `check` for every variant and width.
fn for_all(check: impl Fn(Variant, Width)) {
    for variant in Variant::ALL {
        for width in Width::ALL {
            check(variant, width);
        }
    }
}
