//! Shrinking and splitting filters without the keys.

use crate::support::{Folder, lines};

/// A directory with 40,000 keys and their filter.
fn keys() -> Folder {
    let folder = Folder::new();
    folder.write("keys", lines(40_000).concat());
    folder.good("build keys --fpr 0.001 -o keys.ribbon");
    folder
}

#[test]
fn a_shrunk_filter_is_identical_to_a_built_one() {
    let folder = keys();
    for target in ["--fpr 5%", "--size 20000"] {
        let output = folder.good(&format!("shrink keys.ribbon {target} -o small -f"));
        assert!(output.starts_with("40,000 keys, "), "{output}");
        folder.good(&format!("build keys {target} -o direct -f"));
        assert_eq!(folder.read("small"), folder.read("direct"), "{target}");
    }
    folder.good("shrink keys.ribbon --columns 2.5 -o small -f");
    folder.good("verify small --keys keys");
}

#[test]
fn all_parts_find_every_key() {
    let folder = keys();
    let output = folder.good("split keys.ribbon --columns 4,4,2 -o part");
    assert!(output.starts_with("part.0: 40,000 keys, "), "{output}");
    assert_eq!(folder.names(), ["keys", "keys.ribbon", "part.0", "part.1", "part.2"]);
    for part in ["part.0", "part.1", "part.2"] {
        folder.good(&format!("verify {part} --keys keys"));
    }
}

#[test]
fn errors_leave_no_file() {
    let folder = keys();
    folder.write("taken", "mine");
    folder.write("part.1", "mine");
    for (arguments, message) in [
        ("shrink keys.ribbon --fpr 1e-9 -o small", "keys.ribbon: a false-positive rate of 1e-9"),
        ("shrink keys.ribbon --size 1G -o small", "cannot grow"),
        ("shrink keys.ribbon --size 10 -o small", "too few"),
        ("shrink keys.ribbon --columns 20 -o small", "at most the filter's"),
        ("shrink keys.ribbon --fpr 5% -o taken", "taken: already exists"),
        ("shrink keys --fpr 5% -o small", "keys: "),
        ("split keys.ribbon --columns 4,4 -o other", "10 columns together, but have 8"),
        ("split keys.ribbon --columns 4,4,2 -o part", "part.1: already exists"),
    ] {
        folder.run(arguments).fails_with(message);
    }
    assert_eq!(folder.names(), ["keys", "keys.ribbon", "part.1", "taken"]);
    assert_eq!(folder.read("taken"), b"mine");
    assert_eq!(folder.run("shrink keys.ribbon -o small").status, 2);
}
