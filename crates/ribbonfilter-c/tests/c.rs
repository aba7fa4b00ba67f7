//! C programs, compiled by the system's compiler against the header and the static library and
//! run under its sanitizers: no leak, no invalid access, no undefined behaviour.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where cargo puts the static library: next to the folder of this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let folder = test.parent().expect("in a folder");
    let places = [folder.join("libribbonfilter_c.a"), folder.join("../libribbonfilter_c.a")];
    places.into_iter().find(|place| place.exists()).expect("cargo has built the static library")
}

/// Compiles a program of this crate and gives back what it prints.
fn run(source: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder for the program");
    let program = folder.path().join("program");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join(source))
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("a C compiler, cc");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_example() {
    let printed = run("examples/words.c");
    assert!(printed.starts_with("grace: maybe\nsmalltalk: no\n"), "{printed}");
}

#[test]
fn everything_that_can_go_wrong() {
    assert_eq!(run("tests/border.c"), "all is well\n");
}
