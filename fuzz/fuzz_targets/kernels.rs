//! See `src/kernels.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ribbonfilter_fuzz::kernels::run(bytes));
