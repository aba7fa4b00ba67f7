//! Opens untrusted bytes as every kind of file: unchanged, with correct checksums, and with the
//! length that their footer declares.

use crate::{fitted, probes, query_everything, sealed};

/// Runs the target.
pub fn run(bytes: &[u8]) {
    let probes = probes();
    query_everything(bytes, &probes);
    query_everything(&sealed(bytes), &probes);
    if let Some(fitted) = fitted(bytes) {
        query_everything(&sealed(&fitted), &probes);
    }
}
