//! Opens untrusted bytes as every kind of file: unchanged, with correct checksums, and with the
//! length that their footer declares.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ribbonfilter_fuzz::{fitted, probes, query_everything, sealed};

fuzz_target!(|bytes: &[u8]| {
    let probes = probes();
    query_everything(bytes, &probes);
    query_everything(&sealed(bytes), &probes);
    if let Some(fitted) = fitted(bytes) {
        query_everything(&sealed(&fitted), &probes);
    }
});
