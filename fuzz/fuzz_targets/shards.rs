//! See `src/shards.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: ribbonfilter_fuzz::shards::Input| {
    ribbonfilter_fuzz::shards::run(input)
});
