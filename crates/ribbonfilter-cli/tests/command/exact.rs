//! Exact sets: every key of the universe has the right result, and the same keys give the same file.

use crate::support::{Folder, feed, full, gzip, zstd};
use ribbonfilter::{Effort, ExactSet, ExactSetBuilder};
use serde_json::Value;
use std::collections::BTreeSet;

/// Lines of members, one key in `one_in`, and of others, in a fixed order.
fn universe(keys: u64, one_in: u64) -> (Vec<String>, Vec<String>) {
    let serials = (0..keys).map(|number| number * 7919 % 1_000_003);
    let (members, others): (Vec<_>, Vec<_>) = serials.partition(|serial| serial % one_in == 0);
    let lines =
        |serials: Vec<u64>| serials.iter().map(|serial| format!("serial {serial}\n")).collect();
    (lines(members), lines(others))
}

/// A directory with the files `members`, `others` and `universe`.
fn written(members: &[String], others: &[String]) -> Folder {
    let folder = Folder::new();
    folder.write("members", members.concat());
    folder.write("others", others.concat());
    folder.write("universe", mixed(members, others));
    folder
}

/// All lines, sorted, so that both sides are mixed.
fn mixed(members: &[String], others: &[String]) -> String {
    members.iter().chain(others).map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Members and others of a few names.
fn names() -> Folder {
    let folder = Folder::new();
    folder.write("members", "ada\ngrace\n");
    folder.write("others", "alan\nedsger\nkonrad\n");
    folder.good("exact build --members members --others others -o names.ribbon");
    folder
}

/// Builds a set with these arguments and returns its file.
fn built(folder: &Folder, arguments: &str) -> Vec<u8> {
    folder.good(&format!("exact build --force -o out.ribbon {arguments}"));
    folder.read("out.ribbon")
}

/// The bytes that the library builds from these lines.
fn expected(builder: ExactSetBuilder<'static>, members: &[String], others: &[String]) -> Vec<u8> {
    let mut builder = builder;
    builder.extend_members(members.iter().map(|line| line.trim_end()));
    builder.extend_others(others.iter().map(|line| line.trim_end()));
    builder.finish().expect("an exact set").into_inner().to_vec()
}

#[test]
fn compression_files_order_passes_and_threads_do_not_matter() {
    let (members, others) = universe(60_000, 5);
    let folder = written(&members, &others);
    let expected = expected(ExactSet::builder(), &members, &others);
    let text = mixed(&members, &others);
    folder
        .write("backwards", text.lines().rev().map(|line| format!("{line}\n")).collect::<String>());
    folder.write("crlf", text.replace('\n', "\r\n"));
    folder.write("gzip", gzip(text.as_bytes()));
    folder.write("zstd", zstd(text.as_bytes()));
    for universe in ["universe", "backwards", "crlf", "gzip", "zstd"] {
        for threads in [1, 3] {
            let arguments = format!("--members members --universe {universe} --threads {threads}");
            assert!(built(&folder, &arguments) == expected, "{arguments}");
        }
    }
    folder.write("members.gz", gzip(members.concat().as_bytes()));
    let half = others.len() / 2;
    folder.write("first", others[..half].concat());
    folder.write("second", zstd(others[half..].concat().as_bytes()));
    for arguments in [
        "--members members --others others",
        "--members members.gz --others second --others first",
        "--members members --members members --others others",
    ] {
        assert!(built(&folder, arguments) == expected, "{arguments}");
    }
    // Duplicates of a universe in files are counted; the results are the same.
    built(&folder, "--members members --universe first --universe others --universe second");
    folder.good("exact verify out.ribbon --members members --others others");
    for input in [text.as_bytes().to_vec(), gzip(text.as_bytes()), text.repeat(2).into_bytes()] {
        let ran =
            folder.run_with("exact build --members members --universe - -f -o out.ribbon", &input);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        assert!(folder.read("out.ribbon") == expected);
    }
    let ran = folder.run_with(
        "exact build --members - --others others -f -o out.ribbon",
        members.concat().as_bytes(),
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(folder.read("out.ribbon") == expected);
}

/// Others in files need no memory; those on standard input are spilled.
#[test]
fn little_memory() {
    let (members, others) = universe(400_000, 1000);
    let folder = written(&members, &others);
    let expected = expected(ExactSet::builder(), &members, &others);
    let limit = "--threads 1 --memory 1M";
    assert!(built(&folder, &format!("--members members --others others {limit}")) == expected);
    let arguments = format!("exact build --members members --universe - -f -o out.ribbon {limit}");
    let text = folder.read("universe");
    folder.run_with(&arguments, &text).fails_with("keys alone exceed the 1.0 MiB allowed");
    folder.write("out.ribbon", "");
    let ran = folder.run_with(&format!("{arguments} --spill ."), &text);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(folder.read("out.ribbon") == expected);
}

#[test]
fn settings_reach_the_library() {
    let (members, others) = universe(3000, 5);
    let folder = written(&members, &others);
    for (arguments, builder) in [
        ("", ExactSet::builder()),
        ("--effort thorough", ExactSet::builder().effort(Effort::Thorough)),
        ("--key-seed 0x7 --memory 1G", ExactSet::builder().key_seed(7)),
    ] {
        let expected = expected(builder, &members, &others);
        let arguments = format!("--members members --universe universe {arguments}");
        assert!(built(&folder, &arguments) == expected, "{arguments}");
        folder.good("exact verify out.ribbon --members members --others others");
    }
    let output = folder.good("exact build --members members --universe universe -o other");
    for part in [" members, universe of 3,000 keys, ", " bits per member, overhead ", " seconds\n"]
    {
        assert!(output.contains(part), "{output}");
    }
    assert_eq!(folder.good("exact build --members members --others others -o q --quiet"), "");
}

/// Every key of the universe, for several fractions of members: both sides may be the smaller one.
#[test]
fn every_line_has_the_right_result() {
    let keys = if full() { 1_000_000 } else { 30_000 };
    for one_in in [2, 5, 7] {
        let (members, others) = universe(keys, one_in);
        let folder = written(&members, &others);
        for (one, two) in [("members", "others"), ("others", "members")] {
            built(&folder, &format!("--members {one} --universe universe"));
            let found = folder.good("exact query out.ribbon --keys universe --threads 2");
            let lines = String::from_utf8(folder.read(one)).expect("text");
            assert!(found.lines().collect::<BTreeSet<_>>() == lines.lines().collect());
            let found = folder.good("exact query -v out.ribbon --keys universe");
            let lines = String::from_utf8(folder.read(two)).expect("text");
            assert!(found.lines().collect::<BTreeSet<_>>() == lines.lines().collect());
            let verified =
                folder.good(&format!("exact verify out.ribbon --members {one} --others {two}"));
            assert!(verified.starts_with("out.ribbon: intact, all "), "{verified}");
            assert!(verified.ends_with(" others right\n"), "{verified}");
        }
    }
}

#[test]
fn every_digest_and_integer_has_the_right_result() {
    let folder = Folder::new();
    let digest = |number: u64| format!("{:016X}:3\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    folder.write("members", (0..500).map(digest).collect::<String>().to_lowercase());
    folder.write("universe", (0..20_000).map(digest).collect::<String>());
    built(&folder, "--input hex --members members --universe universe");
    let found = folder.good("exact query --input hex out.ribbon --keys universe");
    assert!(found == (0..500).map(digest).collect::<String>());

    let integers =
        |range: std::ops::Range<u64>| range.flat_map(u64::to_le_bytes).collect::<Vec<_>>();
    folder.write("members", integers(0..500));
    folder.write("others", integers(500..20_000));
    let bytes = built(&folder, "--input u64le --members members --others others");
    assert!(bytes == ExactSet::build(0..500, 500..20_000).expect("a set").as_bytes());
    folder.good("exact verify --input u64le out.ribbon --members members --others others");
    assert_eq!(folder.good("exact query --input u64le out.ribbon 17 4711 499"), "17\n499\n");
}

/// Groups with different fractions of members, with none and with nothing else.
#[test]
fn every_key_of_a_group_has_the_right_result() {
    let folder = Folder::new();
    let (mut members, mut others) = (String::new(), String::new());
    let mut builder = ExactSet::builder();
    for (group, one_in) in [("acme", 100), ("none", u64::MAX), ("half", 2), ("all", 1), ("", 7)] {
        for key in 0..5000 {
            let is_member = key % one_in == 1 % one_in && one_in != u64::MAX;
            let side = if is_member { &mut members } else { &mut others };
            *side += &format!("{group}\t{key}\n");
            match is_member {
                true => builder.push_member_in(group, key.to_string()),
                false => builder.push_other_in(group, key.to_string()),
            }
        }
    }
    folder.write("members", &members);
    folder.write("others", &others);
    folder.write("universe", zstd((others.clone() + &members).as_bytes()));
    let expected = builder.finish().expect("a set");
    // In two passes over the universe, how many others a group has is an estimate.
    built(&folder, "--groups --members members --universe universe");
    folder.good("exact verify --groups out.ribbon --members members --others others");
    let ran = folder.run_with(
        "exact build --groups --members members --universe - -f -o out.ribbon",
        &folder.read("universe"),
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(folder.read("out.ribbon") == expected.as_bytes());
    assert!(built(&folder, "--groups --members members --others others") == expected.as_bytes());
    folder.good("exact verify --groups out.ribbon --members members --others others");
    assert!(folder.good("exact query --groups out.ribbon --keys universe") == members);
    assert!(folder.good("exact query --groups -v out.ribbon --keys universe") == others);
    let info = folder.good("exact info out.ribbon");
    assert!(info.contains("groups          5\n") && info.contains("outside rate    -\n"), "{info}");

    // Unknown groups are neither members nor others.
    for (options, input, stdout) in [
        ("", "acme\t1\nnobody\t1\nall\t3\n", "acme\t1\nall\t3\n"),
        ("-v", "acme\t2\nnobody\t1\nall\t3\n", "acme\t2\n"),
        ("-c", "nobody\t1\nsomebody\t1\n", "0\n"),
    ] {
        let ran = folder
            .run_with(&format!("exact query --groups {options} out.ribbon"), input.as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.status), (stdout, 2), "{options}");
        let message = "ribbon: out.ribbon: has no key of the group of standard input, line ";
        assert!(ran.stderr.starts_with(message), "{ran:?}");
        assert!(ran.stderr.contains("(nobody\\t1): nothing is known about "), "{ran:?}");
    }
    let known = b"acme\t1\nnobody\t1\n";
    assert_eq!(folder.run_with("exact query --groups -q out.ribbon", known).status, 0);
    let mut command = folder.command("exact query --groups out.ribbon");
    let ran = feed(command.args(["half\t3", "half\t4"]), b"");
    assert_eq!((ran.stdout.as_str(), ran.status), ("half\t3\n", 0));
    let mut command = folder.command("exact query --groups out.ribbon");
    feed(command.arg("17"), b"").fails_with("17: no group: write it and a tab before the key");
    let ran =
        folder.run_with("exact verify --groups out.ribbon --others -", b"acme\t2\nnobody\t1\n");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("standard input, line 2 is of an unknown group"), "{ran:?}");
    folder.run("exact query out.ribbon 17").fails_with("all of its keys have groups: use --groups");
}

#[test]
fn arguments_and_options_of_query() {
    let folder = names();
    for (arguments, input, stdout, status) in [
        ("ada alan grace", "", "ada\ngrace\n", 0),
        ("alan", "", "", 1),
        ("-v ada alan konrad", "", "alan\nkonrad\n", 0),
        ("-c ada alan grace", "", "2\n", 0),
        ("-c alan", "", "0\n", 1),
        ("-q alan ada", "", "", 0),
        ("-q alan", "", "", 1),
        ("", "grace\r\nalan\r\nada", "grace\r\nada\n", 0),
        ("-v -0", "ada\0alan\0edsger", "alan\0edsger\0", 0),
        ("--column 2 --delimiter ,", "1,ada,x\n2,alan,y\n", "1,ada,x\n", 0),
        ("", "", "", 1),
    ] {
        let arguments = format!("exact query names.ribbon {arguments}");
        let ran = folder.run_with(&arguments, input.as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.status), (stdout, status), "{arguments}");
        assert_eq!(ran.stderr, "");
    }
    folder
        .run("exact query --groups names.ribbon ada")
        .fails_with("none of its keys has a group: leave out --groups");
}

#[test]
fn either_side_may_be_empty() {
    let folder = names();
    folder.write("empty", "");
    for (arguments, keys, stdout) in [
        ("--members members --others empty", "members", "ada\ngrace\n"),
        ("--members empty --others others", "others", ""),
        ("--members members --universe empty", "members", "ada\ngrace\n"),
        ("--members empty --universe others", "others", ""),
    ] {
        built(&folder, arguments);
        let ran = folder.run(&format!("exact query out.ribbon --keys {keys}"));
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (stdout, ""), "{arguments}");
        let size = folder.read("out.ribbon").len();
        let info = folder.good("exact info out.ribbon");
        assert!(info.contains(&format!("overhead        {size} bytes\n")), "{info}");
        let info: Value =
            serde_json::from_str(&folder.good("exact info --json out.ribbon")).expect("JSON");
        assert_eq!(
            (&info["overhead"], info["overhead_bytes"].as_f64()),
            (&Value::Null, Some(size as f64))
        );
    }
    built(&folder, "--members members --universe members");
    assert_eq!(folder.good("exact query out.ribbon --keys members"), "ada\ngrace\n");
    for side in ["others", "universe"] {
        folder
            .run(&format!("exact build --members empty --{side} empty -o none"))
            .fails_with("empty: contains no keys");
    }
}

#[test]
fn info_as_text_and_json() {
    let (members, others) = universe(20_000, 5);
    let folder = written(&members, &others);
    built(&folder, "--members members --others others");
    let text = folder.good("exact info out.ribbon");
    assert!(text.starts_with("members         "), "{text}");
    assert!(text.contains("\nuniverse        20,000 keys\ngroups          1\n"), "{text}");
    let info = folder.good("exact info out.ribbon --json");
    let info: Value = serde_json::from_str(&info).expect("JSON");
    let fields = "members universe groups bytes bits_per_member lower_bound_bits overhead \
                  overhead_bytes outside_rate seed version";
    for field in fields.split_whitespace() {
        assert!(info.get(field).is_some_and(|value| !value.is_null()), "{field}");
    }
    assert_eq!(info.as_object().expect("an object").len(), fields.split_whitespace().count());
    assert_eq!(info["members"], members.len());
    assert_eq!(info["universe"], 20_000);
    assert_eq!(info["bytes"], folder.read("out.ribbon").len());
}

#[test]
fn an_exact_set_is_verified() {
    let folder = names();
    for command in ["verify", "exact verify"] {
        assert_eq!(folder.good(&format!("{command} names.ribbon")), "names.ribbon: intact\n");
    }
    for (arguments, message) in [
        ("--members others", "the key of others, line 1 is not a member (alan)"),
        ("--members members --others members", "the key of members, line 1 is a member (ada)"),
    ] {
        let ran = folder.run(&format!("exact verify names.ribbon {arguments}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    let mut bytes = folder.read("names.ribbon");
    bytes[0] ^= 1;
    folder.write("names.ribbon", bytes);
    for command in ["verify", "exact verify"] {
        folder.run(&format!("{command} names.ribbon")).fails_with("corrupt");
    }
}

#[test]
fn exact_sets_and_filters_are_distinguished() {
    let folder = names();
    folder.good("build members -o filter");
    folder.good("build members --shards 2 -o shards");
    for arguments in ["query names.ribbon ada", "info names.ribbon", "map get names.ribbon ada"] {
        folder.run(arguments).fails_with("names.ribbon: is an exact set, not a f");
        folder.run(arguments).fails_with("use `ribbon exact query` or `ribbon exact info`");
    }
    for arguments in ["exact query filter ada", "exact info filter", "exact verify filter"] {
        folder.run(arguments).fails_with(
            "filter: is a filter, not an exact set: use `ribbon query` or `ribbon info`",
        );
    }
    folder
        .run("exact info shards")
        .fails_with("shards: is a container of shards, not an exact set");
    folder.run("exact query none ada").fails_with("none: no such file");
}

#[test]
fn a_key_on_both_sides() {
    let folder = names();
    folder.write("more", "konrad\ngrace\n");
    folder.write("digests", "00ff\n");
    folder.write("upper", "0A00\n00FF:7\n");
    folder.write("acme", "acme\t17\n");
    let before = folder.names();
    for (arguments, message) in [
        (
            "--members members --others others --others more",
            "more, line 2: the key grace is also a member, in members, line 2: remove one of the \
             lines, or use --universe if members may be among the others",
        ),
        (
            "--input hex --members digests --others upper",
            "upper, line 2: the key 00FF is also a member, in digests, line 1",
        ),
        // The hash of a key in a group does not tell its line.
        ("--groups --members acme --others acme", "acme: a key is also a member, or two keys have"),
    ] {
        folder.run(&format!("exact build -o out {arguments}")).fails_with(message);
        assert_eq!(folder.names(), before);
    }
    let ran = folder.run_with("exact build --members members --others - -o out", b"x\nada\n");
    ran.fails_with("standard input: a key is also a member, or two keys have the same hash 0x");
    ran.fails_with("remove the key from one side, or use --universe");
    ran.fails_with("if the keys differ, choose another --key-seed");
    folder.good("exact build --members members --universe others --universe more -o out");
}

#[test]
fn errors_leave_no_file() {
    let folder = names();
    folder.write("digests", "00FF\nxyz\n");
    folder.write("lonely", "acme\t17\n18\n");
    folder.write("gzip", &gzip(b"some bytes that are cut off")[..20]);
    let (members, others) = universe(60_000, 5);
    folder.write("many", members.concat());
    folder.write("rest", others.concat());
    let before = folder.names();
    for (arguments, message) in [
        ("--others others", "--members <FILE>"),
        ("--members members", "--universe <FILE>"),
        ("--members members --others others --universe others", "cannot be used with"),
        ("--members none --others others", "none: no such file"),
        ("--members members --others none", "none: no such file"),
        ("--members members --others .", ".: is a directory"),
        ("--members - --others -", "both sides are standard input: name a file for one of them"),
        ("--input hex --members digests --others others", "digests, line 2: 'x' is not"),
        ("--input hex --members /dev/null --others digests", "digests, line 2: 'x' is not"),
        ("--groups --members lonely --others others", "lonely, line 2: no group"),
        ("--groups --members /dev/null --others lonely", "lonely, line 2: no group"),
        ("--groups --column 2 --members members --others others", "cannot be used with"),
        ("--groups --input u64le --members members --others others", "--groups is for lines"),
        ("--members members --others gzip", "gzip: "),
        ("--members many --others others --memory 10K", "keys alone exceed the 10.0 KiB allowed"),
        ("--members many --others rest --memory 500K", "memory"),
        ("--members members --others others --spill /tmp", "--memory <BYTES>"),
        ("--members members --others others --memory 1G --spill none", "none: no such file"),
        ("--members members --others others --effort most", "[possible values: normal, thorough]"),
    ] {
        folder.run(&format!("exact build -o out {arguments}")).fails_with(message);
        assert_eq!(folder.names(), before, "{arguments}");
    }
    folder
        .run("exact build --members members --others others -o names.ribbon")
        .fails_with("names.ribbon: already exists");
    folder
        .run("exact query --input hex names.ribbon xyz")
        .fails_with("xyz: 'x' is not a hexadecimal");
}
