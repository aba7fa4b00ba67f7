//! Queries with the output and exit status of grep; `info`, `plan` and `verify`.

use crate::support::{Folder, gzip, lines};
use serde_json::Value;

/// A directory with a filter of three names that no other name here matches.
fn names() -> Folder {
    let folder = Folder::new();
    folder.write("names", "ada\ngrace\nedsger\n");
    folder.good("build names --fpr 1e-8 -o names.ribbon");
    folder
}

#[test]
fn arguments_are_printed_if_they_match() {
    let folder = names();
    for (arguments, stdout, status) in [
        ("ada alan grace", "ada\ngrace\n", 0),
        ("alan", "", 1),
        ("-v ada alan", "alan\n", 0),
        ("-v ada", "", 1),
        ("-c ada alan grace", "2\n", 0),
        ("-c alan", "0\n", 1),
        ("-vc ada alan", "1\n", 0),
        ("-q ada", "", 0),
        ("-q alan", "", 1),
        ("-qc ada", "", 0),
        ("--null ada", "ada\0", 0),
    ] {
        let ran = folder.run(&format!("query names.ribbon {arguments}"));
        assert_eq!((ran.stdout.as_str(), ran.status), (stdout, status), "{arguments}");
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn lines_are_printed_unchanged_and_in_order() {
    let folder = names();
    for (arguments, input, stdout) in [
        ("", "grace\nalan\nada\n", "grace\nada\n"),
        ("", "alan\ngrace", "grace\n"),
        ("", "ada\r\nalan\r\n", "ada\r\n"),
        ("-v", "ada\nalan\n\n", "alan\n\n"),
        ("-c", "ada\nalan\nada\n", "2\n"),
        ("-q", "alan\nada\n", ""),
        ("-0", "ada\0alan\0grace", "ada\0grace\0"),
        ("--column 2 --delimiter ,", "1,ada,x\n2,alan,y\n3,grace", "1,ada,x\n3,grace\n"),
    ] {
        for threads in [1, 3] {
            let arguments = format!("query names.ribbon {arguments} --threads {threads}");
            let ran = folder.run_with(&arguments, input.as_bytes());
            assert_eq!((ran.stdout.as_str(), ran.status), (stdout, 0), "{arguments}");
        }
    }
    let none = folder.run("query names.ribbon");
    assert_eq!((none.stdout.as_str(), none.status), ("", 1));
}

/// A key need not be UTF-8.
#[test]
fn any_bytes_are_a_key() {
    let folder = Folder::new();
    folder.write("keys", b"\xff\xfe\n\x80\n");
    folder.good("build keys --fpr 1e-8 -o out.ribbon");
    assert_eq!(folder.good("query out.ribbon -c --keys keys"), "2\n");
    assert_eq!(
        folder.good("verify out.ribbon --keys keys"),
        "out.ribbon: intact, all 2 keys found\n"
    );
}

#[test]
fn long_streams_keep_their_order() {
    let folder = Folder::new();
    let lines = lines(200_000);
    folder.write("half", lines[..100_000].concat());
    folder.write("all.gz", gzip(lines.concat().as_bytes()));
    folder.good("build half --fpr 1e-8 -o out.ribbon");
    for threads in [1, 2, 5] {
        let found = folder.good(&format!("query out.ribbon --keys all.gz --threads {threads}"));
        assert!(found == lines[..100_000].concat());
        let others = folder.good(&format!("query -v out.ribbon --keys all.gz --threads {threads}"));
        assert!(others == lines[100_000..].concat());
    }
}

#[test]
fn digests_and_integers_are_found() {
    let folder = Folder::new();
    folder.write("hex", "00FF:3\nABCD:1\n");
    folder.good("build --input hex hex --fpr 1e-8 --key-seed 5 -o hex.ribbon");
    assert_eq!(folder.good("query --input hex hex.ribbon 00ff abce"), "00ff\n");
    assert_eq!(folder.good("query --input hex hex.ribbon --keys hex"), "00FF:3\nABCD:1\n");
    folder.write("integers", [7u64.to_le_bytes(), 9u64.to_le_bytes()].concat());
    folder.good("build --input u64le integers --fpr 1e-8 -o integers.ribbon");
    assert_eq!(folder.good("query --input u64le integers.ribbon 7 8 9"), "7\n9\n");
    let ran = folder.run_with("query --input u64le integers.ribbon", &9u64.to_le_bytes());
    assert_eq!(ran.stdout.as_bytes(), 9u64.to_le_bytes());
}

/// The result of a key is printed before the next key is read.
#[test]
fn results_are_printed_immediately() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let folder = names();
    let mut command = folder.command("query names.ribbon");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ribbon");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    for key in ["ada\n", "grace\n"] {
        stdin.write_all(key.as_bytes()).expect("a query");
        let mut result = String::new();
        stdout.read_line(&mut result).expect("a result");
        assert_eq!(result, key);
    }
    drop(stdin);
    assert!(child.wait().expect("an end").success());
}

#[test]
fn info_as_text_and_json() {
    let folder = names();
    let text = folder.good("info names.ribbon");
    assert!(text.starts_with("keys            3\nsize            "), "{text}");
    assert!(text.contains("\nbits per key    "), "{text}");
    let info: Value = serde_json::from_str(&folder.good("info names.ribbon --json")).expect("JSON");
    let fields =
        "keys bytes bits_per_key overhead expected_rate variant width columns seed shards version";
    for field in fields.split(' ') {
        assert!(info.get(field).is_some_and(|value| !value.is_null()), "{field}");
    }
    assert_eq!(info.as_object().expect("an object").len(), fields.split(' ').count());
    assert_eq!(info["keys"], 3);
    assert_eq!(info["bytes"], folder.read("names.ribbon").len());
    assert_eq!(info["variant"], "standard");
    assert_eq!(info["version"], 1);
}

#[test]
fn plans_of_every_variant() {
    let folder = Folder::new();
    let table = folder.good("plan --keys 1e6 --fpr 1%");
    assert!(table.contains("standard") && table.contains("homogeneous"), "{table}");
    assert!(table.contains("  bits per key  "), "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with('*')).count(), 1, "{table}");
    let lengths =
        |text: &str| text.lines().map(str::len).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(lengths(&table).len(), 1, "{table}");
    let plans: Value = serde_json::from_str(&folder.good("plan --keys 1e6 --json")).expect("JSON");
    let plans = plans.as_array().expect("a list");
    assert!(plans.len() > 4);
    assert!(plans.iter().all(|plan| plan["expected_rate"].as_f64().expect("a rate") <= 0.01));
    let only = folder.good("plan --keys 1e6 --variant standard --width 64");
    assert_eq!(only.lines().count(), 2, "{only}");
}

/// The plan of `build` for that number of keys and an effort.
fn planned(folder: &Folder, keys: u64, effort: &str) -> Value {
    let plans = folder.good(&format!("plan --keys {keys} --effort {effort} --json"));
    let plans: Value = serde_json::from_str(&plans).expect("JSON");
    let mut plans = plans.as_array().expect("a list").iter();
    plans.find(|plan| plan["default"] == true).expect("a default").clone()
}

#[test]
fn plans_of_every_effort() {
    let folder = Folder::new();
    let bytes = |plan: &Value| plan["bytes"].as_u64().expect("bytes");
    for keys in [1000, 4000, 16_000, 20_000, 40_000] {
        let [normal, thorough] = ["normal", "thorough"].map(|e| planned(&folder, keys, e));
        assert!(bytes(&thorough) <= bytes(&normal), "{thorough} and {normal}");
    }
    let [normal, thorough] = ["normal", "thorough"].map(|e| planned(&folder, 4000, e));
    assert!(bytes(&thorough) < bytes(&normal), "{thorough} and {normal}");
    // The effort also applies to rows of a given variant and width.
    let only = "plan --keys 4000 --variant standard --width 128";
    assert_ne!(folder.good(only), folder.good(&format!("{only} --effort thorough")));
}

#[test]
fn verify_names_the_first_missing_key() {
    let folder = names();
    assert_eq!(folder.good("verify names.ribbon"), "names.ribbon: intact\n");
    let all = folder.good("verify names.ribbon --keys names");
    assert_eq!(all, "names.ribbon: intact, all 3 keys found\n");
    folder.write("others", "ada\nalan\nbob\n");
    let ran = folder.run("verify names.ribbon --keys names --keys others");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert_eq!(
        ran.stderr,
        "ribbon: names.ribbon: the key of others, line 2 is missing (alan): was it built from \
         other keys?\n"
    );
}
