//! Corrupt bytes of every stored structure. For any content, nothing panics, hangs, reads out of
//! bounds or allocates more memory than the bytes justify; and corruption is detected.
//!
//! The bytes lie between guard pages, so a read out of bounds ends the process. Checksums are
//! either left unchanged, as in accidental corruption, or recomputed, as an attacker would do.
//! This is a test program of its own, because it counts allocations.

#![cfg(all(target_os = "linux", feature = "internals", feature = "build"))]
#![expect(unsafe_code, reason = "guard pages, and an allocator that counts")]

mod support;
#[path = "support/untrusted.rs"]
mod untrusted;

use ribbonfilter_next::{Filter, Function, OpenError, Shard, Shards, Split, Variant, Width};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::{Keys, build, builder, kinds, random, scale};
use untrusted::{FILTER, FOOTER_BYTES, FUNCTION, fitted, query_everything, seal, sealed};

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

fn filter(variant: Variant, width: Width, columns: f64, keys: u64) -> Filter {
    build(builder(variant, width, columns), hashes(keys))
}

/// Filters of every variant and width, with columns of every compiled shape: whole, fractional, up to
/// 8, up to 16, up to 32, from another one than the first, and blocks without a column.
fn filters() -> Vec<Filter> {
    let mut filters = Vec::new();
    for (variant, width) in kinds(200) {
        filters.extend([5.4, 8.0].map(|columns| filter(variant, width, columns, 200)));
    }
    filters.extend([0, 1, 40].map(|keys| build(Filter::builder(), hashes(keys))));
    filters.push(build(Filter::builder().fast(), hashes(300)));
    for (variant, width, columns, keys) in [
        (Variant::Standard, Width::W128, 0.5, 3000),
        (Variant::Standard, Width::W256, 32.0, 50),
        (Variant::Standard, Width::W192, 14.0, 100),
        (Variant::Bumped, Width::W128, 0.6, 3000),
        (Variant::Bumped, Width::W192, 17.3, 150),
        (Variant::Bumped, Width::W256, 1.0, 1100),
    ] {
        filters.push(filter(variant, width, columns, keys));
    }
    for variant in [Variant::Standard, Variant::Bumped] {
        let whole = filter(variant, Width::W128, 10.0, 150);
        filters.extend(whole.split_columns(&[3, 7]).expect("ten columns"));
    }
    filters
}

/// Filters of more than one segment: too large for a change of every byte.
fn large() -> Vec<Victim> {
    let filters = [
        filter(Variant::Standard, Width::W128, 0.4, 300_000),
        filter(Variant::Bumped, Width::W256, 0.7, 280_000),
        filter(Variant::Bumped, Width::W192, 1.5, 270_000),
    ];
    filters.iter().map(|filter| Victim::new(filter, filter.as_bytes())).collect()
}

/// Functions of every variant and width, some of them row-major, some with fingerprints.
fn functions() -> impl Iterator<Item = Function> {
    let pairs = [(1, 0), (8, 0), (8, 8), (16, 0), (31, 3), (32, 0), (33, 0), (40, 24), (64, 0)];
    pairs.into_iter().flat_map(|bits| kinds(100).into_iter().map(move |kind| (bits, kind))).map(
        |((bits, fingerprint), (variant, width))| {
            let builder = Function::builder().variant(variant).width(width);
            let mut builder = builder.value_bits(bits).fingerprint_bits(fingerprint);
            builder.extend_hashes(hashes(90).map(|hash| (hash, hash >> (64 - bits))));
            builder.finish().expect("ordinary keys build")
        },
    )
}

/// Containers of every split, and single shards.
fn shards() -> Vec<Victim> {
    let mut victims = Vec::new();
    for (split, variant) in [
        (Split::ByHash { bits: 0 }, Variant::Standard),
        (Split::ByHash { bits: 2 }, Variant::Bumped),
        (Split::ByHash { bits: 5 }, Variant::Standard),
        (Split::FixedSize { bits: 2, bytes: 180 }, Variant::Standard),
        (Split::FixedSize { bits: 1, bytes: 300 }, Variant::Bumped),
    ] {
        for width in [Width::W128, Width::W256] {
            let new = || Shards::builder(split).variant(variant).width(width).key_seed(5);
            let mut builder = new();
            builder.extend_hashes(hashes(300));
            let shards = builder.finish().expect("ordinary keys build");
            victims.push(Victim::new(&shards, shards.as_bytes()));
            let mut alone = new().only(0).expect("a shard");
            alone.extend_hashes(hashes(300));
            let shard = alone.finish().expect("built with the others");
            victims.push(Victim::new(&shard, shard.as_bytes()));
        }
    }
    victims
}

/// Structures of every kind.
fn victims() -> Vec<Victim> {
    let mut victims = shards();
    victims.extend(filters().iter().map(|filter| Victim::new(filter, filter.as_bytes())));
    victims.extend(functions().map(|function| Victim::new(&function, function.as_bytes())));
    victims
}

/// Runs all queries on corrupt bytes, and counts the trials.
struct Trial {
    capacity: Guarded,
    probes: Vec<u64>,
    tried: u64,
    /// Those that were opened and whose checksums are valid.
    accepted: u64,
}

impl Trial {
    fn new() -> Self {
        // The least and the greatest hashes start where systems begin and end.
        let extremes = [0, u64::MAX, 1 << 63];
        let probes = (0..26).map(|probe| random(9, probe)).chain(hashes(4)).chain(extremes);
        Self { capacity: Guarded::new(1 << 17), probes: probes.collect(), tried: 0, accepted: 0 }
    }

    /// Whether the bytes are accepted as intact.
    fn accepts(&mut self, bytes: &[u8]) -> bool {
        self.tried += 1;
        let place = self.capacity.place(bytes, !self.tried.is_multiple_of(4));
        let (accepted, peak) = peak_of(|| query_everything(place, &self.probes));
        let justified = 16 * bytes.len() + (1 << 14);
        assert!(peak <= justified, "{peak} bytes were taken for {}", bytes.len());
        self.accepted += u64::from(accepted);
        accepted
    }

    /// Queries corrupt bytes, with the original checksums and with valid ones.
    fn both(&mut self, changed: &[u8], original: &Victim, how: std::fmt::Arguments<'_>) {
        assert!(!self.accepts(changed), "{how} was not detected: {}", original.name);
        let mut fitting = changed.to_vec();
        seal(&mut fitting);
        self.accepts(&fitting);
    }

    fn report(&self, what: &str, min: u64) {
        println!("{what}: {} changed files, {} accepted", self.tried, self.accepted);
        assert!(self.tried >= min, "{} of {min}", self.tried);
    }
}

#[test]
fn what_is_whole_is_accepted() {
    let mut trial = Trial::new();
    for victim in victims().into_iter().chain(large()) {
        assert!(trial.accepts(&victim.bytes), "{}", victim.name);
        assert!(sealed(&victim.bytes) == victim.bytes, "{}", victim.name);
        if let Some(fitted) = fitted(&victim.bytes)
            && victim.name.starts_with('F')
        {
            assert!(fitted == victim.bytes, "{}", victim.name);
        }
    }
}

/// Changes every byte. The bytes of the footer and those immediately before it get many values.
#[test]
fn single_bytes() {
    let mut trial = Trial::new();
    let (ending, dense, elsewhere) = scale((12, 6, 1), (64, 16, 2), (100, 255, 5));
    let step = scale(2, 1, 1);
    for (number, victim) in victims().iter().enumerate() {
        let mut changed = victim.bytes.clone();
        for place in 0..changed.len() {
            let near_end = changed.len() - place <= FOOTER_BYTES + ending;
            if !near_end && (place + number) % step != 0 {
                continue;
            }
            let flips = if near_end { dense } else { elsewhere };
            for flip in 0..flips {
                // All values, or some that differ from offset to offset; never 0.
                let flip = match flips {
                    255 => flip + 1,
                    _ => (random(3, (place * 256 + flip) as u64) % 255) as usize + 1,
                };
                changed[place] ^= flip as u8;
                trial.both(&changed, victim, format_args!("byte {place} ^ {flip}"));
                changed[place] = victim.bytes[place];
            }
        }
    }
    trial.report("single bytes", scale(10_000, 30_000, 1_000_000));
}

#[test]
fn truncated() {
    let mut trial = Trial::new();
    let step = scale(11, 3, 1);
    for victim in victims() {
        for len in (0..victim.bytes.len()).step_by(step) {
            // A container begins with a whole filter, and so does a shard.
            let is_filter = |bytes| Filter::open(bytes).is_ok_and(|filter| filter.verify().is_ok());
            if !(victim.name.starts_with("Shard") && is_filter(&victim.bytes[..len])) {
                trial.both(&victim.bytes[..len], &victim, format_args!("cut at {len}"));
            }
            let (_, rest) = victim.bytes.split_at(len + 1);
            trial.both(rest, &victim, format_args!("front cut at {len}"));
        }
    }
    trial.report("truncated", scale(1000, 10_000, 50_000));
}

/// Changes several bytes at any offset, some of them to extreme values.
#[test]
fn random_changes() {
    let trial = change_several(&victims(), scale(100, 400, 10_000));
    trial.report("random changes", scale(2000, 20_000, 500_000));
}

#[test]
fn random_changes_of_segments() {
    let trial = change_several(&large(), scale(300, 2000, 30_000));
    trial.report("random changes of segments", scale(1000, 5000, 50_000));
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

/// A number of up to 40 bits: mostly small, sometimes at the end of a segment, sometimes extreme.
fn some_number(dice: u64) -> u64 {
    let small = dice >> 16;
    match dice % 16 {
        0 => 0,
        1 => 1,
        2 => 4094 + small % 5,
        3 => 8190 + small % 5,
        4 => (1 << 32) - 1 - small % 3,
        5 => small & 0xff_ffff_ffff,
        6 => small % 5000,
        7 => small % 1000,
        8 | 9 => small % 100,
        _ => small % 12,
    }
}

/// Footers of filters and functions with random fields, before random bytes of the length that they
/// ask for.
#[test]
fn random_footers() {
    let mut trial = Trial::new();
    for round in 0..scale(150_000, 200_000, 4_000_000) {
        let dice = |index| random(70, round * 32 + index);
        let kind = if dice(0) % 2 == 0 { FILTER } else { FUNCTION };
        let mut raw = [0; FOOTER_BYTES];
        let put = |raw: &mut [u8], number: u64| {
            let bytes = number.to_le_bytes();
            raw.copy_from_slice(&bytes[..raw.len()]);
        };
        let starts = some_number(dice(1));
        let blocks = if dice(2) % 8 == 0 { dice(2) >> 8 & 0xf } else { 1 + (dice(2) >> 8) % 4 };
        let bumps = match dice(3) % 8 {
            0 => dice(3) >> 8 & 0xf,
            other => other & 1,
        };
        let all = starts + starts.div_ceil(4096) * blocks.saturating_sub(1);
        put(&mut raw[8..14], if dice(4) % 32 == 0 { 0 } else { starts });
        put(&mut raw[14..19], starts);
        let columns = match (kind, dice(5) % 8) {
            (_, 0) => dice(5) >> 8 & 0xff,
            (_, 1) => 0,
            (_, 2) => 1,
            (FILTER, _) => (dice(5) >> 8) % 33,
            _ => (dice(5) >> 8) % 65,
        };
        let boundary = match dice(6) % 8 {
            0 => some_number(dice(7)),
            1 => all.wrapping_sub((dice(6) >> 8) % 4) & 0xff_ffff_ffff,
            2 if all > 0 => (dice(6) >> 8) % all,
            _ if columns == 1 => all.saturating_sub(1),
            _ => 0,
        };
        // A function has no boundary.
        let boundary = if kind == FUNCTION && dice(8) % 8 > 0 { 0 } else { boundary };
        put(&mut raw[19..24], boundary);
        raw[24] = columns as u8;
        raw[25] = match dice(9) % 4 {
            0 => (dice(9) >> 8) as u8,
            1 => ((dice(9) >> 8) % 8) as u8,
            _ => 0,
        };
        raw[26] = (dice(10) >> 8) as u8 & if dice(10) % 2 == 0 { 0x77 } else { 0xff };
        raw[27] = (dice(11) % 256) as u8;
        raw[28] = kind;
        raw[29] = (bumps | blocks << 4) as u8;
        // The second system.
        let mut second = [0; 11];
        put(&mut second[..5], some_number(dice(12)));
        put(&mut second[5..10], if dice(13) % 2 == 0 { 0 } else { some_number(dice(14)) });
        second[10] = (dice(15) % 256) as u8;
        if let Some(mut fitted) = fitted(&[&second[..], &raw].concat()) {
            let data = fitted.len().saturating_sub(FOOTER_BYTES + 11);
            for (index, bytes) in fitted[..data].chunks_mut(8).enumerate() {
                bytes.copy_from_slice(
                    &random(71 + round, index as u64).to_le_bytes()[..bytes.len()],
                );
            }
            trial.accepts(&sealed(&fitted));
        }
    }
    trial.report("random footers", scale(10_000, 50_000, 1_000_000));
    assert!(trial.accepted > trial.tried / 8, "{} of {}", trial.accepted, trial.tried);
}

/// The footer of a filter of one system and w = 128.
fn fixed_part(bumps: bool, starts: u64, boundary: u64) -> [u8; FOOTER_BYTES] {
    let mut raw = [0; FOOTER_BYTES];
    // Enough keys for the rate to be raised.
    raw[8..13].copy_from_slice(&starts.to_le_bytes()[..5]);
    raw[14..19].copy_from_slice(&starts.to_le_bytes()[..5]);
    raw[19..24].copy_from_slice(&boundary.to_le_bytes()[..5]);
    raw[24] = 1;
    raw[28] = FILTER;
    raw[29] = u8::from(bumps) | 2 << 4;
    raw
}

/// Billions of blocks in a few bytes, because they have no column: nothing visits each of them. A
/// regression test: shrinking once did.
#[test]
fn endless_blocks_without_a_column() {
    let mut trial = Trial::new();
    for starts in [4096, 4097, 1 << 31, (1 << 32) - (1 << 22), (1 << 32) - 1] {
        let blocks = starts + u64::div_ceil(starts, 4096);
        let fitted = fitted(&fixed_part(false, starts, blocks - 1)).expect("few bytes");
        assert!(fitted.len() <= FOOTER_BYTES + 8, "{starts}");
        assert!(trial.accepts(&sealed(&fitted)), "{starts}");
    }
}

/// A regression test: planning another size for it once divided by its starts.
#[test]
fn an_empty_filter_bumps_nothing() {
    let mut raw = fixed_part(true, 0, 0);
    raw[24] = 0;
    let bytes = sealed(&[&[0; 15][..], &raw].concat());
    assert!(!Trial::new().accepts(&bytes));
    let error = Filter::open(bytes).expect_err("no keys to bump").to_string();
    assert!(error.contains("variant"), "{error}");
}

/// A regression test: a query that opens the filter itself once took a shape that is refused.
#[test]
fn an_empty_filter_is_not_stored_by_rows() {
    let mut bytes = build(Filter::builder(), []).as_bytes().to_vec();
    bytes[26] |= 8;
    seal(&mut bytes);
    assert!(!Trial::new().accepts(&bytes));
    assert!(Filter::contains_hash_in(&bytes, 0).is_err());
}

/// A regression test: a shard whose filter is not its container's was once intact, and the container
/// assembled of it corrupt.
#[test]
fn the_filter_of_a_shard_has_its_key_seed() {
    let mut builder = Shards::builder(Split::ByHash { bits: 0 }).only(0).expect("a shard");
    builder.extend_hashes(hashes(100));
    let whole = builder.finish().expect("ordinary keys build").as_bytes().to_vec();
    let filter = whole.len() - 2 * FOOTER_BYTES;
    for (field, value) in [(0, 1), (25, 1)] {
        let mut bytes = whole.clone();
        bytes[filter + field] = value;
        seal(&mut bytes);
        let error = Shard::open(bytes).expect_err("another filter");
        assert!(matches!(error, OpenError::Inconsistent { .. }), "{error}");
    }
}
