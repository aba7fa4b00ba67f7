//! Exact membership within a known universe: which of all issued certificates are revoked?
//!
//! A filter of the revoked certificates has false positives, but because the universe is known, all
//! of them can be listed in advance. A second structure, a function with one-bit values,
//! distinguishes the revoked certificates from these false positives. Together they are exact for
//! every issued certificate, and take little more space than the theoretical minimum. Browsers
//! ship lists of revoked certificates in this way.
//!
//! Run with `cargo run --release --example revocation`.

use ribbonfilter::{BuildError, Filter, Function};
use std::f64::consts::LN_2;

const ISSUED: u64 = 2_000_000;
/// One of this many certificates is revoked.
const REVOKED: u64 = 100;

struct Revocations {
    /// Returns `false` for most certificates that are not revoked.
    filter: Filter,
    /// 1 for revoked certificates, 0 for the false positives of the filter.
    exact: Function,
}

impl Revocations {
    fn build(issued: impl Iterator<Item = u64> + Clone) -> Result<Self, BuildError> {
        let revoked: Vec<u64> = issued.clone().filter(is_revoked).collect();
        // One more column in the filter costs one bit per revoked certificate, and halves the false
        // positives in the function. This rate minimises the sum.
        let others = issued.clone().count() - revoked.len();
        let rate = (revoked.len() as f64 / (others as f64 * LN_2)).min(0.5);
        let filter = Filter::build(&revoked, rate)?;
        let passing = issued.filter(|certificate| filter.contains(certificate));
        let pairs = passing.map(|certificate| (certificate, is_revoked(&certificate).into()));
        let exact = Function::build(pairs, 1)?;
        Ok(Self { filter, exact })
    }

    fn contains(&self, certificate: u64) -> bool {
        self.filter.contains(certificate) && self.exact.get(certificate) == 1
    }
}

fn main() -> Result<(), BuildError> {
    let issued = (0..ISSUED).map(serial);
    let list = Revocations::build(issued.clone())?;
    assert!(
        issued.clone().all(|certificate| list.contains(certificate) == is_revoked(&certificate))
    );

    let revoked = issued.filter(is_revoked).count() as u64;
    let sizes = [list.filter.size_in_bytes(), list.exact.size_in_bytes()];
    let bits = |bytes: usize| bytes as f64 * 8.0 / revoked as f64;
    // Any exact list identifies one of `binomial(ISSUED, revoked)` sets. The sum is the
    // logarithm of this number.
    let least: f64 =
        (0..revoked).map(|k| ((ISSUED - k) as f64 / (revoked - k) as f64).log2()).sum();
    let (all, least) = (bits(sizes[0] + sizes[1]), least / revoked as f64);
    println!("{revoked} of {ISSUED} certificates are revoked, and every answer is right");
    println!("filter    {:>7} bytes  {:.3} bits a revoked one", sizes[0], bits(sizes[0]));
    println!("function  {:>7} bytes  {:.3}", sizes[1], bits(sizes[1]));
    println!("together  {:>7} bytes  {all:.3}", sizes[0] + sizes[1]);
    println!(
        "the least that any list takes  {least:.3}, {:.1} % less",
        (1.0 - least / all) * 100.0
    );
    Ok(())
}

/// The serial number of a certificate.
fn serial(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Whether a certificate is revoked: the knowledge of the issuing authority.
fn is_revoked(serial: &u64) -> bool {
    (serial ^ serial >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 < (1 << 32) / REVOKED
}
