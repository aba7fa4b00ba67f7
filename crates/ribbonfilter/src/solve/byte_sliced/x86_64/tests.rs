//! The vector operations of every available instruction set against single bytes.

use super::vectors::{NO_LANE, Vectors};
use crate::testing::Random;
use alloc::vec;
use alloc::vec::Vec;

/// A byte times a matrix, as [`Vectors`] defines it.
fn product(matrix: u64, byte: u8) -> u8 {
    let rows = matrix.to_le_bytes().into_iter().enumerate();
    rows.fold(0, |sum, (row, byte_of_row)| sum ^ if byte >> row & 1 == 1 { byte_of_row } else { 0 })
}

fn word_product(matrix: u64, bytes: u64) -> u64 {
    u64::from_le_bytes(bytes.to_le_bytes().map(|byte| product(matrix, byte)))
}

fn bytes<V: Vectors>(cpu: V, vector: V::Vector) -> Vec<u8> {
    let mut bytes = vec![0; V::LANES];
    cpu.store(&mut bytes, vector);
    bytes
}

fn check<V: Vectors>(cpu: V) {
    let mut random = Random(V::LANES as u64);
    for _ in 0..50 {
        check_lanes(cpu, &mut random);
        check_products(cpu, &mut random);
        check_sums::<V, 4, 1>(cpu, &mut random);
        check_sums::<V, 8, 4>(cpu, &mut random);
        check_sums::<V, 16, 8>(cpu, &mut random);
        check_gather::<V, 1>(cpu, &mut random);
        check_gather::<V, 2>(cpu, &mut random);
        check_gather::<V, 4>(cpu, &mut random);
        check_gather::<V, 10>(cpu, &mut random);
    }
}

fn draw<V: Vectors>(cpu: V, random: &mut Random) -> (Vec<u8>, V::Vector) {
    let lanes: Vec<u8> = (0..V::LANES).map(|_| random.next() as u8).collect();
    let vector = cpu.load(&lanes);
    (lanes, vector)
}

fn check_lanes<V: Vectors>(cpu: V, random: &mut Random) {
    let ((a, vector_a), (b, vector_b)) = (draw(cpu, random), draw(cpu, random));
    let pairs = || a.iter().zip(&b);
    assert!(bytes(cpu, cpu.and(vector_a, vector_b)).into_iter().eq(pairs().map(|(a, b)| a & b)));
    assert!(bytes(cpu, cpu.or(vector_a, vector_b)).into_iter().eq(pairs().map(|(a, b)| a | b)));
    assert!(bytes(cpu, cpu.xor(vector_a, vector_b)).into_iter().eq(pairs().map(|(a, b)| a ^ b)));
    let count = random.next() as usize % 80;
    let first = (0..V::LANES).map(|lane| if lane < count { 0xff } else { 0 });
    assert!(bytes(cpu, cpu.up_to(count)).into_iter().eq(first), "the first {count}");
    let nonzero = cpu.nonzero(cpu.and(vector_a, cpu.up_to(count)));
    for (lane, &byte) in a.iter().enumerate() {
        assert_eq!(nonzero >> lane & 1 == 1, lane < count && byte != 0, "lane {lane}");
    }
    let columns = cpu.columns(vector_a);
    for (lane, byte) in a.iter().enumerate() {
        for (bit, column) in columns.iter().enumerate() {
            assert_eq!(column >> lane & 1, u64::from(byte >> bit & 1), "lane {lane}, bit {bit}");
        }
    }
    assert_eq!(bytes(cpu, cpu.lanes(columns)), a, "lanes of columns");
}

fn check_products<V: Vectors>(cpu: V, random: &mut Random) {
    let (matrix, word) = (random.next(), random.next());
    let (lanes, vector) = draw(cpu, random);
    let products: Vec<u8> = lanes.iter().map(|&byte| product(matrix, byte)).collect();
    let factors = cpu.factors(vector);
    assert_eq!(bytes(cpu, cpu.times(cpu.table(matrix), factors)), products);
    assert_eq!(bytes(cpu, cpu.times(cpu.kept(&cpu.keep(matrix)), factors)), products, "kept");
    assert_eq!(cpu.word_times(cpu.table(matrix), word), word_product(matrix, word));
    assert_eq!(cpu.product(matrix, word), word_product(matrix, word));
}

fn check_sums<V: Vectors, const WORDS: usize, const GROUPS: usize>(cpu: V, random: &mut Random) {
    let mut words = [0; WORDS];
    words.fill_with(|| random.next());
    let masked = (random.next() as usize % WORDS, random.next());
    let matrices: [[u64; WORDS]; GROUPS] =
        core::array::from_fn(|_| core::array::from_fn(|_| random.next()));
    let kept = matrices.map(|matrices| matrices.map(|matrix| cpu.keep(matrix)));
    let sums = cpu.sums(&words, masked, &kept);
    words[masked.0] &= masked.1;
    for (sum, matrices) in sums.iter().zip(matrices) {
        let products = matrices.iter().zip(words).map(|(&matrix, word)| word_product(matrix, word));
        assert_eq!(*sum, products.fold(0, |sum, product| sum ^ product), "{WORDS} words");
    }
}

fn check_gather<V: Vectors, const VECTORS: usize>(cpu: V, random: &mut Random) {
    let mut all = Vec::new();
    let vectors: [V::Vector; VECTORS] = core::array::from_fn(|_| {
        let (lanes, vector) = draw(cpu, random);
        all.extend(lanes);
        vector
    });
    let lanes: [u64; 8] = core::array::from_fn(|_| match random.next() % 3 {
        0 => NO_LANE,
        _ => random.next() % all.len() as u64,
    });
    let expected = lanes.map(|lane| if lane == NO_LANE { 0 } else { all[lane as usize] });
    let gathered = cpu.gathered(&cpu.gather(lanes), &vectors);
    assert_eq!(gathered.to_le_bytes(), expected, "{lanes:?} of {VECTORS} vectors");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_do_what_they_say() {
    if let Some(avx2) = crate::kernel::avx2::Avx2::detect() {
        check(avx2);
    }
    if let Some(gfni) = crate::kernel::avx512::Avx512::detect().and_then(super::gfni::Gfni::detect)
    {
        check(gfni);
    }
}
