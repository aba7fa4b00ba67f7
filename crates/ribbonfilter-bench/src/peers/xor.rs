//! Xor filters and Xor+ filters with fingerprints of any number of bits (Graf, Lemire: "Xor Filters:
//! Faster and Smaller Than Bloom and Cuckoo Filters", 2020), written for the comparison: the crates
//! have 8, 16 and 32 bits, and none has Xor+.
//!
//! There are three blocks of cells, 1.23 cells per key in total. A key has one cell in each, and
//! the xor of the three is its fingerprint. Xor+ assigns as few cells of the last block as it can and
//! stores only those, with a bit per cell that tells which.

use super::packed::Packed;
use crate::race::{Family, Peer, peer};

/// A Xor filter with fingerprints of `bits` bits.
pub fn filter(bits: u32) -> Box<dyn Peer> {
    peer(
        format!("Xor r={bits} (ours, for comparison)"),
        Family::Xor,
        move |keys| {
            let filter = Xor::new(keys, bits);
            let bytes = filter.cells.size_in_bytes();
            (filter, bytes.into())
        },
        Xor::contains,
    )
}

/// A Xor+ filter with fingerprints of `bits` bits.
pub fn plus(bits: u32) -> Box<dyn Peer> {
    peer(
        format!("Xor+ r={bits} (ours, for comparison)"),
        Family::XorPlus,
        move |keys| {
            let filter = XorPlus::new(keys, bits);
            let bytes = filter.cells.size_in_bytes() + filter.marks.len() * size_of::<Marks>();
            (filter, bytes.into())
        },
        XorPlus::contains,
    )
}

/// Where the cells of a key are.
#[derive(Clone, Copy)]
struct Geometry {
    seed: u64,
    /// The number of cells of one of the three blocks.
    block: usize,
    mask: u64,
}

impl Geometry {
    #[inline]
    fn hash(&self, key: u64) -> u64 {
        let hash = (key ^ self.seed).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (hash ^ hash >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53)
    }

    #[inline]
    fn cells(&self, hash: u64) -> [usize; 3] {
        let reduce = |part: u64| (((part & 0xffff_ffff) * self.block as u64) >> 32) as usize;
        let [first, second, third] = [hash, hash.rotate_left(21), hash.rotate_left(42)].map(reduce);
        [first, self.block + second, 2 * self.block + third]
    }

    #[inline]
    fn fingerprint(&self, hash: u64) -> u64 {
        (hash ^ hash >> 32) & self.mask
    }
}

struct Xor {
    geometry: Geometry,
    cells: Packed,
}

impl Xor {
    fn new(keys: &[u64], bits: u32) -> Self {
        let (geometry, order) = peel(keys, bits, false);
        let mut cells = Packed::new(3 * geometry.block, bits);
        assign(&geometry, &order, &mut cells);
        Self { geometry, cells }
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let hash = self.geometry.hash(key);
        let [first, second, third] = self.geometry.cells(hash).map(|cell| self.cells.get(cell));
        first ^ second ^ third == self.geometry.fingerprint(hash)
    }
}

/// Of 192 cells of the last block, which ones are stored.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Marks {
    /// The number of stored cells in all preceding marks.
    before: u64,
    bits: [u64; 3],
}

struct XorPlus {
    geometry: Geometry,
    /// The first two blocks, then the stored cells of the last one.
    cells: Packed,
    marks: Vec<Marks>,
}

impl XorPlus {
    fn new(keys: &[u64], bits: u32) -> Self {
        let (geometry, order) = peel(keys, bits, true);
        let mut all = Packed::new(3 * geometry.block, bits);
        assign(&geometry, &order, &mut all);
        let stored = (0..geometry.block).filter(|cell| all.get(2 * geometry.block + cell) != 0);
        let stored: Vec<usize> = stored.collect();

        let mut marks = vec![Marks::default(); geometry.block.div_ceil(192)];
        for &cell in &stored {
            marks[cell / 192].bits[cell % 192 / 64] |= 1 << (cell % 64);
        }
        let mut before = 0;
        for marks in &mut marks {
            marks.before = before;
            before += marks.bits.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>();
        }

        let mut cells = Packed::new(2 * geometry.block + stored.len(), bits);
        let old =
            (0..2 * geometry.block).chain(stored.iter().map(|cell| 2 * geometry.block + cell));
        old.enumerate().for_each(|(new, old)| cells.set(new, all.get(old)));
        Self { geometry, cells, marks }
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let hash = self.geometry.hash(key);
        let [first, second, third] = self.geometry.cells(hash);
        let stored = self.third(third - 2 * self.geometry.block);
        let xor = self.cells.get(first) ^ self.cells.get(second) ^ stored;
        xor == self.geometry.fingerprint(hash)
    }

    /// A cell of the last block.
    #[inline]
    fn third(&self, cell: usize) -> u64 {
        let marks = &self.marks[cell / 192];
        let (word, bit) = (cell % 192 / 64, cell % 64);
        let mut before =
            marks.before + u64::from((marks.bits[word] & ((1 << bit) - 1)).count_ones());
        for bits in &marks.bits[..word] {
            before += u64::from(bits.count_ones());
        }
        // Without a branch: an unstored cell reads a number of which no bit counts.
        let stored = marks.bits[word] >> bit & 1;
        self.cells.get(2 * self.geometry.block + before as usize) & stored.wrapping_neg()
    }
}

/// The keys that touch a cell: their number and the xor of their hashes.
#[derive(Clone, Copy, Default)]
struct Touched {
    hashes: u64,
    count: u32,
}

/// Finds a seed and an order of the keys such that each key, in reverse order, has a cell that no
/// earlier key touches. Returns each key's hash and that cell. If `plus` is set, cells of the last block
/// are taken only if there is no other choice.
fn peel(keys: &[u64], bits: u32, plus: bool) -> (Geometry, Vec<(u64, u32)>) {
    let block = (1.23 * keys.len() as f64 / 3.0).ceil() as usize + 11;
    let mask = (1 << bits) - 1;
    (0..)
        .find_map(|seed| {
            let geometry = Geometry { seed, block, mask };
            let order = try_to_peel(keys, &geometry, plus);
            (order.len() == keys.len()).then_some((geometry, order))
        })
        .expect("some seed succeeds")
}

fn try_to_peel(keys: &[u64], geometry: &Geometry, plus: bool) -> Vec<(u64, u32)> {
    let mut touched = vec![Touched::default(); 3 * geometry.block];
    for &key in keys {
        let hash = geometry.hash(key);
        for cell in geometry.cells(hash) {
            touched[cell].hashes ^= hash;
            touched[cell].count += 1;
        }
    }
    let queue_of = |cell: usize| if plus { cell / geometry.block } else { 0 };
    let mut queues = [const { Vec::new() }; 3];
    for (cell, touched) in touched.iter().enumerate() {
        if touched.count == 1 {
            queues[queue_of(cell)].push(cell as u32);
        }
    }
    let mut order = Vec::with_capacity(keys.len());
    while let Some(cell) = queues.iter_mut().find_map(Vec::pop) {
        let Touched { hashes: hash, count } = touched[cell as usize];
        if count != 1 {
            continue; // the key was taken by another of its cells
        }
        order.push((hash, cell));
        for cell in geometry.cells(hash) {
            touched[cell].hashes ^= hash;
            touched[cell].count -= 1;
            if touched[cell].count == 1 {
                queues[queue_of(cell)].push(cell as u32);
            }
        }
    }
    order
}

/// Sets the cells so that each key's three cells give its fingerprint.
fn assign(geometry: &Geometry, order: &[(u64, u32)], cells: &mut Packed) {
    for &(hash, mine) in order.iter().rev() {
        // The key's own cell is still zero.
        let others =
            geometry.cells(hash).map(|cell| cells.get(cell)).into_iter().fold(0, |a, b| a ^ b);
        cells.set(mine as usize, others ^ geometry.fingerprint(hash));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::{filter, plus};

    #[test]
    fn rates_and_sizes_are_as_in_theory() {
        for bits in [1, 3, 7, 8, 11, 12] {
            check(&*filter(bits), 100_003, 0.5_f64.powi(bits as i32), 1.23 * f64::from(bits));
        }
    }

    #[test]
    fn xor_plus_is_as_small_as_its_paper_says() {
        let keys: Vec<u64> = crate::random::Random::new(1).take(100_003).collect();
        for bits in [3, 8, 11] {
            let size = plus(bits).build(&keys).size().bytes as f64 * 8.0 / keys.len() as f64;
            let paper = 1.08 * f64::from(bits) + 0.5;
            assert!((size / paper - 1.0).abs() < 0.03, "{bits} bits: {size} bits per key, {paper}");
            check(&*plus(bits), 100_003, 0.5_f64.powi(bits as i32), size);
        }
    }
}
