//! Builds a filter from a list of keys, queries it, and compares its promises with the results.
//!
//! ```text
//! cargo run --release --example primes
//! ```

use ribbonfilter::Filter;

/// The primes below 200,000, one per line.
const PRIMES: &str = include_str!("primes.txt");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filter = Filter::build(PRIMES.lines(), 0.01)?;

    for number in ["7919", "7920"] {
        let answer = if filter.contains(number) { "maybe a prime" } else { "not a prime" };
        println!("{number}: {answer}");
    }

    // Every prime must be found; about one in a hundred absent keys may be a false positive.
    let missing = PRIMES.lines().filter(|prime| !filter.contains(prime)).count();
    let absent = 200_000..10_200_000;
    let probes = absent.len() as f64;
    let positives = absent.filter(|number| filter.contains(number.to_string())).count();
    let measured = positives as f64 / probes;
    let overhead = filter.bits_per_key() / -measured.log2() - 1.0;

    println!("{} keys, {} missing", filter.len(), missing);
    println!("{} bytes, {:.3} bits per key", filter.size_in_bytes(), filter.bits_per_key());
    println!("false-positive rate {:.5} expected, {measured:.5} measured", filter.expected_rate());
    println!("{:.2} % more than the least that any filter of this rate takes", overhead * 100.0);
    assert_eq!(missing, 0, "a filter never forgets a key");
    Ok(())
}
