//! A static function: stores the lengths of a million words of an artificial language, 4 bits each,
//! without the words. With fingerprints it also detects keys that are not in the set.
//!
//! Run with `cargo run --release --example function`.

use ribbonfilter::{BuildError, Function};

fn main() -> Result<(), BuildError> {
    let words: Vec<String> = (0..1_000_000).map(word).collect();
    let lengths = words.iter().map(|word| (word, word.len() as u64));

    let plain = Function::build(lengths.clone(), 4)?;
    assert!(words.iter().all(|word| plain.get(word) == word.len() as u64));
    println!("values alone: {:.3} bits per key for 4 bits of value", plain.bits_per_key());

    let mut builder = Function::builder().value_bits(4).fingerprint_bits(8);
    builder.extend(lengths);
    let careful = builder.finish()?;
    assert!(words.iter().all(|word| careful.lookup(word) == Some(word.len() as u64)));
    let strangers = (0..1_000_000).map(|number| format!("no-{number}"));
    let mistaken = strangers.filter(|stranger| careful.lookup(stranger).is_some()).count();
    println!(
        "with 8 bits of fingerprint: {:.3} bits per key, {mistaken} of 1000000 strangers found",
        careful.bits_per_key(),
    );

    match Function::build([("ada", 36), ("grace", 85), ("ada", 63)], 7) {
        Err(error) => println!("two values for one key: {error}"),
        Ok(_) => unreachable!("no function has two values for one key"),
    }
    Ok(())
}

/// The word with the given number, with one syllable per digit.
fn word(number: u32) -> String {
    const SYLLABLES: [&str; 10] = ["ka", "lu", "mo", "ni", "pe", "ra", "si", "to", "vu", "z"];
    number.to_string().bytes().map(|digit| SYLLABLES[usize::from(digit - b'0')]).collect()
}
