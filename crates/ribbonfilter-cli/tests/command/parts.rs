//! Cutting filters by slots and joining the parts.

use crate::support::{Folder, lines};

/// A directory with 40,000 keys and filters of them that can be cut.
fn keys() -> Folder {
    let folder = Folder::new();
    folder.write("keys", lines(40_000).concat());
    folder.good("build keys --fpr 0.001 --variant standard --width 32 -o standard");
    folder.good("build keys --fpr 0.001 --variant homogeneous -o homogeneous");
    folder
}

#[test]
fn joined_parts_are_the_original_filter() {
    let folder = keys();
    for filter in ["standard", "homogeneous"] {
        let output = folder.good(&format!("cut {filter} -k 3 -f -o part"));
        assert!(output.starts_with("part.0: part 0 of 3, "), "{output}");
        assert_eq!(output.lines().count(), 3);
        let output = folder.good("join part.2 part.0 part.1 -o again -f");
        assert!(output.starts_with("40,000 keys, "), "{output}");
        assert_eq!(folder.read("again"), folder.read(filter));
    }
    folder.good("cut standard --parts 500 -o many");
    let all: String = (0..500).map(|number| format!("many.{number} ")).collect();
    folder.good(&format!("join {all} -o again -f"));
    assert_eq!(folder.read("again"), folder.read("standard"));
}

#[test]
fn parts_and_filters_are_distinguished() {
    let folder = keys();
    folder.good("cut standard -k 2 -o part");
    let message = "part.0: is a part of a filter, not a filter: join all parts with `ribbon join`";
    for arguments in
        ["info part.0", "query part.0 ada", "verify part.0 --keys keys", "cut part.0 -k 2 -o out"]
    {
        folder.run(arguments).fails_with(message);
    }
    folder.run("join standard -o out").fails_with(
        "standard: is a filter, not a part of a filter: name the files that `ribbon cut` wrote",
    );
}

#[test]
fn a_part_is_verified() {
    let folder = keys();
    folder.good("cut standard -k 2 -o part");
    assert_eq!(folder.good("verify part.1"), "part.1: intact\n");
    let mut bytes = folder.read("part.1");
    bytes[5] ^= 1;
    folder.write("part.1", bytes);
    folder.run("verify part.1").fails_with("corrupt");
}

#[test]
fn errors_leave_no_file() {
    let folder = keys();
    folder.good("build keys -o bumped");
    folder.good("cut standard -k 3 -o part");
    folder.good("cut homogeneous -k 3 -o other");
    let mut corrupt = folder.read("part.1");
    corrupt[5] ^= 1;
    folder.write("corrupt", corrupt);
    folder.write("small", "ada\n");
    folder.good("build small -o small.ribbon");
    let before = folder.names();
    for (arguments, message) in [
        ("cut bumped -k 3 -o out", "bumped: a Bumped filter cannot be cut"),
        ("cut small.ribbon -k 3 -o out", "small.ribbon: the parts must be at least 1 and at most"),
        ("cut standard -k 0 -o out", "0 is not in 1..=500"),
        ("cut standard -k 3 -o part", "part.0: already exists"),
        ("join part.0 part.1 -o out", "part 2 is missing: give all 3, numbered from 0"),
        ("join part.0 part.1 part.0 -o out", "part.0: is a duplicate of an earlier part"),
        ("join part.0 other.1 part.2 -o out", "other.1: belongs to another filter"),
        ("join part.0 corrupt part.2 -o out", "corrupt: is corrupt"),
        ("join part.0 none -o out", "none: no such file"),
        ("join part.0 part.1 part.2 -o small", "small: already exists"),
        ("join -o out", "<PART>..."),
    ] {
        folder.run(arguments).fails_with(message);
        assert_eq!(folder.names(), before, "{arguments}");
    }
}
