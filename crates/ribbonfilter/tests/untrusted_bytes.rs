//! Corrupt bytes of every stored structure. For any content, nothing panics, hangs, reads out of
//! bounds or allocates more memory than the bytes justify; and corruption is detected.
//!
//! The bytes lie between guard pages, so a read out of bounds ends the process. Checksums are
//! either left unchanged, as in accidental corruption, or recomputed, as an attacker would do.
//! This is a test program of its own, because it counts allocations.

#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "guard pages, and an allocator that counts")]

mod support;
#[path = "support/untrusted.rs"]
mod untrusted;

use ribbonfilter::{ExactSet, Filter, Function, Shards, Split, Variant, Width};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::{Keys, build, builder, kinds, random, scale};
use untrusted::{FOOTER_BYTES, SAMPLE_GROUPS, fitted, query_everything, seal, sealed};

/// The system allocator, with a count of the bytes that this thread has allocated: now, and at the
/// maximum.
struct Counting;

thread_local! {
    static TAKEN: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(more: isize) {
    // A thread that is terminating may have dropped its counter.
    let _ = TAKEN.try_with(|taken| {
        let (now, max) = taken.get();
        taken.set((now + more, max.max(now + more)));
    });
}

// SAFETY: all calls are forwarded to the system allocator, which fulfils the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller fulfils the contract of `alloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller fulfils the contract of `alloc_zeroed`, which is that of `System`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller passes memory that `alloc` or `alloc_zeroed` returned, so it is from
        // `System`, and the same layout.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work`; returns its result and the peak of the bytes allocated meanwhile on this thread.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let (before, _) = TAKEN.get();
    TAKEN.set((before, before));
    let done = work();
    (done, (TAKEN.get().1 - before) as usize)
}

/// A buffer with an inaccessible guard page on either side.
struct Guarded {
    begin: *mut u8,
    capacity: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    fn new(capacity: usize) -> Self {
        let capacity = capacity.next_multiple_of(PAGE).max(PAGE);
        // SAFETY: the map is new, so nothing else uses it. `begin` and the `capacity` bytes after it
        // are inside the map, one page from either end.
        let begin = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(
                std::ptr::null_mut(),
                capacity + 2 * PAGE,
                libc::PROT_NONE,
                flags,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let begin = map.cast::<u8>().add(PAGE);
            assert_eq!(
                libc::mprotect(begin.cast(), capacity, libc::PROT_READ | libc::PROT_WRITE),
                0
            );
            begin
        };
        Self { begin, capacity }
    }

    /// Copies the bytes so that they end at the upper guard page, or begin at the lower one.
    fn place(&mut self, bytes: &[u8], at_end: bool) -> &mut [u8] {
        assert!(bytes.len() <= self.capacity);
        let offset = if at_end { self.capacity - bytes.len() } else { 0 };
        // SAFETY: `offset + bytes.len() <= capacity`, so the slice is inside the accessible part of the
        // map. It is initialised with zeros, and the unique borrow of `self` keeps the map alive
        // and excludes other references.
        let place = unsafe { std::slice::from_raw_parts_mut(self.begin.add(offset), bytes.len()) };
        place.copy_from_slice(bytes);
        place
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: this is exactly the map that `new` made, and no borrow of it is left.
        unsafe { libc::munmap(self.begin.sub(PAGE).cast(), self.capacity + 2 * PAGE) };
    }
}

/// A stored structure.
struct Victim {
    name: String,
    bytes: Vec<u8>,
}

impl Victim {
    fn new(name: impl std::fmt::Debug, bytes: &[u8]) -> Self {
        Self { name: format!("{name:?}"), bytes: bytes.to_vec() }
    }
}

fn hashes(keys: u64) -> impl Iterator<Item = u64> {
    (0..keys).map(|index| Keys::Random.hash(index))
}

/// Filters of every variant and width: small ones, and some with segments, shards or layers; empty
/// ones, some of one key, and some with blocks without a column.
fn filters() -> Vec<Filter> {
    let mut filters: Vec<Filter> = kinds(200)
        .into_iter()
        .map(|(variant, width)| build(builder(variant, width, 5.4), hashes(200)))
        .collect();
    filters.push(build(Filter::builder(), []));
    filters.push(build(Filter::builder(), hashes(1)));
    for (variant, width, columns, keys) in [
        (Variant::Standard, Width::W32, 0.5, 8200),
        (Variant::Homogeneous, Width::W64, 0.3, 2000),
        (Variant::Balanced, Width::W32, 0.6, 4100),
        (Variant::Bumped, Width::W32, 1.0, 1100),
        (Variant::Bumped, Width::W64, 0.5, 4100),
    ] {
        filters.push(build(builder(variant, width, columns), hashes(keys)));
    }
    filters
}

/// Functions of every variant and width, some of them row-major.
fn functions() -> impl Iterator<Item = Function> {
    let kinds = kinds(100).into_iter().filter(|&(variant, _)| variant != Variant::Homogeneous);
    let pairs = kinds.zip([1, 8, 16, 31, 32, 33, 64].into_iter().cycle());
    pairs.map(|((variant, width), bits)| {
        let builder = Function::builder().variant(variant).width(width).value_bits(bits);
        let mut builder = builder.fingerprint_bits(if bits == 8 { 8 } else { 0 });
        builder.extend_hashes(hashes(100).map(|hash| (hash, hash >> (64 - bits))));
        builder.finish().expect("ordinary keys build")
    })
}

/// Exact sets with no stage to three, with and without groups.
fn exact_sets() -> impl Iterator<Item = ExactSet> {
    let sizes = [(0, 20), (30, 30), (60, 2000), (2000, 60), (40, 40_000)].into_iter();
    let ungrouped = sizes.map(|(members, others)| {
        let mut builder = ExactSet::builder().key_seed(9);
        builder.extend_member_hashes(hashes(members));
        builder.extend_other_hashes(hashes(members + others).skip(members as usize));
        builder.finish().expect("ordinary keys build")
    });
    let grouped = [false, true].into_iter().map(|unnamed| {
        let mut builder = ExactSet::builder();
        for (group, members) in
            [(1, 0), (2, 300), (3, 100), (4, 5), (5, 290), (6, 150), (7, 20), (8, 40)]
        {
            assert!(SAMPLE_GROUPS.contains(&group));
            let keys = if group == 8 { 40_000 } else { 300 };
            let group = if unnamed && group == 3 { 0 } else { group };
            for (index, hash) in hashes(keys).enumerate() {
                match index < members {
                    true => builder.push_member_hash_in(group, hash),
                    false => builder.push_other_hash_in(group, hash),
                }
            }
        }
        builder.finish().expect("ordinary keys build")
    });
    ungrouped.chain(grouped)
}

/// Structures of every kind.
fn victims() -> Vec<Victim> {
    let mut victims = Vec::new();
    victims.extend(exact_sets().map(|set| Victim::new(&set, set.as_bytes())));
    for filter in filters() {
        victims.push(Victim::new(&filter, filter.as_bytes()));
        let cut = filter.cut(2).unwrap_or_default();
        victims.extend(cut.iter().take(1).map(|part| Victim::new(part, part.as_bytes())));
    }
    victims.extend(functions().map(|function| Victim::new(&function, function.as_bytes())));
    let splits = [
        (Split::ByHash { bits: 0 }, Variant::Standard),
        (Split::ByHash { bits: 2 }, Variant::Bumped),
        (Split::FixedSize { bits: 2, bytes: 120 }, Variant::Homogeneous),
        (Split::FixedSize { bits: 1, bytes: 300 }, Variant::Balanced),
        (Split::UntilFull, Variant::Standard),
    ];
    for (split, variant) in splits {
        for width in [Width::W32, Width::W64, Width::W128] {
            let new = || Shards::builder(split).variant(variant).width(width).key_seed(5);
            let mut builder = new();
            builder.extend_hashes(hashes(300));
            let shards = builder.finish().expect("ordinary keys build");
            victims.push(Victim::new(&shards, shards.as_bytes()));
            if let Ok(mut alone) = new().only(0) {
                alone.extend_hashes(hashes(300));
                let shard = alone.finish().expect("built with the others");
                victims.push(Victim::new(&shard, shard.as_bytes()));
            }
        }
    }
    victims
}

/// Runs all queries on corrupt bytes, and counts the trials.
struct Trial {
    capacity: Guarded,
    probes: Vec<u64>,
    tried: u64,
}

impl Trial {
    fn new() -> Self {
        let probes = (0..28).map(|probe| random(9, probe)).chain(hashes(4)).collect();
        Self { capacity: Guarded::new(1 << 17), probes, tried: 0 }
    }

    /// Whether the bytes are accepted as intact.
    fn accepts(&mut self, bytes: &[u8]) -> bool {
        self.tried += 1;
        let place = self.capacity.place(bytes, !self.tried.is_multiple_of(4));
        let (accepted, peak) = peak_of(|| query_everything(place, &self.probes));
        let justified = 16 * bytes.len() + (1 << 14);
        assert!(peak <= justified, "{peak} bytes were taken for {}", bytes.len());
        accepted
    }

    /// Queries corrupt bytes, with the original checksums and with valid ones.
    fn both(&mut self, changed: &[u8], original: &Victim, how: std::fmt::Arguments<'_>) {
        assert!(!self.accepts(changed), "{how} was not detected: {}", original.name);
        self.adversarial(changed);
    }

    /// Queries corrupt bytes with valid checksums.
    fn adversarial(&mut self, changed: &[u8]) {
        let mut fitting = changed.to_vec();
        seal(&mut fitting);
        self.accepts(&fitting);
    }

    fn report(&self, what: &str, min: u64) {
        println!("{what}: {} changed files", self.tried);
        assert!(self.tried >= min, "{} of {min}", self.tried);
    }
}

#[test]
fn what_is_whole_is_accepted() {
    let mut trial = Trial::new();
    for victim in victims() {
        assert!(trial.accepts(&victim.bytes), "{}", victim.name);
        assert!(trial.accepts(&sealed(&victim.bytes)), "{}", victim.name);
        assert!(sealed(&victim.bytes) == victim.bytes, "{}", victim.name);
    }
}

/// Changes every byte. The bytes of the footer and those immediately before it get many values.
#[test]
fn single_bytes() {
    let mut trial = Trial::new();
    let (ending, dense, elsewhere) = scale((0, 8, 1), (64, 16, 2), (100, 255, 5));
    for victim in victims() {
        let mut changed = victim.bytes.clone();
        for place in 0..changed.len() {
            let from_end = changed.len() - place;
            let flips = if from_end <= FOOTER_BYTES + ending { dense } else { elsewhere };
            for flip in 0..flips {
                // All values, or some that differ from offset to offset; never 0.
                let flip = match flips {
                    255 => flip + 1,
                    _ => (random(3, (place * 256 + flip) as u64) % 255) as usize + 1,
                };
                changed[place] ^= flip as u8;
                trial.both(&changed, &victim, format_args!("byte {place} ^ {flip}"));
                changed[place] = victim.bytes[place];
            }
        }
    }
    trial.report("single bytes", scale(10_000, 30_000, 1_000_000));
}

#[test]
fn truncated() {
    let mut trial = Trial::new();
    let step = scale(7, 3, 1);
    for victim in victims() {
        for len in (0..victim.bytes.len()).step_by(step) {
            trial.both(&victim.bytes[..len], &victim, format_args!("cut at {len}"));
            let (_, rest) = victim.bytes.split_at(len + 1);
            trial.both(rest, &victim, format_args!("front cut at {len}"));
        }
    }
    trial.report("truncated", scale(1000, 10_000, 50_000));
}

/// Changes several bytes at any offset, some of them to extreme values.
#[test]
fn random_changes() {
    let trial = change_several(&victims(), scale(50, 400, 10_000));
    trial.report("random changes", scale(2000, 20_000, 500_000));
}

/// The same for an exact set both of whose stages are Bumped, since they have more than 2^15 keys:
/// too large for a change of every byte.
#[test]
fn random_changes_of_layers() {
    let mut builder = ExactSet::builder();
    builder.extend_member_hashes(hashes(40_000));
    builder.extend_other_hashes(hashes(240_000).skip(40_000));
    let set = builder.finish().expect("ordinary keys build");
    let trial = change_several(&[Victim::new(&set, set.as_bytes())], scale(2000, 5000, 50_000));
    trial.report("random changes of layers", scale(2000, 5000, 50_000));
}

/// Changes several bytes of each structure in each of the rounds.
fn change_several(victims: &[Victim], rounds: u64) -> Trial {
    let mut trial = Trial::new();
    for (number, victim) in victims.iter().enumerate() {
        for round in 0..rounds {
            let dice = |index| random(number as u64 + 100, round * 64 + index);
            let mut changed = victim.bytes.clone();
            for change in 0..=dice(0) % 6 {
                let near_end = dice(change + 1) % 3 > 0;
                let range =
                    if near_end { changed.len().min(FOOTER_BYTES + 60) } else { changed.len() };
                let place = changed.len() - 1 - (dice(change + 10) % range as u64) as usize;
                let extremes = [0, 1, 0x7f, 0x80, 0xfe, 0xff, changed[place] ^ 1];
                let value = dice(change + 20);
                changed[place] = match extremes.get((value % 14) as usize) {
                    Some(&extreme) => extreme,
                    None => (value >> 8) as u8,
                };
            }
            if changed != victim.bytes {
                trial.both(&changed, victim, format_args!("round {round}"));
                if let Some(fitted) = fitted(&changed) {
                    trial.accepts(&sealed(&fitted));
                }
            }
        }
    }
    trial
}

/// The footer of a filter of one layer and w = 64, without checksums.
fn fixed_part(variant: Variant, segment_bits: u8, slots: u32, boundary: u64) -> [u8; FOOTER_BYTES] {
    let mut raw = [0; FOOTER_BYTES];
    raw[8] = 1;
    raw[14..18].copy_from_slice(&slots.to_le_bytes());
    raw[18..23].copy_from_slice(&boundary.to_le_bytes()[..5]);
    raw[26] = 1;
    raw[28] = (variant as u8) << 2 | 2 << 4;
    raw[29] = segment_bits;
    raw
}

/// A regression test: shrinking once visited each of these blocks.
#[test]
fn endless_blocks_without_a_column() {
    let mut trial = Trial::new();
    for (variant, segment_bits, slots) in [
        (Variant::Standard, 0, u32::MAX),
        (Variant::Bumped, 0, u32::MAX),
        (Variant::Homogeneous, 0, u32::MAX),
        (Variant::Homogeneous, 12, 1 << 31),
        (Variant::Homogeneous, 31, 64),
    ] {
        let blocks = (u64::from(slots) << segment_bits).div_ceil(64);
        let raw = fixed_part(variant, segment_bits, slots, blocks - 1);
        let fitted = fitted(&raw).expect("few bytes");
        assert!(fitted.len() <= FOOTER_BYTES + 8, "{variant}");
        assert!(trial.accepts(&sealed(&fitted)), "{variant}");
    }
}

/// A regression test: once the boundary did not fit its field when such a filter was shrunk, and
/// the result could not be opened.
#[test]
fn more_blocks_than_a_boundary_can_tell() {
    let mut raw = fixed_part(Variant::Homogeneous, 13, (1 << 31) + 64, (1 << 40) - 1);
    raw[28] = 1 << 2; // w = 16, of blocks of two bytes
    let bytes = sealed(&[&vec![0; 2 * (1 << 15) + 2], &raw[..]].concat());
    assert!(!Trial::new().accepts(&bytes));
    let error = Filter::open(bytes).expect_err("2^40 + 2^15 blocks").to_string();
    assert!(error.contains("number of slots"), "{error}");
}

/// A regression test: the encoder once did not expect the rate 0.
#[test]
fn a_solution_that_says_no_to_every_key() {
    let bytes = sealed(&[&[1], &fixed_part(Variant::Homogeneous, 0, 1, 0)[..]].concat());
    assert!(Trial::new().accepts(&bytes));
    let filter = Filter::open(bytes).expect("whole bytes");
    assert!((0..100).all(|hash| !filter.contains_hash(hash)));
    let smaller = filter.shrink_to_columns(1.0).expect("whole bytes");
    // The least rate that is stored, and the probability of the hash of the only key.
    assert_eq!(smaller.expected_rate(), 2f64.powi(-62) + 2f64.powi(-64));
}
