//! Building, querying and changing filters.

use crate::{Folder, exists, field, run};
use std::fs;

/// The lines of standard input that a query selects, by its count.
fn count(filter: &str, options: &[&str], input: &str) -> (i32, usize) {
    let (status, output, errors) = run(&[&["query", filter, "-c"], options].concat(), input);
    assert_eq!(errors, "");
    (status, output.trim().parse().expect("a number"))
}

fn lines(prefix: &str, count: u32) -> String {
    (0..count).map(|i| format!("{prefix} {i}\n")).collect()
}

#[test]
fn every_variant_and_width_is_built_and_queried() {
    for variant in ["standard", "homogeneous", "balanced", "bumped", "soft"] {
        for width in [16, 32, 64, 128] {
            let folder = Folder::new();
            let options = format!("--variant {variant} --width {width} --columns 7.5");
            let filter = folder.build(9000, &options);
            assert_eq!(count(&filter, &[], &lines("key", 9000)), (0, 9000), "{options}");
            let (_, positives) = count(&filter, &[], &lines("absent", 20_000));
            // 20,000 * 3/2 * 2^-8 = 117; a Homogeneous system of w = 16 has about twice as many.
            assert!((60..350).contains(&positives), "{options}: {positives}");
            assert_eq!(field(&filter, "variant"), variant);
            assert_eq!(field(&filter, "width"), width.to_string());
            assert_eq!(field(&filter, "keys"), "9000");
            let bytes = fs::metadata(&filter).expect("the file").len();
            assert_eq!(field(&filter, "bytes"), bytes.to_string());
            assert_eq!(folder.names(), ["filter", "keys"], "no temporary file is left");
        }
    }
}

#[test]
fn queries_are_like_grep() {
    let folder = Folder::new();
    let filter = folder.build(1000, "--variant standard --width 64 --columns 20");
    let query = |arguments: &[&str], input| run(&[&["query", &filter], arguments].concat(), input);
    let ok = |status, output: &str| (status, output.to_string(), String::new());
    assert_eq!(query(&["key 7", "nobody", "key 1"], ""), ok(0, "key 7\nkey 1\n"));
    assert_eq!(query(&["nobody"], ""), ok(1, ""));
    assert_eq!(query(&["-v", "nobody", "key 3"], ""), ok(0, "nobody\n"));
    assert_eq!(query(&["-c", "nobody", "key 3"], ""), ok(0, "1\n"));
    assert_eq!(query(&["-c", "nobody"], ""), ok(1, "0\n"));
    assert_eq!(query(&["-q", "key 3"], ""), ok(0, ""));
    assert_eq!(query(&["-q", "-v", "key 3"], ""), ok(1, ""));
    // Lines end with either end of line, or with the file.
    assert_eq!(query(&[], "key 1\r\nnobody\nkey 2"), ok(0, "key 1\nkey 2\n"));
    assert_eq!(query(&[], ""), ok(1, ""));
}

#[test]
fn keys_come_from_standard_input_too() {
    let folder = Folder::new();
    let output = folder.path("filter");
    let arguments =
        ["build", "-", "-o", &output, "--variant", "bumped", "--width", "32", "--columns", "9"];
    assert_eq!(run(&arguments, "a\nb\nb\na\nc\n").0, 0);
    assert_eq!(field(&output, "keys"), "3", "duplicates are one key");
    assert_eq!(count(&output, &[], "a\nb\nc\n"), (0, 3));
    assert_eq!(run(&arguments, "").0, 0, "an empty set is a set");
    assert_eq!(count(&output, &[], "a\nb\nc\n"), (1, 0));
}

#[test]
fn the_same_keys_give_the_same_bytes() {
    let folder = Folder::new();
    let build = |input: &str| {
        let output = folder.path("filter");
        let arguments = [
            "build",
            "-",
            "-o",
            &output,
            "--variant",
            "balanced",
            "--width",
            "32",
            "--columns",
            "5",
        ];
        assert_eq!(run(&arguments, input).0, 0);
        fs::read(&output).expect("the file")
    };
    let forward = lines("key", 9000);
    let backward: String = forward.lines().rev().map(|line| format!("{line}\n")).collect();
    assert!(build(&forward) == build(&backward));
}

/// Section 5.1: shrunk is what a build with fewer columns gives; cut and joined is what it was.
#[test]
fn filters_are_shrunk_cut_and_joined() {
    let folder = Folder::new();
    let filter = folder.build(9000, "--variant standard --width 64 --columns 8");
    let (small, parts, joined) = (folder.path("small"), folder.path("part"), folder.path("joined"));
    assert_eq!(run(&["shrink", &filter, "--columns", "5.5", "-o", &small], "").0, 0);
    let shrunk = fs::read(&small).expect("the file");
    assert!(
        shrunk
            == fs::read(folder.build(9000, "--variant standard --width 64 --columns 5.5")).unwrap()
    );
    assert_eq!(run(&["cut", &small, "-n", "3", "-o", &parts], "").0, 0);
    let names = [0, 1, 2].map(|number| format!("{parts}.{number}"));
    let found: Vec<usize> =
        names.iter().map(|part| count(part, &[], &lines("key", 9000)).1).collect();
    assert!(found.iter().all(|&keys| keys > 2500), "{found:?}");
    assert_eq!(found.iter().sum::<usize>(), 9000, "every key is in one part");
    assert_eq!(field(&names[1], "kind"), "part");
    assert_eq!(run(&["join", &names[2], &names[0], &names[1], "-o", &joined], "").0, 0);
    assert!(fs::read(&joined).expect("the file") == shrunk);
}

#[test]
fn shards_by_hash_and_until_full() {
    let folder = Folder::new();
    for (options, kind) in [
        ("--shards 7", "shards by hash"),
        ("--shards 1", "shards by hash"),
        ("--until-full 1024", "shards until full"),
    ] {
        let options = format!("--variant standard --width 64 --columns 8 {options}");
        let filter = folder.build(9000, &options);
        assert_eq!(count(&filter, &[], &lines("key", 9000)), (0, 9000), "{options}");
        let (_, positives) = count(&filter, &[], &lines("absent", 20_000));
        assert!((40..130).contains(&positives), "{options}: {positives}");
        assert_eq!(field(&filter, "kind"), kind);
    }
    assert_eq!(field(&folder.path("filter"), "shards"), "9");
    // Shards of any size: these keys fill one.
    let options = "--variant standard --width 64 --columns 8 --until-full 1152921504606846976";
    let filter = folder.build(9000, options);
    assert_eq!(field(&filter, "shards"), "1");
    assert_eq!(count(&filter, &[], &lines("key", 9000)), (0, 9000));
    folder.build(9000, "--variant bumped --width 32 --columns 9 --shards 4");
    let (filter, small) = (folder.path("filter"), folder.path("small"));
    assert_eq!(run(&["shrink", &filter, "--columns", "4.5", "-o", &small], "").0, 0);
    assert_eq!(count(&small, &[], &lines("key", 9000)), (0, 9000));
}

#[test]
fn options_of_the_paper() {
    let folder = Folder::new();
    let filter = folder
        .build(9000, "--variant standard --width 32 --columns 4 --smash 16 --epsilon 0.3 --seed 9");
    assert_eq!(field(&filter, "smash"), "16");
    assert_eq!(field(&filter, "key_seed"), "9");
    assert_eq!(field(&filter, "slots"), "11712");
    assert_eq!(count(&filter, &[], &lines("key", 9000)), (0, 9000));
    assert!(exists(&filter));
}

#[test]
fn tables_and_figures_are_printed() {
    for arguments in [
        &["table2", "--keys", "1000", "--rounds", "1"][..],
        &["figures", "2", "7", "--keys", "50000"],
        &["simulate", "locality", "fractions", "--scale", "0.01"],
    ] {
        let (status, output, errors) = run(arguments, "");
        assert_eq!((status, errors.as_str()), (0, ""), "{arguments:?}");
        assert!(output.starts_with('#') && output.lines().count() > 5, "{output}");
    }
}
