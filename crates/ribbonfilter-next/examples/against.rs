//! The new core beside the old one and binary fuse filters, in one process, alternating.
//!
//! `against SIZES ROUNDS [what]`: builds, single queries, batches and dependent queries, as ratios to
//! BinaryFuse8 (BinaryFuse16 for rows of 16 columns).
use ribbonfilter_next::{Filter, Kernel};
use std::hint::black_box;
use std::time::Instant;
use xorf::Filter as _;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(clippy::large_enum_variant, reason = "there are few")]
enum Any {
    Fuse8(xorf::BinaryFuse8),
    Fuse16(xorf::BinaryFuse16),
    New(Filter),
    Old(ribbonfilter::Filter),
}

impl Any {
    #[inline(always)]
    fn each(&self, hashes: &[u64], dependent: bool) -> usize {
        fn count(hashes: &[u64], dependent: bool, contains: impl Fn(u64) -> bool) -> usize {
            let mut hits = 0;
            match dependent {
                false => hashes.iter().for_each(|&hash| hits += usize::from(contains(hash))),
                true => {
                    for &hash in hashes {
                        hits += usize::from(contains(hash ^ (hits as u64 & 1)));
                    }
                }
            }
            hits
        }
        match self {
            Self::Fuse8(filter) => count(hashes, dependent, |hash| filter.contains(&hash)),
            Self::Fuse16(filter) => count(hashes, dependent, |hash| filter.contains(&hash)),
            Self::New(filter) => count(hashes, dependent, |hash| filter.contains_hash(hash)),
            Self::Old(filter) => count(hashes, dependent, |hash| filter.contains_hash(hash)),
        }
    }

    fn batch(&self, hashes: &[u64], hits: &mut [bool]) {
        match self {
            Self::New(filter) => filter.contains_hash_batch_into(hashes, hits),
            Self::Old(filter) => filter.contains_hash_batch_into(hashes, hits),
            _ => unreachable!(),
        }
    }

    fn bits(&self, n: usize) -> f64 {
        8.0 / n as f64
            * match self {
                Self::Fuse8(filter) => filter.len() as f64,
                Self::Fuse16(filter) => 2.0 * filter.len() as f64,
                Self::New(filter) => filter.size_in_bytes() as f64 - 40.0,
                Self::Old(filter) => filter.size_in_bytes() as f64 - 40.0,
            }
    }
}

type Build = Box<dyn Fn(&[u64]) -> Any>;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = args[1].parse().unwrap();
    let kernel = std::env::var("RIBBONFILTER_KERNEL").unwrap_or(Kernel::best().name().into());
    let new_kernel = Kernel::by_name(&kernel).unwrap();
    let old_kernel = ribbonfilter::Kernel::by_name(&kernel).unwrap();
    let new = move |builder: fn() -> ribbonfilter_next::FilterBuilder<'static>| -> Build {
        Box::new(move |keys| {
            let mut builder = builder().kernel(new_kernel);
            builder.extend_hashes(keys.iter().copied());
            Any::New(builder.finish().unwrap().with_kernel(new_kernel))
        })
    };
    let old = move |builder: fn() -> ribbonfilter::FilterBuilder<'static>| -> Build {
        Box::new(move |keys| {
            let mut builder = builder().kernel(old_kernel);
            builder.extend_hashes(keys.iter().copied());
            Any::Old(builder.finish().unwrap().with_kernel(old_kernel))
        })
    };
    let fuse8: Build = Box::new(|keys| Any::Fuse8(xorf::BinaryFuse8::try_from(keys).unwrap()));
    let fuse16: Build = Box::new(|keys| Any::Fuse16(xorf::BinaryFuse16::try_from(keys).unwrap()));
    let all: Vec<(&str, Build)> = vec![
        ("BinaryFuse8", fuse8),
        ("fast r=8", new(|| Filter::builder().columns(8.0).fast())),
        ("default r=8", new(|| Filter::builder().columns(8.0))),
        ("default 0.01", new(|| Filter::builder().false_positive_rate(0.01))),
        ("old default r=8", old(|| ribbonfilter::Filter::builder().columns(8.0))),
        ("old default 0.01", old(|| ribbonfilter::Filter::builder().false_positive_rate(0.01))),
        ("BinaryFuse16", fuse16),
        ("fast r=16", new(|| Filter::builder().columns(16.0).fast())),
    ];
    for n in args[0].split(',').map(|n| n.parse::<f64>().unwrap() as usize) {
        let sets: usize = (100_000 / n).clamp(1, 20);
        let queries: Vec<u64> = (0..1 << 20).map(|i| mix(i ^ 0xdead_beef_0000_0000)).collect();
        let mut hits = vec![false; queries.len()];
        let mut times = vec![[f64::MAX; 4]; all.len()];
        let mut bits = vec![0.0; all.len()];
        for round in 0..rounds {
            for (index, (_, build)) in all.iter().enumerate() {
                let mut best =
                    |what: usize, time: f64| times[index][what] = times[index][what].min(time);
                let (mut total, mut filter) = (0.0, None);
                for set in 0..sets {
                    let seed = ((round * sets + set) as u64) << 40;
                    let keys: Vec<u64> = (0..n as u64).map(|i| mix(i ^ seed)).collect();
                    let clock = Instant::now();
                    filter = Some(black_box(build(&keys)));
                    total += clock.elapsed().as_secs_f64();
                    if round == 0 && set == 0 {
                        assert_eq!(filter.as_ref().unwrap().each(&keys, false), n);
                    }
                }
                best(0, total * 1e9 / (n * sets) as f64);
                let filter = filter.unwrap();
                bits[index] = filter.bits(n);
                let per_query = 1e9 / queries.len() as f64;
                black_box(filter.each(&queries, false));
                for _ in 0..3 {
                    let clock = Instant::now();
                    black_box(black_box(&filter).each(&queries, false));
                    best(1, clock.elapsed().as_secs_f64() * per_query);
                    if matches!(filter, Any::New(_) | Any::Old(_)) {
                        let clock = Instant::now();
                        filter.batch(&queries, &mut hits);
                        best(2, clock.elapsed().as_secs_f64() * per_query);
                    }
                }
                let clock = Instant::now();
                black_box(black_box(&filter).each(&queries, true));
                best(3, clock.elapsed().as_secs_f64() * per_query);
            }
        }
        println!("{n} keys, kernel {kernel}: build, single, batch, dependent (over binary fuse)");
        for (index, (name, _)) in all.iter().enumerate() {
            let base = if index < 6 { 0 } else { 6 };
            let ratio = |what: usize| {
                let against = times[base][if what == 2 { 1 } else { what }];
                match times[index][what] {
                    f64::MAX => "-".to_string(),
                    time => format!("{time:.2} ({:.2})", time / against),
                }
            };
            println!(
                "  {name:17} {:.4} bits (bytes {:.3})  {}  {}  {}  {}",
                bits[index],
                bits[index] / bits[base],
                ratio(0),
                ratio(1),
                ratio(2),
                ratio(3)
            );
        }
    }
}
