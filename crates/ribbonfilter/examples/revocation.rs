//! Exact membership within a known universe: which of all issued certificates are revoked?
//!
//! Every issuer is a group of its own, because their fractions of revoked certificates differ by
//! orders of magnitude. Browsers ship lists of revoked certificates in this way.
//!
//! Run with `cargo run --release --example revocation`.

use ribbonfilter::{BuildError, ExactSet, Membership};

const ISSUERS: u64 = 20;
const ISSUED: u64 = 100_000;

/// Whether a certificate is revoked: the knowledge of the issuing authority. Issuer `i` revokes
/// one certificate in `3 * 2^i`, roughly.
fn is_revoked(issuer: u64, serial: u64) -> bool {
    let random = (serial ^ issuer << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (random ^ random >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 < (1 << 32) / (3 << issuer)
}

fn certificates() -> impl Iterator<Item = (u64, u64)> {
    (0..ISSUERS).flat_map(|issuer| (0..ISSUED).map(move |serial| (issuer, serial)))
}

fn main() -> Result<(), BuildError> {
    let revoked = certificates().filter(|&(issuer, serial)| is_revoked(issuer, serial));
    // The others are read twice instead of being kept in memory.
    let others = || certificates().filter(|&(issuer, serial)| !is_revoked(issuer, serial));
    let list = ExactSet::builder().build_with_groups(revoked, others)?;

    for (issuer, serial) in certificates() {
        let expected = Membership::from(is_revoked(issuer, serial));
        assert_eq!(list.contains_in(issuer, serial), expected);
    }
    assert_eq!(list.contains_in("an issuer that nobody knows", 1), Membership::UnknownGroup);

    let (revoked, issued) = (list.len(), list.universe_len());
    println!("{revoked} of {issued} certificates are revoked, and every result is right");
    println!("{} bytes, {:.3} bits per revoked one", list.size_in_bytes(), list.bits_per_member());
    println!("{:.2} % above the least possible size", list.overhead() * 100.0);
    Ok(())
}
