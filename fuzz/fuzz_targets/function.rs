//! See `src/function.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: ribbonfilter_fuzz::function::Input| {
    ribbonfilter_fuzz::function::run(input)
});
