//! Every compiled query against the definition, on random bytes in exactly as many bytes as the
//! layout says, at unaligned addresses, before a page that cannot be read.
#![expect(unsafe_code, reason = "compiled queries are called through pointers")]

use super::{Layout, PADDING, Probe, Second, oracle};
use crate::kernel::Kernel;
use crate::ribbon::bucket::codes_in_bytes;
use crate::ribbon::equation::MAX_COLUMNS;
use crate::ribbon::system::{SEGMENT_STARTS, System};
use crate::ribbon::width::Width;
use crate::testing::Random;
use alloc::vec::Vec;

/// Bytes that end where memory that cannot be read begins, where the system has such memory.
struct Guarded {
    #[cfg(not(all(target_os = "linux", not(miri))))]
    bytes: alloc::boxed::Box<[u8]>,
    #[cfg(all(target_os = "linux", not(miri)))]
    map: (*mut u8, usize, usize),
}

#[cfg(not(all(target_os = "linux", not(miri))))]
impl Guarded {
    fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into() }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Guarded {
    const PAGE: usize = 1 << 16;

    fn new(bytes: &[u8]) -> Self {
        let readable = bytes.len().next_multiple_of(Self::PAGE);
        // SAFETY: new memory, of which the last page is protected and the others are written.
        unsafe {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let map = libc::mmap(core::ptr::null_mut(), readable + Self::PAGE, access, kind, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            assert_eq!(libc::mprotect(map.add(readable).cast(), Self::PAGE, libc::PROT_NONE), 0);
            let start = readable - bytes.len();
            map.add(start).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            Self { map: (map, start, readable) }
        }
    }

    fn bytes(&self) -> &[u8] {
        let (map, start, readable) = self.map;
        // SAFETY: these bytes were written and live as long as `self`.
        unsafe { core::slice::from_raw_parts(map.add(start), readable - start) }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this size.
        unsafe { libc::munmap(self.map.0.cast(), self.map.2 + Self::PAGE) };
    }
}

fn kernels() -> Vec<Kernel> {
    Kernel::available().collect()
}

/// Two systems one after the other, and codes: the Bumped layout of a first system.
fn bumped(first: System, second: System) -> Layout {
    let offset = first.size_in_bytes();
    let codes = offset + second.size_in_bytes();
    let end = codes + codes_in_bytes(first.starts);
    let second = Second { system: second, seed: 5, offset, codes };
    Layout { seed: 3, first_column: 0, first, second: Some(second), len: (end + PADDING) as usize }
}

fn standard(first: System) -> Layout {
    Layout {
        seed: 1,
        first_column: 0,
        first,
        second: None,
        len: (first.size_in_bytes() + PADDING) as usize,
    }
}

/// Hashes of keys such that the first and the last start, and the block at the boundary, have some.
fn keys(layout: &Layout, random: &mut Random) -> Vec<u64> {
    let mixer = crate::ribbon::equation::Mixer::new(layout.seed);
    let starts = layout.first.starts.max(1);
    let interesting = |key: u64| {
        let start = crate::ribbon::equation::start(mixer.mix(key), starts);
        let block = layout.first.block(start);
        start == 0 || start + 1 == starts || block.abs_diff(layout.first.boundary) < 5
    };
    let mut keys: Vec<u64> = (0..24).map(|_| random.next()).collect();
    let tries = if cfg!(miri) { 100 } else { 16 * starts.min(5_000) };
    let more = (0..tries).map(|_| random.next()).filter(|&key| interesting(key));
    keys.extend(more.take(40));
    keys
}

/// Compares with the definition; batches are compared with single queries.
fn check(layout: &Layout, filter: bool, random: &mut Random) {
    let guarded = Guarded::new(&random.bytes(layout.len));
    let bytes = guarded.bytes();
    let keys = keys(layout, random);
    let expected: Vec<u64> =
        keys.iter().map(|&key| oracle::query(layout, bytes, key, filter)).collect();
    for kernel in kernels() {
        let open = if filter { Probe::filter } else { Probe::map };
        let probe = open(layout, kernel).expect("the layout is valid");
        for (&key, &expected) in keys.iter().zip(&expected) {
            // SAFETY: the bytes are those of the layout.
            let got = unsafe { (probe.single)(&probe.opened, bytes.as_ptr(), key) };
            // A filter may end after the first eight columns if one of them differs.
            let first = expected & 0xff;
            let expected = if filter && first != 0 && got == first { first } else { expected };
            assert_eq!(got, expected, "{kernel:?} {layout:?} {key:#x}");
        }
        check_batch(&probe, bytes, &keys, filter);
        for wrong in [&bytes[1..], &[]] {
            assert!(probe.contains(wrong, keys[0]));
            assert_eq!(probe.get(wrong, keys[0]), 0);
        }
        let shorter = Layout { len: layout.len - 1, ..*layout };
        assert!(open(&shorter, kernel).is_none());
    }
}

fn check_batch(probe: &Probe, bytes: &[u8], keys: &[u64], filter: bool) {
    if filter {
        let mut bits = alloc::vec![u64::MAX; keys.len().div_ceil(64) + 1];
        probe.contains_batch(bytes, keys, &mut bits);
        for (i, &key) in keys.iter().enumerate() {
            let got = bits[i / 64] >> (i % 64) & 1 == 1;
            assert_eq!(got, probe.contains(bytes, key), "key {i} of {}, {probe:?}", keys.len());
        }
        assert_eq!(bits.last(), Some(&u64::MAX));
        let unused = keys.len().next_multiple_of(64) - keys.len();
        assert!(unused == 0 || bits[keys.len() / 64] >> (64 - unused) == 0);
    } else {
        let mut rows = alloc::vec![7; keys.len() + 1];
        probe.get_batch(bytes, keys, &mut rows);
        let expected = keys.iter().map(|&key| probe.get(bytes, key));
        assert!(expected.eq(rows[..keys.len()].iter().copied()));
        assert_eq!(rows.last(), Some(&7));
    }
}

/// Systems of a width and number of columns, of all the shapes that queries distinguish.
fn systems(width: Width, columns: u32, random: &mut Random) -> Vec<System> {
    let w = width.blocks() as u64;
    let whole = |starts| System { width, starts, columns, boundary: 0, last_bytes: 8, rows: false };
    let mut systems = alloc::vec![];
    for starts in [1, 2, 3, w, 20] {
        let last = whole(starts).blocks() - 1;
        for boundary in [0, 1, w - 1, last / 2, last - 1, last, last + 1, u64::MAX] {
            let last_bytes = 1 + random.below(8) as u32;
            systems.push(System { boundary, last_bytes, ..whole(starts) });
        }
    }
    for last_bytes in 1..=8 {
        systems.push(System { last_bytes, ..whole(7) });
    }
    systems
}

/// Long systems: segments, and boundaries around their ends.
fn long_systems(width: Width, columns: u32, random: &mut Random) -> Vec<System> {
    let mut systems = alloc::vec![];
    for starts in [SEGMENT_STARTS - 1, SEGMENT_STARTS, SEGMENT_STARTS + 1, 2 * SEGMENT_STARTS + 3] {
        let boundary =
            [0, starts / 2, SEGMENT_STARTS, SEGMENT_STARTS + 1][random.below(4) as usize];
        let last_bytes = [8, 1 + random.below(8) as u32][random.below(2) as usize];
        systems.push(System { width, starts, columns, boundary, last_bytes, rows: false });
    }
    systems
}

#[test]
fn filters_of_one_system() {
    let mut random = Random(1);
    for width in Width::ALL {
        for columns in 1..=MAX_COLUMNS {
            for system in systems(width, columns, &mut random) {
                check(&standard(system), true, &mut random);
            }
        }
    }
}

#[test]
fn filters_of_later_columns() {
    let mut random = Random(7);
    for (width, columns) in Width::ALL.into_iter().zip([1, 8, 13]) {
        for system in systems(width, columns, &mut random) {
            let first_column = 1 + random.below(19) as u32;
            check(&Layout { first_column, ..standard(system) }, true, &mut random);
            let second = System { starts: 3, ..system }.wide();
            check(&Layout { first_column, ..bumped(system, second) }, true, &mut random);
            let beyond = Layout { first_column: MAX_COLUMNS, ..standard(system) };
            assert!(Probe::filter(&beyond, Kernel::best()).is_none());
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long")]
fn filters_of_several_segments() {
    let mut random = Random(2);
    for width in Width::ALL {
        for columns in [1, 3, 7, 8, 9, 16, 32] {
            for system in long_systems(width, columns, &mut random) {
                check(&standard(system), true, &mut random);
                check(&bumped(system, System { starts: 9, ..system }.wide()), true, &mut random);
            }
        }
    }
}

impl System {
    /// As a second system.
    fn wide(self) -> Self {
        Self { width: Width::W256, ..self }
    }
}

#[test]
fn bumped_filters() {
    let mut random = Random(3);
    for width in Width::ALL {
        for columns in 1..=MAX_COLUMNS {
            let first = systems(width, columns, &mut random);
            let mut second = systems(Width::W256, columns, &mut random);
            second.push(System::empty(Width::W256, columns));
            for system in first {
                let second = second[random.below(second.len() as u64) as usize];
                check(&bumped(system, second), true, &mut random);
            }
        }
    }
}

#[test]
fn maps() {
    let mut random = Random(4);
    for columns in 1..=64 {
        for width in Width::ALL {
            let rows = columns > 8;
            let width = if rows { Width::W256 } else { width };
            for starts in [1, 2, 5, 40, SEGMENT_STARTS + 7] {
                let last_bytes = 1 + random.below(8) as u32;
                let system = System { width, starts, columns, boundary: 0, last_bytes, rows };
                check(&standard(system), false, &mut random);
                let second = System { starts: 3, ..system }.wide();
                check(&bumped(system, second), false, &mut random);
            }
        }
    }
}

#[test]
fn empty_sets() {
    let mut random = Random(5);
    for columns in [0, 1, 8, 20] {
        check(&standard(System::empty(Width::W192, columns)), true, &mut random);
        let (first, second) =
            (System::empty(Width::W192, columns), System::empty(Width::W256, columns));
        check(&bumped(first, second), true, &mut random);
    }
    check(&standard(System::empty(Width::W192, 8)), false, &mut random);
    check(&standard(System { rows: true, ..System::empty(Width::W256, 30) }), false, &mut random);
}

/// Enough keys that some are found, in numbers around those that are evaluated together.
#[test]
fn batches_of_any_length() {
    let mut random = Random(6);
    for (width, columns, boundary) in [
        (Width::W128, 8, 0),
        (Width::W192, 8, 0),
        (Width::W192, 7, 60),
        (Width::W256, 7, 200),
        (Width::W192, 16, 0),
        (Width::W192, 3, 9),
    ] {
        for starts in [5, 150, 40_000] {
            let system = System { width, starts, columns, boundary, last_bytes: 3, rows: false };
            let second = System { starts: 1 + starts / 50, ..system }.wide();
            for layout in [standard(system), bumped(system, second)] {
                let guarded = Guarded::new(&random.bytes(layout.len));
                let bytes = guarded.bytes();
                for kernel in kernels() {
                    let probe = Probe::filter(&layout, kernel).unwrap();
                    for len in [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 1000, 5000] {
                        let keys: Vec<u64> = (0..len).map(|_| random.next()).collect();
                        check_batch(&probe, bytes, &keys, true);
                    }
                }
            }
        }
    }
}

#[test]
fn second_systems_are_wide() {
    let system = System { starts: 5, ..System::empty(Width::W256, 8) };
    for (width, valid) in [(Width::W128, false), (Width::W192, false), (Width::W256, true)] {
        let layout = bumped(system, System { width, ..system });
        assert_eq!(Probe::filter(&layout, Kernel::best()).is_some(), valid);
    }
}

/// Filters are often kept opened, many of them.
#[test]
fn an_opened_filter_is_small() {
    assert!(size_of::<Probe>() <= 200, "{}", size_of::<Probe>());
}

/// Whatever a layout says: it is refused, or its queries stay in the bytes.
#[test]
fn layouts_of_untrusted_files() {
    let mut random = Random(7);
    let guarded = Guarded::new(&random.bytes(600));
    let bytes = guarded.bytes();
    let number = |random: &mut Random| match random.below(4) {
        0 => random.below(10),
        1 => random.below(700),
        2 => u64::MAX - random.below(10),
        _ => random.next() >> random.below(64),
    };
    let mut opened = 0;
    for _ in 0..if cfg!(miri) { 1_000 } else { 400_000 } {
        let system = |random: &mut Random| System {
            width: Width::ALL[random.below(3) as usize],
            starts: number(random),
            columns: number(random) as u32,
            boundary: number(random),
            last_bytes: number(random) as u32,
            rows: random.below(4) == 0,
        };
        let second = Second {
            system: system(&mut random).wide(),
            seed: 0,
            offset: number(&mut random),
            codes: number(&mut random),
        };
        let second = Some(second).filter(|_| random.below(2) == 0);
        let layout = Layout {
            seed: 0,
            first_column: 0,
            first: system(&mut random),
            second,
            len: bytes.len(),
        };
        for kernel in kernels() {
            for probe in [Probe::filter(&layout, kernel), Probe::map(&layout, kernel)] {
                let Some(probe) = probe else { continue };
                opened += 1;
                for key in [random.next(), random.next()] {
                    probe.get(bytes, key);
                }
            }
        }
    }
    assert!(opened > 100, "{opened}");
}
