//! Writes what JavaScript must agree with: `expected.txt`, one line per case, which the tests in
//! `tests/node` read. This test compares it with the library; set `RIBBONFILTER_WRITE_EXPECTED` to
//! write it again.

use ribbonfilter::{
    Effort, ExactSet, Filter, Function, Key, Membership, Part, Shards, Variant, Width,
};
use std::fmt::Write;
use std::path::Path;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Texts of every length of a hash's code paths, and of every length of a character in UTF-8.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> =
        ["", "a", "ada", "Grüße", "ひらがな", "🎀 ribbon 🎗️", "\u{10ffff}\u{7ff}\u{800}"]
            .map(str::to_owned)
            .into();
    for length in [3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 255, 256, 257, 1024, 1025, 5000] {
        texts.push((0..length).map(|index| char::from(b'a' + (index * 7 % 26) as u8)).collect());
        texts.push((0..length).map(|index| if index % 5 == 0 { 'é' } else { 'x' }).collect());
        texts.push("🎀".repeat(length));
    }
    texts
}

fn key_lines(lines: &mut String) {
    for seed in [0, 1, u64::MAX] {
        for text in texts() {
            let _ = writeln!(
                lines,
                "text {} {seed} {:016x}",
                hex(text.as_bytes()),
                text.key_hash(seed)
            );
        }
        let bytes: Vec<u8> = (0..=255).collect();
        for length in [0, 1, 31, 256] {
            let key = &bytes[..length];
            let _ = writeln!(lines, "bytes {} {seed} {:016x}", hex(key), key.key_hash(seed));
        }
        for key in
            [0, 1, 255, 256, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 53) - 1, i128::from(u64::MAX)]
        {
            let _ = writeln!(lines, "integer {key} {seed} {:016x}", key.key_hash(seed));
            let negative = -key - 1;
            let _ = writeln!(lines, "integer {negative} {seed} {:016x}", negative.key_hash(seed));
        }
        for key in [1 << 64, i128::MAX as u128, 1 << 127, u128::MAX] {
            let _ = writeln!(lines, "integer {key} {seed} {:016x}", key.key_hash(seed));
        }
        let _ = writeln!(lines, "integer {} {seed} {:016x}", i128::MIN, i128::MIN.key_hash(seed));
    }
}

/// The numbers of keys around the limits of blocks, segments and layers.
const SIZES: [u64; 9] = [0, 1, 2, 64, 500, 1025, 4097, 9001, 66_001];

fn filter_lines(lines: &mut String) {
    for &variant in Variant::ALL {
        for width in Width::ALL {
            for (keys, columns) in SIZES.into_iter().zip([8.0, 3.7, 1.0, 12.25].into_iter().cycle())
            {
                let options = Filter::builder().variant(variant).width(width).columns(columns);
                let mut builder = options.key_seed(keys);
                if builder.plan_for(keys).is_ok() {
                    builder.extend(0..keys);
                    let filter = builder.finish().expect("ordinary keys build");
                    let digest = filter.as_bytes().key_hash(0);
                    let variant = variant.to_string().to_lowercase();
                    let _ =
                        writeln!(lines, "filter {keys} {variant} {width} {columns} {digest:016x}");
                }
            }
        }
    }
    for keys in SIZES {
        for (effort, name) in [(Effort::Normal, "normal"), (Effort::Thorough, "thorough")] {
            let mut builder = Filter::builder().false_positive_rate(0.003).effort(effort);
            builder.extend((0..keys).map(|key| format!("key {key}")));
            let digest = builder.finish().expect("ordinary keys build").as_bytes().key_hash(0);
            let _ = writeln!(lines, "strings {keys} {name} {digest:016x}");
        }
    }
}

fn function_lines(lines: &mut String) {
    for (keys, value_bits, fingerprint_bits) in
        [(0, 1, 0), (100, 64, 0), (1025, 16, 0), (5000, 3, 5), (5000, 20, 12), (3000, 24, 40)]
    {
        let mut builder =
            Function::builder().value_bits(value_bits).fingerprint_bits(fingerprint_bits);
        let value = |key: u64| key.key_hash(3) >> (64 - value_bits);
        builder.extend((0..keys).map(|key: u64| (key, value(key))));
        let digest = builder.finish().expect("ordinary keys build").as_bytes().key_hash(0);
        let _ = writeln!(lines, "function {keys} {value_bits} {fingerprint_bits} {digest:016x}");
    }
}

fn exact_lines(lines: &mut String) {
    for (members, others) in [(0, 0), (1, 5000), (30, 20_000), (4000, 4001), (9000, 40)] {
        let set = ExactSet::build(0..members, members..members + others).expect("distinct keys");
        let _ = writeln!(lines, "exact {members} {others} {:016x}", set.as_bytes().key_hash(0));
    }
    let mut builder = ExactSet::builder();
    for group in 0u64..40 {
        builder.extend_members_in(group, 0..10 * group);
        builder.extend_others_in(group, 10 * group..1000);
    }
    let digest = builder.finish().expect("distinct keys").as_bytes().key_hash(0);
    let _ = writeln!(lines, "groups 40 {digest:016x}");
}

/// What a structure of a golden file says of the keys from 0 to 1999.
fn results(name: &str, bytes: &[u8]) -> Vec<u8> {
    let keys = || 0..2000u64;
    if name.contains("-part-") {
        let part = Part::open(bytes).expect("a part");
        return keys()
            .map(|key| u8::from(part.contains(key)) + 2 * u8::from(part.covers_key(key)))
            .collect();
    }
    if name.contains("-exact-") {
        let set = ExactSet::open(bytes).expect("an exact set");
        let in_group = |key: u64| match set.contains_in(key % 50, key) {
            Membership::Member => 2,
            Membership::NotMember => 4,
            Membership::UnknownGroup => 6,
        };
        return keys().map(|key| u8::from(set.contains(key)) + in_group(key)).collect();
    }
    if name.contains("-function-") {
        let function = Function::open(bytes).expect("a function");
        let results = keys().flat_map(|key| {
            let value = function.get(key).to_le_bytes();
            value.into_iter().chain([u8::from(function.lookup(key).is_some())])
        });
        return results.collect();
    }
    if name.contains("-shards-") {
        let shards = Shards::open(bytes).expect("a container");
        return keys().map(|key| shards.contains(key).into()).collect();
    }
    let filter = Filter::open(bytes).expect("a filter");
    keys().map(|key| filter.contains(key).into()).collect()
}

fn golden_lines(lines: &mut String) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ribbonfilter/tests/golden");
    let files = std::fs::read_dir(directory).expect("the golden files");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    for path in paths {
        let bytes = std::fs::read(&path).expect("a golden file");
        let name = path.file_name().expect("a name").to_string_lossy();
        let _ = writeln!(lines, "golden {name} {:016x}", results(&name, &bytes).key_hash(0));
    }
}

#[test]
fn javascript_agrees_with_the_library() {
    let mut lines = String::new();
    key_lines(&mut lines);
    filter_lines(&mut lines);
    function_lines(&mut lines);
    exact_lines(&mut lines);
    golden_lines(&mut lines);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected.txt");
    if std::env::var_os("RIBBONFILTER_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, &lines).expect("written");
    }
    let expected = std::fs::read_to_string(&path).expect("tests/expected.txt");
    assert!(expected == lines, "tests/expected.txt differs from what the library says");
}
