//! The same keys give the same file, in any input format and order.

use crate::support::{Folder, gzip, lines, zstd};
use ribbonfilter::Filter;

/// Builds a filter with these arguments and returns its file.
fn built(folder: &Folder, arguments: &str) -> Vec<u8> {
    folder.good(&format!("build --force -o out.ribbon {arguments}"));
    folder.read("out.ribbon")
}

#[test]
fn compression_files_order_and_threads_do_not_matter() {
    let folder = Folder::new();
    let lines = lines(100_000);
    let text = lines.concat();
    let backwards: String = lines.iter().rev().map(String::as_str).collect();
    folder.write("plain", &text);
    folder.write("backwards", &backwards);
    folder.write("crlf", text.replace('\n', "\r\n"));
    folder.write("null", text.replace('\n', "\0"));
    folder.write("table", text.replace("key", "one;key").replace('\n', ";three\n"));
    folder.write("unended", text.trim_end());
    folder.write("gzip", gzip(text.as_bytes()));
    folder.write("zstd", zstd(text.as_bytes()));
    let half = text.len() / 2;
    folder
        .write("gzips", [gzip(&text.as_bytes()[..half]), gzip(&text.as_bytes()[half..])].concat());
    folder
        .write("zstds", [zstd(&text.as_bytes()[..half]), zstd(&text.as_bytes()[half..])].concat());
    let mut ten = String::new();
    for (number, part) in lines.chunks(10_000).enumerate() {
        let compress: fn(&[u8]) -> Vec<u8> = [<[u8]>::to_vec, gzip, zstd][number % 3];
        folder.write(&format!("part{number}"), compress(part.concat().as_bytes()));
        ten.push_str(&format!("part{number} "));
    }

    let keys = lines.iter().map(|line| line.trim_end());
    let expected = Filter::build(keys, 0.01).expect("a filter").into_inner().to_vec();
    for input in ["plain", "backwards", "crlf", "unended", "gzip", "zstd", "gzips", "zstds", &ten] {
        for threads in [1, 2, 7] {
            let bytes = built(&folder, &format!("{input} --threads {threads}"));
            assert!(bytes == expected, "{input} on {threads} threads");
        }
    }
    assert!(built(&folder, "--null null") == expected);
    assert!(built(&folder, "--column 2 --delimiter ; table") == expected);
    for input in [text.as_bytes().to_vec(), gzip(text.as_bytes()), zstd(text.as_bytes())] {
        for arguments in ["build --force -o out.ribbon", "build -f -o out.ribbon -"] {
            assert_eq!(folder.run_with(arguments, &input).status, 0);
            assert!(folder.read("out.ribbon") == expected);
        }
    }
}

#[test]
fn digests_and_integers() {
    let folder = Folder::new();
    let digests: Vec<[u8; 20]> =
        (0..1000u32).map(|n| std::array::from_fn(|at| (n >> at) as u8)).collect();
    let line = |digest: &[u8; 20]| digest.iter().map(|byte| format!("{byte:02X}")).collect();
    let digits: Vec<String> = digests.iter().map(line).collect();
    folder.write("plain", digits.join("\n"));
    folder.write("counted", digits.join(":17\r\n").to_lowercase());
    let expected = Filter::build(digests, 0.01).expect("a filter").into_inner().to_vec();
    assert!(built(&folder, "--input hex plain") == expected);
    assert!(built(&folder, "--input hex counted") == expected);

    let integers: Vec<u8> = (0..1000u64).flat_map(u64::to_le_bytes).collect();
    folder.write("integers", integers);
    let expected = Filter::build(0..1000, 0.01).expect("a filter").into_inner().to_vec();
    assert!(built(&folder, "--input u64le integers") == expected);
    // A list of integers may begin like compressed data.
    folder.write("unlucky", 0x0008_8b1f_u64.to_le_bytes());
    let expected = Filter::build([0x0008_8b1f], 0.01).expect("a filter").into_inner().to_vec();
    assert!(built(&folder, "--plain --input u64le unlucky") == expected);
}

/// Lines longer than a chunk, lines at its boundaries, and empty lines.
#[test]
fn lines_of_all_lengths() {
    let folder = Folder::new();
    let chunk = 1 << 19;
    let lengths = [0, 1, chunk - 3, 2, chunk, chunk + 1, 3 * chunk, 0, 5, chunk - 1];
    let keys: Vec<String> =
        lengths.iter().enumerate().map(|(n, len)| n.to_string().repeat(*len)).collect();
    folder.write("long", keys.join("\n"));
    let expected = Filter::build(&keys, 0.01).expect("a filter").into_inner().to_vec();
    for threads in [1, 3] {
        assert!(built(&folder, &format!("--threads {threads} long")) == expected);
    }
}

#[test]
fn targets_variants_and_seeds_reach_the_library() {
    let folder = Folder::new();
    folder.write("keys", lines(5000).concat());
    let keys = || lines(5000).into_iter().map(|line| line.trim_end().to_owned());
    let cases = [
        ("--fpr 1/1000", Filter::builder().false_positive_rate(0.001)),
        ("--bits-per-key 9.5", Filter::builder().bits_per_key(9.5)),
        ("--size 6K", Filter::builder().total_bytes(6144)),
        ("--variant homogeneous", Filter::builder().variant(ribbonfilter::Variant::Homogeneous)),
        ("--width 64", Filter::builder().width(ribbonfilter::Width::W64)),
        ("--effort normal", Filter::builder()),
        ("--effort thorough", Filter::builder().effort(ribbonfilter::Effort::Thorough)),
        ("--key-seed 0x7", Filter::builder().key_seed(7)),
        ("--memory 1G", Filter::builder()),
    ];
    for (arguments, mut builder) in cases {
        builder.extend(keys());
        let expected = builder.finish().expect("a filter").into_inner().to_vec();
        assert!(built(&folder, &format!("keys {arguments}")) == expected, "{arguments}");
    }
}

/// More effort gives a file that is not larger, and no key is missing.
#[test]
fn a_thorough_build_is_not_larger() {
    let folder = Folder::new();
    for keys in [1000, 4000, 20_000] {
        folder.write("keys", lines(keys).concat());
        let normal = built(&folder, "keys --effort normal");
        let thorough = built(&folder, "keys --effort THOROUGH");
        assert!(thorough.len() <= normal.len(), "{} and {}", thorough.len(), normal.len());
        folder.good("verify out.ribbon --keys keys");
        assert_eq!(folder.good("query -c out.ribbon --keys keys"), format!("{keys}\n"));
    }
}

#[test]
fn the_last_line_is_a_summary() {
    let folder = Folder::new();
    folder.write("keys", lines(1000).concat());
    let output = folder.good("build keys -o out.ribbon");
    for part in
        ["1,000 keys, ", " bytes, ", " bits per key, overhead ", "expected rate 0.00", "seconds\n"]
    {
        assert!(output.contains(part), "{output:?} lacks {part:?}");
    }
    assert_eq!(output.lines().count(), 1);
    assert_eq!(folder.good("build keys --quiet -o other.ribbon"), "");
    assert_eq!(folder.names(), ["keys", "other.ribbon", "out.ribbon"]);
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let folder = Folder::new();
    folder.write("keys", "ada\n");
    folder.write("out.ribbon", "precious");
    folder.run("build keys -o out.ribbon").fails_with("already exists: --force replaces it");
    assert_eq!(folder.read("out.ribbon"), b"precious");
    folder.good("build keys -o out.ribbon --force");
    assert_ne!(folder.read("out.ribbon"), b"precious");
}

/// New files have the permissions of the umask, and symbolic links are preserved.
#[cfg(unix)]
#[test]
fn permissions_and_links() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("keys", "ada\n");
    folder.good("build keys -o out.ribbon");
    let mode = |name| folder.path(name).metadata().expect("a file").permissions().mode();
    assert_eq!(mode("out.ribbon"), mode("keys"));
    std::os::unix::fs::symlink("out.ribbon", folder.path("link")).expect("a link");
    folder.good("build keys -o link --force --fpr 0.5");
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.read("link"), folder.read("out.ribbon"));
}

/// A build that spills hashes gives the same file and leaves its directory empty.
#[test]
fn hashes_beyond_the_memory_are_spilled() {
    let folder = Folder::new();
    folder.write("keys", lines(400_000).concat());
    std::fs::create_dir(folder.path("spill")).expect("a directory");
    let arguments = "keys --variant standard --width 64";
    let expected = built(&folder, arguments);
    for threads in [1, 2] {
        let limits = format!("--memory 4MiB --spill spill --threads {threads}");
        assert!(built(&folder, &format!("{arguments} {limits}")) == expected);
        assert_eq!(std::fs::read_dir(folder.path("spill")).expect("a directory").count(), 0);
    }
    let refused = folder.run("build keys -o other.ribbon --threads 1 --memory 4MiB");
    refused.fails_with("spill hashes to disk");
}
