//! See `src/open.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ribbonfilter_fuzz::open::run(bytes));
