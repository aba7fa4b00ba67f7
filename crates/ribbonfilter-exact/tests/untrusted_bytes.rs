//! Corrupt bytes. For any content, nothing panics, hangs, reads out of bounds or allocates more memory
//! than the bytes justify; and corruption is detected.
//!
//! The bytes lie between guard pages, so a read out of bounds ends the process. Checksums are
//! either left unchanged, as in accidental corruption, or recomputed, as an attacker would do.
//! This is a test program of its own, because it counts allocations.

#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "guard pages, and an allocator that counts")]

mod support;

use ribbonfilter_exact::{ExactSet, Kernel, Membership};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::{Keys, random, scale};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the footer, and of the entry of a stage.
const FOOTER_BYTES: usize = 40;
const ENTRY_BYTES: usize = 9;
/// Bytes of footer and entries in most samples.
const TAIL: usize = FOOTER_BYTES + 3 * ENTRY_BYTES;
/// The hashes of the groups in samples; 0 is the unnamed group.
const SAMPLE_GROUPS: std::ops::Range<u64> = 0..9;

/// Writes magic number and version into the footer, and valid checksums. It follows
/// `docs/format.md` and uses no code of the library.
fn seal(bytes: &mut [u8]) {
    let Some(raw) = bytes.len().checked_sub(FOOTER_BYTES) else { return };
    bytes[raw + 37..].copy_from_slice(&[2, 0x52, 0xbf]);
    let data = xxh3_64(&bytes[..raw + 32]) as u32;
    bytes[raw + 32..raw + 36].copy_from_slice(&data.to_le_bytes());
    bytes[raw + 36] = 0;
    bytes[raw + 36] = xxh3_64(&bytes[raw..]) as u8;
}

fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    seal(&mut sealed);
    sealed
}

/// Opens the bytes and runs every query; returns whether they opened and verified. Panics if two
/// results contradict each other.
fn query_everything(bytes: &[u8], hashes: &[u64]) -> bool {
    let Ok(set) = ExactSet::open(bytes) else { return false };
    let hits = set.contains_hash_batch(hashes);
    let unnamed = set.contains_hash_in_group(0, hashes[0]) != Membership::UnknownGroup;
    for kernel in Kernel::available() {
        let set = ExactSet::open(bytes).expect("opened before").with_kernel(kernel);
        for (&hash, &hit) in hashes.iter().zip(&hits) {
            assert_eq!(set.contains_hash(hash), hit);
            assert!(!unnamed || set.contains_hash_in_group(0, hash) == hit.into());
        }
        assert_eq!(set.contains_hash_batch(hashes), hits);
    }
    // Groups that the samples have, and others.
    for group in SAMPLE_GROUPS.chain(hashes.iter().copied()) {
        for &hash in hashes.iter().take(4) {
            let _ = set.contains_hash_in_group(group, hash);
        }
    }
    assert!((0.0..=1.0).contains(&set.expected_rate()));
    assert!(set.expected_rate_in("group").is_none_or(|rate| (0.0..=1.0).contains(&rate)));
    let _ = set.contains_batch_in("group", hashes);
    let _ = format!("{set:?} {} {}", set.bits_per_member(), set.lower_bound_bits());
    set.verify().is_ok()
}

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

/// A stored set.
struct Victim {
    name: String,
    bytes: Vec<u8>,
}

impl Victim {
    fn new(set: &ExactSet) -> Self {
        Self { name: format!("{set:?}"), bytes: set.as_bytes().to_vec() }
    }
}

fn hashes(keys: u64) -> impl Iterator<Item = u64> {
    (0..keys).map(|index| Keys::Random.hash(index))
}

/// Sets with no stage to several, with and without groups.
fn sets() -> impl Iterator<Item = ExactSet> {
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

fn victims() -> Vec<Victim> {
    sets().map(|set| Victim::new(&set)).collect()
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
            let flips = if from_end <= TAIL + ending { dense } else { elsewhere };
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
    trial.report("single bytes", scale(5000, 20_000, 500_000));
}

#[test]
fn truncated() {
    let mut trial = Trial::new();
    let step = scale(7, 1, 1);
    for victim in victims() {
        for len in (0..victim.bytes.len()).step_by(step) {
            trial.both(&victim.bytes[..len], &victim, format_args!("cut at {len}"));
            let (_, rest) = victim.bytes.split_at(len + 1);
            trial.both(rest, &victim, format_args!("front cut at {len}"));
        }
    }
    trial.report("truncated", scale(500, 4000, 4000));
}

/// Changes several bytes at any offset, some of them to extreme values.
#[test]
fn random_changes() {
    let trial = change_several(&victims(), scale(50, 1000, 20_000));
    trial.report("random changes", scale(500, 10_000, 200_000));
}

/// The same for an exact set both of whose stages are Bumped, since they have more than 2^14 keys:
/// too large for a change of every byte.
#[test]
fn random_changes_of_layers() {
    let mut builder = ExactSet::builder();
    builder.extend_member_hashes(hashes(40_000));
    builder.extend_other_hashes(hashes(240_000).skip(40_000));
    let set = builder.finish().expect("ordinary keys build");
    let trial = change_several(&[Victim::new(&set)], scale(2000, 5000, 50_000));
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
                let range = if near_end { changed.len().min(TAIL + 60) } else { changed.len() };
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
            }
        }
    }
    trial
}

/// An entry of each stage that describes another filter or map: it is refused, or harmless.
#[test]
fn any_entry() {
    let mut trial = Trial::new();
    let victims = victims();
    for (number, victim) in victims.iter().enumerate() {
        let stages = usize::from(victim.bytes[victim.bytes.len() - FOOTER_BYTES + 30]);
        let entries = victim.bytes.len() - FOOTER_BYTES - stages * ENTRY_BYTES;
        for round in 0..scale(200, 2000, 50_000) {
            let dice = |index: u64| random(number as u64 + 200, round * 64 + index);
            let mut changed = victim.bytes.clone();
            for (at, field) in (0..).zip(&mut changed[entries..][..stages * ENTRY_BYTES]) {
                // Small numbers, so that some fit.
                match dice(at) % 4 {
                    0 => *field = (dice(at) >> 8) as u8 & 7,
                    1 => *field ^= 1 << (dice(at) >> 8 & 7),
                    _ => {}
                }
            }
            if changed != victim.bytes {
                trial.both(&changed, victim, format_args!("round {round}"));
            }
        }
    }
    trial.report("any entry", scale(1000, 10_000, 200_000));
}
