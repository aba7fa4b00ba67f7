//! See `src/exact.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    |input: ribbonfilter_fuzz::exact::Input| ribbonfilter_fuzz::exact::run(input)
);
