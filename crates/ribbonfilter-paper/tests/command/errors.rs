//! Errors are one line: what, where, what to do. They leave no file, and change none.

use crate::{Folder, assert_fails, exists, run};
use std::fs;

#[test]
fn files_that_are_not_there_or_not_filters() {
    let folder = Folder::new();
    let (keys, missing, output) = (folder.keys(10), folder.path("missing"), folder.path("out"));
    let standard = ["--variant", "standard", "--width", "64", "--columns", "7"];
    let build = |keys: &str, output: &str| {
        let front = ["build", keys, "-o", output].map(String::from);
        front.into_iter().chain(standard.map(String::from)).collect::<Vec<String>>()
    };
    let fails = |arguments: Vec<String>, words: &[&str]| {
        assert_fails(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), words);
    };
    fails(build(&missing, &output), &["missing", "No such file"]);
    fails(build(&keys, &folder.path("no/folder")), &["no/folder", "No such file"]);
    for command in ["query", "info"] {
        assert_fails(&[command, &missing], &["missing", "No such file"]);
        assert_fails(&[command, &keys], &["keys", "not a file of ribbon-paper"]);
    }
    assert!(!exists(&output));
    assert_eq!(folder.names(), ["keys"]);
}

#[test]
fn corrupt_files() {
    let folder = Folder::new();
    let filter = folder.build(100, "--variant standard --width 64 --columns 7");
    let mut bytes = fs::read(&filter).expect("the file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&filter, &bytes).expect("a file");
    assert_fails(&["query", &filter, "key 1"], &["filter", "checksum"]);
    fs::write(&filter, &bytes[..middle]).expect("a file");
    assert_fails(&["info", &filter], &["filter", "corrupt"]);
}

#[test]
fn settings_that_cannot_be() {
    let folder = Folder::new();
    let (keys, output) = (folder.keys(100), folder.path("out"));
    let fails = |options: &str, words: &[&str]| {
        let mut arguments = vec!["build", &keys, "-o", &output];
        arguments.extend(options.split(' '));
        assert_fails(&arguments, words);
        assert!(!exists(&output));
    };
    fails("--variant standard --width 64 --columns 40", &["keys", "40 columns", "use 1 to 32"]);
    fails("--variant standard --width 64 --columns nan", &["columns"]);
    fails("--variant standard --width 64 --columns 0.5", &["0.5 columns", "use 1 to 32"]);
    fails("--variant standard --width 16 --columns 4 --smash 17", &["smash"]);
    fails("--variant standard --width 64 --columns 4 --shards 0", &["shards", "1 to"]);
    fails("--variant standard --width 64 --columns 4 --shards 99999999999999", &["shards", "1 to"]);
    fails("--variant standard --width 64 --columns 4 --until-full 1000", &["multiple"]);
    fails("--variant bumped --width 64 --columns 4 --until-full 1024", &["standard"]);
    // Usage errors are those of every command line.
    let unknown = ["build", &keys, "-o", &output, "--variant", "best"];
    let (status, _, errors) = run(&unknown, "");
    assert!(status == 2 && errors.contains("expected standard, homogeneous"), "{errors}");
}

#[test]
fn what_cannot_be_changed() {
    let folder = Folder::new();
    let output = folder.path("out");
    let balanced = folder.build(9000, "--variant balanced --width 32 --columns 7");
    assert_fails(&["cut", &balanced, "-n", "2", "-o", &output], &["filter", "two locations"]);
    assert_fails(
        &["shrink", &balanced, "--columns", "8", "-o", &output],
        &["8 columns", "use 1 to 7"],
    );
    assert_fails(&["join", &balanced, "-o", &output], &["filter", "not a part"]);
    let standard = folder.build(1000, "--variant standard --width 64 --columns 7");
    assert_fails(&["cut", &standard, "-n", "1000", "-o", &output], &["fewer parts"]);
    assert_eq!(run(&["cut", &standard, "-n", "2", "-o", &output], "").0, 0);
    let part = folder.path("out.1");
    assert_fails(&["join", &part, "-o", &output], &["out.1", "missing"]);
    assert_fails(&["shrink", &part, "--columns", "2", "-o", &output], &["out.1", "build again"]);
    assert!(!exists(&output));
}

#[test]
fn tables_and_figures_that_do_not_exist() {
    assert_fails(&["figures", "4"], &["figure 4", "2, 3, 5 and 7"]);
    assert_fails(&["simulate", "weather"], &["weather", "displacement"]);
    assert_fails(&["table2", "--keys", "0"], &["0 keys"]);
}

/// A failure leaves the file that was there.
#[test]
fn a_file_is_replaced_only_by_a_complete_one() {
    let folder = Folder::new();
    let filter = folder.build(1000, "--variant standard --width 64 --columns 7");
    let before = fs::read(&filter).expect("the file");
    assert_fails(&["shrink", &filter, "--columns", "9", "-o", &filter], &["9 columns"]);
    assert!(fs::read(&filter).expect("the file") == before);
    assert_eq!(run(&["shrink", &filter, "--columns", "3", "-o", &filter], "").0, 0);
    assert!(fs::read(&filter).expect("the file").len() < before.len());
}
