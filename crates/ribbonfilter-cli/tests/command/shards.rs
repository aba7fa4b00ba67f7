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
fn shards_of_a_fixed_size() {
    let folder = Folder::new();
    folder.write("keys", lines(20_000).concat());
    folder.good("build keys --shards 16 --shard-size 2K -o keys.ribbon");
    // The directory has 32 bytes per shard, the footer 40.
    assert_eq!(folder.read("keys.ribbon").len(), 16 * (2048 + 32) + 40);
    folder.good("verify keys.ribbon --keys keys");
    assert_eq!(folder.good("query -c keys.ribbon --keys keys"), "20000\n");
    let error = folder.run("build keys --shards 16 --shard-size 100 -o small");
    error.fails_with("100 bytes are too few");
}

#[test]
fn shards_that_are_filled_until_they_are_full() {
    let folder = Folder::new();
    folder.write("keys", lines(20_000).concat());
    folder.good("build keys --shards until-full --width 64 --fpr 1% -o keys.ribbon");
    folder.good("verify keys.ribbon --keys keys");
    assert_eq!(folder.good("query -c keys.ribbon --keys keys"), "20000\n");
    // A shard has 64^2 / 4 slots, nearly all of which hold a key.
    let json = folder.good("info keys.ribbon --json");
    assert!(json.contains("\"shards\": 2") && json.contains("\"variant\": \"standard\""), "{json}");
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
        ("--shards 8 --shard-size 1K --fpr 0.1", "--fpr"),
        ("--shard-size 1K", "--shards"),
        ("--shards until-full --shard-size 1K", "--shard-size needs a number of shards"),
        ("--shards until-full --variant bumped", "use Standard"),
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
