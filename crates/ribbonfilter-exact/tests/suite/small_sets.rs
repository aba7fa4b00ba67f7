//! Every small number of members and others, and sizes up to 10^6, with every kernel.

use crate::support::{Keys, scale};
use ribbonfilter_exact::{ExactSet, Kernel};

/// Builds and queries the set with every kernel: all get the same bytes and the right results.
fn check(members: u64, others: u64) {
    let hashes: Vec<u64> = (0..members + others).map(|index| Keys::Random.hash(index)).collect();
    let (stored, rest) = hashes.split_at(members as usize);
    let mut bytes: Option<Vec<u8>> = None;
    for kernel in Kernel::available() {
        let mut builder = ExactSet::builder().kernel(kernel);
        builder.extend_member_hashes(stored.iter().copied());
        builder.extend_other_hashes(rest.iter().copied());
        let set = builder.finish().expect("ordinary keys build").with_kernel(kernel);
        assert!(bytes.get_or_insert(set.as_bytes().to_vec()) == set.as_bytes(), "{kernel:?}");
        let batch = set.contains_hash_batch(&hashes);
        for (index, (&hash, hit)) in hashes.iter().zip(batch).enumerate() {
            let expected = index < stored.len();
            assert!(hit == expected, "{members} {others} {kernel:?}: {index} in a batch");
            assert!(set.contains_hash(hash) == expected, "{members} {others} {kernel:?}: {index}");
        }
    }
}

#[test]
fn all_small_numbers() {
    for members in (0..8).chain([15, 16, 17, 63, 64, 65]) {
        for others in (0..8).chain([15, 16, 17, 63, 64, 65, 100, 500]) {
            check(members, others);
        }
    }
}

#[test]
fn all_sizes() {
    let max = scale(100_000, 1_000_000, 4_000_000);
    let sizes = (1..).map(|step| 3u64 << (step / 2) | (step & 1) << (step / 2));
    for universe in sizes.take_while(|&size| size <= max).chain([1000, 10_000, max]) {
        for members in
            [universe / 1000, universe / 100, universe / 10, universe / 2, universe - universe / 8]
        {
            check(members, universe - members);
        }
    }
}

/// A batch of any length, into a buffer of another length.
#[test]
fn batches_of_any_length() {
    let set = ExactSet::build(0..300, 300..20_000).expect("ordinary keys build");
    let keys: Vec<u32> = (0..2000).map(|index| index * 7 % 1000).collect();
    for len in [0, 1, 63, 64, 65, 511, 512, 513, 1024, 1999] {
        let expected: Vec<bool> = keys[..len].iter().map(|&key| key < 300).collect();
        assert_eq!(set.contains_batch(&keys[..len]), expected);
        for room in [0, len / 2, len + 3] {
            let mut hits = vec![true; room];
            set.contains_batch_into(&keys[..len], &mut hits);
            let filled = room.min(len);
            assert_eq!(hits[..filled], expected[..filled]);
            assert!(hits[filled..].iter().all(|&rest| rest));
        }
    }
}
