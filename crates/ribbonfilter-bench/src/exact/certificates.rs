//! Simulated revocation: many certificates of issuers whose rates of revocation differ, read
//! several times and never kept.

use super::universe::{Issuer, issuers};
use crate::machine::Machine;
use crate::random::distinct;
use crate::spill::{reset_peak, resident};
use ribbonfilter::{ExactSet, Membership};
use std::time::Instant;

/// Calls `each` with the group and the hash of every key, and whether it is a member.
fn for_each_key(issuers: &[Issuer], mut each: impl FnMut(u64, u64, bool)) {
    let mut number = 0;
    for issuer in issuers {
        for index in 0..issuer.keys {
            each(issuer.group, distinct(number), index < issuer.members);
            number += 1;
        }
    }
}

/// Builds a set of `revoked` among `certificates` keys, and checks all of them.
pub fn run(certificates: u64, count: u64, revoked: u64, threads: usize) -> Result<(), String> {
    let issuers = issuers(count, certificates, revoked);
    let initial = reset_peak();
    let start = Instant::now();
    let mut builder = ExactSet::builder().threads(threads).kernel(crate::kernel());
    for_each_key(&issuers, |group, hash, is_member| {
        if is_member {
            builder.push_member_hash_in(group, hash);
        }
    });
    let set = builder.finish_with(|others| {
        for_each_key(&issuers, |group, hash, is_member| {
            if !is_member {
                others.push_hash_in(group, hash);
            }
        });
        Ok(())
    });
    let seconds = start.elapsed().as_secs_f64();
    let peak = resident("VmHWM").saturating_sub(initial);
    let set = set.map_err(|error| error.to_string())?.with_kernel(crate::kernel());

    let start = Instant::now();
    let (mut keys, mut wrong) = (0u64, 0u64);
    for_each_key(&issuers, |group, hash, is_member| {
        keys += 1;
        wrong += u64::from(set.contains_hash_in_group(group, hash) != Membership::from(is_member));
    });
    let queried = start.elapsed().as_secs_f64();
    println!("{}", Machine::this());
    println!(
        "{} certificates of {} issuers, {} revoked: {} bytes, {:.2} % above the lower bound of {:.0}",
        set.universe_len(),
        set.groups(),
        set.len(),
        set.size_in_bytes(),
        set.overhead() * 100.0,
        set.lower_bound_bits() / 8.0,
    );
    println!(
        "    built in {seconds:.1} s, {:.1} ns per certificate; resident set at most {:.1} MB; \
         queries {:.1} ns; {wrong} of {keys} wrong",
        seconds * 1e9 / keys as f64,
        peak as f64 / 1e6,
        queried * 1e9 / keys as f64,
    );
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} results are wrong")),
    }
}
