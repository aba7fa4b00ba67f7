//! See `src/filter.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: ribbonfilter_fuzz::filter::Input| {
    ribbonfilter_fuzz::filter::run(input)
});
