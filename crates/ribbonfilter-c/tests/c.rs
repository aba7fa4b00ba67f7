//! Compiles C programs with the system's compiler against the header and the static library, and
//! runs them under its sanitizers: no leak, no invalid access, no undefined behavior.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of the static library, which cargo puts next to this test or one directory above.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let folder = test.parent().expect("in a directory");
    let paths = [folder.join("libribbonfilter_c.a"), folder.join("../libribbonfilter_c.a")];
    paths.into_iter().find(|path| path.exists()).expect("cargo has built the static library")
}

/// Compiles and runs a program of this crate and returns its output.
fn run(source: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a directory for the program");
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
    assert_eq!(run("tests/border.c"), "ok\n");
}

#[test]
fn exact_sets() {
    assert_eq!(run("tests/exact.c"), "ok\n");
}

#[test]
fn the_example_of_exact_sets() {
    let printed = run("examples/revoked.c");
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(
        lines[..3],
        ["careful 17: valid", "careless 17: revoked", "nobody 17: unknown issuer"]
    );
    assert!(lines[3].starts_with("101 of 2000 certificates are revoked, in "), "{printed}");
}
