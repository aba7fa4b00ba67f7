//! Containers of shards.

use crate::support::{Folder, lines};

#[test]
fn containers_support_query_verify_and_info() {
    let folder = Folder::new();
    folder.write("keys", lines(20_000).concat());
    let output = folder.good("build keys --shards 8 --fpr 0.001 -o keys.ribbon");
    assert!(output.starts_with("20,000 keys, "), "{output}");
    folder.good("verify keys.ribbon --keys keys");
    assert_eq!(folder.good("query -c keys.ribbon --keys keys"), "20000\n");
    let json = folder.good("info keys.ribbon --json");
    assert!(json.contains("\"shards\": 8,") && json.contains("\"keys\": 20000,"), "{json}");
    folder.good("build keys --shards 8 --fpr 0.001 --threads 1 -o again.ribbon");
    assert_eq!(folder.read("keys.ribbon"), folder.read("again.ribbon"));
}

#[test]
fn a_corrupt_shard_is_named() {
    let folder = Folder::new();
    folder.write("keys", lines(1000).concat());
    folder.good("build keys --shards 4 -o keys.ribbon");
    let mut bytes = folder.read("keys.ribbon");
    bytes[0] ^= 1;
    folder.write("keys.ribbon", bytes);
    folder.run("verify keys.ribbon").fails_with("shard 0 is corrupt");
}

#[test]
fn invalid_shards_are_rejected() {
    let folder = Folder::new();
    folder.write("keys", lines(10).concat());
    for (arguments, message) in [
        ("--shards 3", "power of two"),
        ("--shards 2^5", "power of two"),
        ("--shards 33554432", "power of two up to 16777216"),
        ("--shards 8 --size 1000", "--size"),
        ("--shards 8 --fpr 2", "between 0 and 1"),
    ] {
        folder.run(&format!("build keys {arguments} -o out")).fails_with(message);
        assert_eq!(folder.names(), ["keys"]);
    }
    // The settings are checked before a key is read: the empty input would be another error.
    folder.run("build - --shards 8 --fpr 2 -o out").fails_with("between 0 and 1");
    folder.good("build keys --shards 2 -o two");
    folder.run("shrink two --fpr 0.5 -o out").fails_with("container of shards");
}
