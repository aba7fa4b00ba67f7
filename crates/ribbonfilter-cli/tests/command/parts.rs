//! Cutting by slots, and joining again.

use crate::support::{Folder, lines};

/// A folder with 40,000 keys and filters of them that can be cut.
fn keys() -> Folder {
    let folder = Folder::new();
    folder.write("keys", lines(40_000).concat());
    folder.good("build keys --fpr 0.001 --variant standard --width 32 -o standard");
    folder.good("build keys --fpr 0.001 --variant homogeneous -o homogeneous");
    folder
}

#[test]
fn joined_parts_are_the_filter() {
    let folder = keys();
    for filter in ["standard", "homogeneous"] {
        let said = folder.good(&format!("cut {filter} -k 3 -f -o part"));
        assert!(said.starts_with("part.1: part 1 of 3, "), "{said}");
        assert_eq!(said.lines().count(), 3);
        let said = folder.good("join part.3 part.1 part.2 -o again -f");
        assert!(said.starts_with("40,000 keys, "), "{said}");
        assert_eq!(folder.read("again"), folder.read(filter));
    }
    folder.good("cut standard --parts 500 -o many");
    let all: String = (1..=500).map(|number| format!("many.{number} ")).collect();
    folder.good(&format!("join {all} -o again -f"));
    assert_eq!(folder.read("again"), folder.read("standard"));
}

#[test]
fn a_part_is_not_taken_for_a_filter() {
    let folder = keys();
    folder.good("cut standard -k 2 -o part");
    let said = "part.1: is a part of a filter, not a filter: `ribbon join` puts all parts together";
    for arguments in
        ["info part.1", "query part.1 ada", "verify part.1 --keys keys", "cut part.1 -k 2 -o out"]
    {
        folder.run(arguments).fails_with(said);
    }
    folder.run("join standard -o out").fails_with(
        "standard: is a filter, not a part of a filter: name the files that `ribbon cut` wrote",
    );
}

#[test]
fn a_part_is_verified() {
    let folder = keys();
    folder.good("cut standard -k 2 -o part");
    assert_eq!(folder.good("verify part.2"), "part.2: whole\n");
    let mut bytes = folder.read("part.2");
    bytes[5] ^= 1;
    folder.write("part.2", bytes);
    folder.run("verify part.2").fails_with("altered");
}

#[test]
fn what_cannot_be_leaves_nothing() {
    let folder = keys();
    folder.good("build keys -o bumped");
    folder.good("cut standard -k 3 -o part");
    folder.good("cut homogeneous -k 3 -o other");
    let mut altered = folder.read("part.2");
    altered[5] ^= 1;
    folder.write("altered", altered);
    folder.write("small", "ada\n");
    folder.good("build small -o small.ribbon");
    let before = folder.names();
    for (arguments, said) in [
        ("cut bumped -k 3 -o out", "bumped: a Bumped filter cannot be cut"),
        ("cut small.ribbon -k 3 -o out", "small.ribbon: the parts must be at least 1 and at most"),
        ("cut standard -k 0 -o out", "0 is not in 1..=500"),
        ("cut standard -k 3 -o part", "part.1: exists already"),
        ("join part.1 part.2 -o out", "part 3 of 3 is missing"),
        ("join part.1 part.2 part.1 -o out", "part.1: is the same part as one before it"),
        ("join part.1 other.2 part.3 -o out", "other.2: is of another filter"),
        ("join part.1 altered part.3 -o out", "altered: was altered"),
        ("join part.1 none -o out", "none: no such file"),
        ("join part.1 part.2 part.3 -o small", "small: exists already"),
        ("join -o out", "<PART>..."),
    ] {
        folder.run(arguments).fails_with(said);
        assert_eq!(folder.names(), before, "{arguments}");
    }
}
