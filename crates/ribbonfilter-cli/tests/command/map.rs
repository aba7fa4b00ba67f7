//! Maps: the same pairs give the same file, and every key has its value.

use crate::support::{Folder, gzip, zstd};
use ribbonfilter::Function;
use serde_json::Value;

/// Lines of keys and values below 2000, in a fixed order.
fn pairs(count: u64) -> Vec<String> {
    (0..count).map(|number| format!("key number {number}\t{}\n", number * 7919 % 2000)).collect()
}

/// A directory with a map of three names that no other name here matches.
fn ages() -> Folder {
    let folder = Folder::new();
    folder.write("ages", "ada\t36\ngrace\t85\nedsger\t72\n");
    folder.good("map build ages --fingerprint-bits 30 -o ages.ribbon");
    folder
}

/// Builds a map with these arguments and returns its file.
fn built(folder: &Folder, arguments: &str) -> Vec<u8> {
    folder.good(&format!("map build --force -o out.ribbon {arguments}"));
    folder.read("out.ribbon")
}

#[test]
fn compression_files_order_and_threads_do_not_matter() {
    let folder = Folder::new();
    let lines = pairs(60_000);
    let text = lines.concat();
    let half = lines.len() / 2;
    folder.write("plain", &text);
    folder.write("backwards", lines.iter().rev().map(String::as_str).collect::<String>());
    folder.write("crlf", text.replace('\n', "\r\n"));
    folder.write("null", text.replace('\n', "\0"));
    folder.write("comma", text.replace('\t', ","));
    folder.write("unended", text.trim_end());
    folder.write("gzip", gzip(text.as_bytes()));
    folder.write("zstd", zstd(text.as_bytes()));
    folder.write("first", lines[..half].concat());
    folder.write("second", zstd(lines[half..].concat().as_bytes()));

    let pair = |line: &String| {
        let (key, value) = line.trim_end().split_once('\t').expect("a pair");
        (key.to_owned(), value.parse::<u64>().expect("a number"))
    };
    let function = Function::build(lines.iter().map(pair), 11).expect("a function");
    let expected = function.into_inner().to_vec();
    for input in
        ["plain", "backwards", "crlf", "unended", "gzip", "zstd", "first second", "second first"]
    {
        for threads in [1, 2, 7] {
            let bytes = built(&folder, &format!("{input} --threads {threads}"));
            assert!(bytes == expected, "{input} on {threads} threads");
        }
    }
    assert!(built(&folder, "--null null") == expected);
    assert!(built(&folder, "--delimiter , comma") == expected);
    assert!(built(&folder, "--value-bits 11 plain") == expected);
    assert!(built(&folder, "plain plain") == expected, "duplicate pairs");
    for input in [text.as_bytes().to_vec(), gzip(text.as_bytes()), zstd(text.as_bytes())] {
        assert_eq!(folder.run_with("map build -f -o out.ribbon", &input).status, 0);
        assert!(folder.read("out.ribbon") == expected);
    }
}

#[test]
fn settings_reach_the_library() {
    let folder = Folder::new();
    folder.write("pairs", "ada\t36\ngrace\t85\n");
    let cases = [
        ("", Function::builder().value_bits(7)),
        ("--value-bits 64", Function::builder().value_bits(64)),
        ("--fingerprint-bits 9", Function::builder().value_bits(7).fingerprint_bits(9)),
        ("--width 64", Function::builder().value_bits(7).width(ribbonfilter::Width::W64)),
        ("--variant bumped", {
            Function::builder().value_bits(7).variant(ribbonfilter::Variant::Bumped)
        }),
        ("--effort thorough", {
            Function::builder().value_bits(7).effort(ribbonfilter::Effort::Thorough)
        }),
        ("--key-seed 0x7 --memory 1G", Function::builder().value_bits(7).key_seed(7)),
    ];
    for (arguments, mut builder) in cases {
        builder.extend([("ada", 36), ("grace", 85)]);
        let expected = builder.finish().expect("a function").into_inner().to_vec();
        assert!(built(&folder, &format!("pairs {arguments}")) == expected, "{arguments}");
    }
    let output = folder.good("map build pairs -o other");
    for part in ["2 keys, ", " bits per key, overhead ", ", values of 7 bits, ", " seconds\n"] {
        assert!(output.contains(part), "{output}");
    }
    assert_eq!(folder.good("map build pairs -o quiet --quiet"), "");
}

#[test]
fn values_of_all_widths() {
    let folder = Folder::new();
    for bits in [1u32, 2, 7, 8, 33, 63, 64] {
        let largest = u64::MAX >> (64 - bits);
        folder.write("pairs", format!("zero\t0\nlargest\t{largest}\n"));
        built(&folder, "pairs");
        let found = folder.good("map get out.ribbon largest zero");
        assert_eq!(found, format!("largest\t{largest}\nzero\t0\n"));
        assert!(folder.good("map info out.ribbon").contains(&format!("value bits      {bits}\n")));
    }
    folder.write("pairs", "zero\t0\n");
    built(&folder, "pairs");
    assert_eq!(folder.good("map get out.ribbon zero"), "zero\t0\n");
}

#[test]
fn arguments_and_lines_are_looked_up() {
    let folder = ages();
    for (arguments, input, stdout, status) in [
        ("ada alan grace", "", "ada\t36\ngrace\t85\n", 0),
        ("alan", "", "", 1),
        ("--null ada", "", "ada\t36\0", 0),
        ("", "grace\nalan\nada", "grace\t85\nada\t36\n", 0),
        ("", "ada\r\nalan\r\n", "ada\t36\n", 0),
        ("-0", "ada\0alan\0edsger", "ada\t36\0edsger\t72\0", 0),
        ("--column 2 --delimiter ,", "1,ada,x\n2,alan,y\n", "ada\t36\n", 0),
        ("", "alan\n", "", 1),
        ("", "", "", 1),
    ] {
        for threads in [1, 3] {
            let arguments = format!("map get ages.ribbon {arguments} --threads {threads}");
            let ran = folder.run_with(&arguments, input.as_bytes());
            assert_eq!((ran.stdout.as_str(), ran.status), (stdout, status), "{arguments}");
            assert_eq!(ran.stderr, "");
        }
    }
}

#[test]
fn long_streams_keep_their_order_and_values() {
    let folder = Folder::new();
    let lines = pairs(150_000);
    folder.write("half", lines[..75_000].concat());
    let keys: Vec<_> = lines.iter().filter_map(|line| line.split('\t').next()).collect();
    folder.write("keys.gz", gzip(keys.join("\n").as_bytes()));
    built(&folder, "half --fingerprint-bits 40");
    for threads in [1, 2, 5] {
        let found = folder.good(&format!("map get out.ribbon --keys keys.gz --threads {threads}"));
        assert!(found == lines[..75_000].concat(), "on {threads} threads");
    }
    // Without fingerprints, every key has a value.
    built(&folder, "half");
    let found = folder.good("map get out.ribbon --keys keys.gz");
    assert_eq!(found.lines().count(), 150_000);
    assert!(found.starts_with(&lines[..75_000].concat()));
}

#[test]
fn digests_keep_their_counts() {
    let folder = Folder::new();
    folder.write("digests", "00FF:3\r\nABCD:100000\r\n");
    built(&folder, "--input hex digests --fingerprint-bits 30");
    assert_eq!(folder.good("map get --input hex out.ribbon abcd 00FF"), "abcd\t100000\n00FF\t3\n");
    let ran = folder.run_with("map get --input hex out.ribbon", b"00ff:17\nabce\nABCD\n");
    assert_eq!((ran.stdout.as_str(), ran.status), ("00ff\t3\nABCD\t100000\n", 0));
    folder.write("tabs", "00FF\t3\nABCD\t100000\n");
    let same = folder.read("out.ribbon");
    assert!(built(&folder, "--input hex --delimiter \\t tabs --fingerprint-bits 30") == same);
}

#[test]
fn info_as_text_and_json() {
    let folder = ages();
    let text = folder.good("map info ages.ribbon");
    assert!(text.starts_with("keys            3\nsize            "), "{text}");
    let info = folder.good("map info ages.ribbon --json");
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let fields = "keys bytes bits_per_key overhead value_bits fingerprint_bits variant width seed \
                  version";
    for field in fields.split_whitespace() {
        assert!(info.get(field).is_some_and(|value| !value.is_null()), "{field}");
    }
    assert_eq!(info.as_object().expect("an object").len(), fields.split_whitespace().count());
    assert_eq!((&info["keys"], &info["value_bits"]), (&3.into(), &7.into()));
    assert_eq!(info["fingerprint_bits"], 30);
    assert_eq!(info["bytes"], folder.read("ages.ribbon").len());
}

#[test]
fn a_map_is_verified() {
    let folder = ages();
    assert_eq!(folder.good("verify ages.ribbon"), "ages.ribbon: intact\n");
    let mut bytes = folder.read("ages.ribbon");
    bytes[0] ^= 1;
    folder.write("ages.ribbon", bytes);
    folder.run("verify ages.ribbon").fails_with("corrupt");
}

#[test]
fn maps_and_filters_are_distinguished() {
    let folder = ages();
    folder.good("build ages -o filter");
    for arguments in ["map get filter ada", "map info filter"] {
        folder
            .run(arguments)
            .fails_with("filter: is a filter, not a function: use `ribbon query` or `ribbon info`");
    }
    for arguments in ["query ages.ribbon ada", "info ages.ribbon", "verify ages.ribbon --keys ages"]
    {
        let message =
            "ages.ribbon: is a function, not a filter: use `ribbon map get` or `ribbon map info`";
        folder.run(arguments).fails_with(message);
    }
    folder.run("map get none ada").fails_with("none: no such file");
}

#[test]
fn errors_name_the_line() {
    let folder = ages();
    folder.write("lonely", "ada\t1\nalan\n");
    folder.write("word", "ada\t1\nalan\tmany\n");
    folder.write("huge", "ada\t18446744073709551616\n");
    folder.write("digest", "00FF:1\n00FE\n");
    folder.write("empty", "");
    folder.write("others", "alan\t41\nada\t37\n");
    folder.write("late", pairs(100_000).concat() + "late\t2000\nlater\t2048\n");
    folder.write("twice", pairs(100_000).concat() + "key number 5\t1\n");
    let before = folder.names();
    for (arguments, message) in [
        ("lonely", "lonely, line 2: no value: write it after the key and '\\t'"),
        ("word", "word, line 2: the value 'many' is not an integer from 0 to 2^64 - 1"),
        ("huge", "huge, line 1: the value '18446744073709551616' is not an integer"),
        ("--input hex digest", "digest, line 2: no value"),
        ("--input hex ages --delimiter \\t", "ages, line 1: 3 hexadecimal digits"),
        ("empty", "empty: contains no keys"),
        ("", "standard input: contains no keys"),
        ("none", "none: no such file"),
        ("ages --value-bits 6", "ages, line 2: the value 85 does not fit in 6 bits"),
        ("ages late --value-bits 11", "late, line 100002: the value 2048 does not fit in 11 bits"),
        ("ages others", "others, line 2: the key has another value in ages, line 1"),
        (
            "ages twice --threads 3",
            "twice, line 100001: the key has another value in twice, line 6",
        ),
        ("ages --value-bits 0", "0 is not in 1..=64"),
        ("ages --value-bits 60 --fingerprint-bits 5", "at most 64"),
        ("ages --fingerprint-bits 64", "at most 64"),
        ("ages --variant homogeneous", "cannot store values: use Standard, Balanced or Bumped"),
        ("ages --effort most", "[possible values: normal, thorough]"),
        ("twice --memory 10K", "keys alone exceed the 10.0 KiB allowed"),
        ("ages --delimiter ::", "one ASCII character"),
    ] {
        folder.run(&format!("map build -o out {arguments}")).fails_with(message);
        assert_eq!(folder.names(), before, "{arguments}");
    }
    folder.run("map build ages -o ages.ribbon").fails_with("ages.ribbon: already exists");
    folder.run("map get --input hex ages.ribbon xyz").fails_with("xyz: 'x' is not a hexadecimal");
}
