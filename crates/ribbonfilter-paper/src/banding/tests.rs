//! Algorithm 1 against elimination on dense rows, which makes no use of bands.

use super::*;
use crate::random::Random;

/// A right-hand side that tests can draw at random.
trait Drawn: RightSide {
    fn draw(random: &mut Random) -> Self;
}

impl Drawn for () {
    fn draw(_: &mut Random) {}
}

impl Drawn for u32 {
    /// Three different bits only, so that a dependent equation is sometimes consistent.
    fn draw(random: &mut Random) -> Self {
        random.number() as u32 & 7
    }
}

fn draw<W: Word, R: Drawn>(slots: u64, count: u64, random: &mut Random) -> Vec<Equation<W, R>> {
    let one = |_| {
        let start = random.below(slots - W::WIDTH.slots() + 1);
        let bits = u128::from(random.number()) << 64 | u128::from(random.number() | 1);
        Equation { start, coefficients: W::from_bits(bits), right_side: R::draw(random) }
    };
    (0..count).map(one).collect()
}

/// Elimination on dense rows. It clears from the *last* slot, where Algorithm 1 clears from the
/// first, so their agreement is not an artefact of the order.
struct Dense<R>(Vec<Option<(Vec<bool>, R)>>);

impl<R: RightSide> Dense<R> {
    fn new(slots: u64) -> Self {
        Self((0..slots).map(|_| None).collect())
    }

    /// `None` if the equation fills a row, otherwise whether it is consistent.
    fn insert<W: Word>(&mut self, equation: &Equation<W, R>) -> Option<bool> {
        let mut row: Vec<bool> = vec![false; self.0.len()];
        for k in 0..W::WIDTH.slots() {
            let bit = equation.coefficients.to_bits() >> k & 1 == 1;
            if bit {
                row[(equation.start + k) as usize] = true;
            }
        }
        let mut right_side = equation.right_side;
        for last in (0..row.len()).rev().collect::<Vec<_>>() {
            match &self.0[last] {
                _ if !row[last] => {}
                Some((other, other_side)) => {
                    row.iter_mut().zip(other).for_each(|(bit, other)| *bit ^= other);
                    right_side = right_side.xor(*other_side);
                }
                None => {
                    self.0[last] = Some((row, right_side));
                    return None;
                }
            }
        }
        Some(right_side == R::ZERO)
    }

    /// The columns at which the rank of a prefix of columns grows.
    fn pivots(&self) -> Vec<u64> {
        let mut rows: Vec<Vec<bool>> = self.0.iter().flatten().map(|row| row.0.clone()).collect();
        let mut pivots = Vec::new();
        for column in 0..self.0.len() {
            let Some(found) = rows.iter().position(|row| row[column]) else { continue };
            let pivot = rows.swap_remove(found);
            for row in rows.iter_mut().filter(|row| row[column]) {
                row.iter_mut().zip(&pivot).for_each(|(bit, other)| *bit ^= other);
            }
            pivots.push(column as u64);
        }
        pivots
    }
}

fn filled<W: Word, R: RightSide>(banding: &Banding<W, R>) -> Vec<u64> {
    (0..banding.slots()).filter(|&row| banding.is_filled(row)).collect()
}

fn rows<W: Word, R: RightSide>(banding: &Banding<W, R>) -> Vec<Option<(W, R)>> {
    (0..banding.slots()).map(|row| banding.is_filled(row).then(|| banding.row(row))).collect()
}

/// Calls `check::<W, R>(slots, equations, random)` for all widths, some sizes, and loads from a
/// tenth of the capacity to one and a half times the capacity.
macro_rules! for_all_systems {
    ($check:ident) => {
        for extra in [0, 1, 40, 200] {
            for load in [0.1, 0.5, 0.9, 1.0, 1.5] {
                let mut random = Random::new(extra << 8 | (load * 10.0) as u64);
                let count = |slots: u64| (slots as f64 * load) as u64 + 1;
                $check::<u16, u32>(16 + extra, count(16 + extra), &mut random);
                $check::<u32, u32>(32 + extra, count(32 + extra), &mut random);
                $check::<u64, u32>(64 + extra, count(64 + extra), &mut random);
                $check::<u128, u32>(128 + extra, count(128 + extra), &mut random);
                $check::<u64, ()>(64 + extra, count(64 + extra), &mut random);
            }
        }
    };
}

fn agree_with_dense<W: Word, R: Drawn>(slots: u64, count: u64, random: &mut Random) {
    let (mut banding, mut dense) = (Banding::<W, R>::new(slots), Dense::new(slots));
    for equation in draw(slots, count, random) {
        let depends = banding.depends(equation.start, equation.coefficients);
        let expected = dense.insert(&equation);
        assert_eq!(depends, expected.is_some());
        match banding.insert(equation) {
            Insertion::Row(row) => assert!(expected.is_none() && row >= equation.start),
            Insertion::Redundant => assert_eq!(expected, Some(true)),
            Insertion::Inconsistent => assert_eq!(expected, Some(false)),
        }
    }
    assert_eq!(filled(&banding), dense.pivots());
    assert_eq!(banding.rank(), dense.pivots().len() as u64);
}

#[test]
fn insertions_agree_with_dense_elimination() {
    for_all_systems!(agree_with_dense);
}

/// The comparison above would prove little if one of the cases never occurred.
#[test]
fn overloaded_systems_see_every_case() {
    let mut random = Random::new(1);
    let mut banding = Banding::<u16, u32>::new(200);
    let mut seen = [0; 3];
    for equation in draw(200, 300, &mut random) {
        match banding.insert(equation) {
            Insertion::Row(_) => seen[0] += 1,
            Insertion::Redundant => seen[1] += 1,
            Insertion::Inconsistent => seen[2] += 1,
        }
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

fn keep_the_invariants<W: Word, R: Drawn>(slots: u64, count: u64, random: &mut Random) {
    let mut banding = Banding::<W, R>::new(slots);
    for equation in draw(slots, count, random) {
        let mut expected = rows(&banding);
        if let Insertion::Row(row) = banding.insert(equation) {
            assert!(expected[row as usize].is_none());
            expected[row as usize] = Some(banding.row(row));
        }
        assert_eq!(rows(&banding), expected, "only the named row changes");
    }
    for row in filled(&banding) {
        let bits = banding.row(row).0.to_bits();
        assert_eq!(bits & 1, 1);
        assert!(row + u64::from(128 - bits.leading_zeros()) <= slots, "out of bounds");
    }
    banding.clear();
    assert_eq!(banding.rank(), 0);
}

#[test]
fn rows_begin_with_a_one_and_stay_inside() {
    for_all_systems!(keep_the_invariants);
}

fn take_back<W: Word, R: Drawn>(slots: u64, count: u64, random: &mut Random) {
    let equations: Vec<Equation<W, R>> = draw(slots, count, random);
    for kept in [0, equations.len() / 3, equations.len() - 1] {
        let mut banding = Banding::new(slots);
        let (first, latest) = equations.split_at(kept);
        first.iter().for_each(|&equation| {
            banding.insert(equation);
        });
        let before = rows(&banding);
        let mut filled = Vec::new();
        for &equation in latest {
            if let Insertion::Row(row) = banding.insert(equation) {
                filled.push(row);
            }
        }
        banding.undo(&filled);
        assert_eq!(rows(&banding), before, "after {kept} of {count}");
    }
}

#[test]
fn undo_restores_the_earlier_system() {
    for_all_systems!(take_back);
}

/// A bucket goes in as if its equations were inserted one by one, or leaves no trace.
#[test]
fn buckets_go_in_whole_or_not_at_all() {
    let (mut random, mut buffer) = (Random::new(11), Vec::new());
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..30 {
        let mut banding = Banding::<u64, u32>::new(400);
        for size in [100, 100, 80, 60, 3, 50, 1, 40, 30, 20, 0, 10, 5] {
            let mut bucket = draw(400, size, &mut random);
            if size == 60 {
                bucket.extend_from_within(20..25); // duplicates
            }
            let (before, mut expected) = (rows(&banding), banding.clone());
            let fits = expected.insert_all(bucket.iter().copied());
            assert_eq!(banding.insert_all_or_none(bucket, &mut buffer), fits);
            if fits {
                assert_eq!(rows(&banding), rows(&expected));
                taken += 1;
            } else {
                assert_eq!(rows(&banding), before);
                refused += 1;
            }
        }
    }
    assert!(taken > 100 && refused > 30, "{taken} taken, {refused} refused");
}

/// Theorem 3.2 (i), and its proof: the filled rows, and so the displacement `D`, are the same for
/// every order.
fn forget_the_order<W: Word, R: Drawn>(slots: u64, count: u64, random: &mut Random) {
    let mut equations: Vec<Equation<W, R>> = draw(slots, count, random);
    let mut consistent = Banding::new(slots);
    equations.retain(|&equation| consistent.insert(equation) != Insertion::Inconsistent);
    for _ in 0..4 {
        random.shuffle(&mut equations);
        let mut banding = Banding::new(slots);
        assert!(banding.insert_all(equations.iter().copied()));
        assert_eq!(filled(&banding), filled(&consistent));
    }
}

#[test]
fn filled_rows_do_not_depend_on_the_order() {
    for_all_systems!(forget_the_order);
}
