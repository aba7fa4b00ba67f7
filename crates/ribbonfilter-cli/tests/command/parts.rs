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
        assert!(output.starts_with("part.1: part 1 of 3, "), "{output}");
        assert_eq!(output.lines().count(), 3);
        let output = folder.good("join part.3 part.1 part.2 -o again -f");
        assert!(output.starts_with("40,000 keys, "), "{output}");
        assert_eq!(folder.read("again"), folder.read(filter));
    }
    folder.good("cut standard --parts 500 -o many");
    let all: String = (1..=500).map(|number| format!("many.{number} ")).collect();
    folder.good(&format!("join {all} -o again -f"));
    assert_eq!(folder.read("again"), folder.read("standard"));
}

#[test]
fn parts_and_filters_are_distinguished() {
    let folder = keys();
    folder.good("cut standard -k 2 -o part");
    let message = "part.1: is a part of a filter, not a filter: join all parts with `ribbon join`";
    for arguments in
        ["info part.1", "query part.1 ada", "verify part.1 --keys keys", "cut part.1 -k 2 -o out"]
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
    assert_eq!(folder.good("verify part.2"), "part.2: intact\n");
    let mut bytes = folder.read("part.2");
    bytes[5] ^= 1;
    folder.write("part.2", bytes);
    folder.run("verify part.2").fails_with("corrupt");
}

#[test]
fn errors_leave_no_file() {
    let folder = keys();
    folder.good("build keys -o bumped");
    folder.good("cut standard -k 3 -o part");
    folder.good("cut homogeneous -k 3 -o other");
    let mut corrupt = folder.read("part.2");
    corrupt[5] ^= 1;
    folder.write("corrupt", corrupt);
    folder.write("small", "ada\n");
    folder.good("build small -o small.ribbon");
    let before = folder.names();
    for (arguments, message) in [
        ("cut bumped -k 3 -o out", "bumped: a Bumped filter cannot be cut"),
        ("cut small.ribbon -k 3 -o out", "small.ribbon: the parts must be at least 1 and at most"),
        ("cut standard -k 0 -o out", "0 is not in 1..=500"),
        ("cut standard -k 3 -o part", "part.1: already exists"),
        ("join part.1 part.2 -o out", "part 2 is missing: give all 3, numbered from 0"),
        ("join part.1 part.2 part.1 -o out", "part.1: is a duplicate of an earlier part"),
        ("join part.1 other.2 part.3 -o out", "other.2: belongs to another filter"),
        ("join part.1 corrupt part.3 -o out", "corrupt: is corrupt"),
        ("join part.1 none -o out", "none: no such file"),
        ("join part.1 part.2 part.3 -o small", "small: already exists"),
        ("join -o out", "<PART>..."),
    ] {
        folder.run(arguments).fails_with(message);
        assert_eq!(folder.names(), before, "{arguments}");
    }
}
