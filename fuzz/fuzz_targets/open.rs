//! Opens untrusted bytes as every kind of file: unchanged, with correct checksums, and with the
//! length that their footer declares.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ribbonfilter_fuzz::{ask_everything, fitted, probes, sealed};

fuzz_target!(|bytes: &[u8]| {
    let probes = probes();
    ask_everything(bytes, &probes);
    ask_everything(&sealed(bytes), &probes);
    if let Some(fitted) = fitted(bytes) {
        ask_everything(&sealed(&fitted), &probes);
    }
});
