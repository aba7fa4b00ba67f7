//! Algorithm 1 against elimination on dense rows, which knows nothing of bands.

use super::*;
use crate::arch::Kernel;
use crate::back_substitution::Solve;
use crate::equation::free_row;
use crate::layout::{Layout, READ_AHEAD};
use alloc::vec;
use core::fmt::Debug;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A right-hand side that tests can draw and add up.
trait Drawn: RightSide + Debug {
    fn draw(random: &mut Random) -> Self;
}

impl Drawn for () {
    fn draw(_: &mut Random) {}
}

impl Drawn for u32 {
    /// Three different bits only, so that a dependent equation is sometimes consistent.
    fn draw(random: &mut Random) -> Self {
        (random.next() as u32 & 7).rotate_right(1)
    }
}

#[derive(Clone, Copy, Debug)]
struct Equation<B, R> {
    start: usize,
    coefficients: B,
    right_side: R,
}

impl<B: Band, R: Drawn> Equation<B, R> {
    /// Any start, its coefficients cut to the slots that are there.
    fn draw(slots: usize, random: &mut Random) -> Self {
        let start = random.below(slots);
        let bits = B::from_words(random.next() | 1, random.next());
        Self {
            start,
            coefficients: bits & B::first_bits((slots - start) as u64),
            right_side: R::draw(random),
        }
    }

    /// The slots that the equation touches.
    fn touched(&self) -> impl Iterator<Item = usize> {
        let Self { start, coefficients, .. } = *self;
        let set =
            (0..B::WIDTH.bits()).filter(move |&k| coefficients.advance(k).first_block() & 1 == 1);
        set.map(move |k| start + k as usize)
    }

    fn dense(&self, slots: usize) -> (Vec<bool>, R) {
        let mut row = vec![false; slots];
        self.touched().for_each(|slot| row[slot] = true);
        (row, self.right_side)
    }
}

/// Elimination on dense rows. It clears from the *last* slot, where Algorithm 1 clears
/// from the first: what the two agree on is no accident of either's order.
struct Dense<R> {
    /// By the last slot that a row touches.
    rows: Vec<Option<(Vec<bool>, R)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Independent,
    Redundant,
    Inconsistent,
}

impl From<Insertion> for Outcome {
    fn from(insertion: Insertion) -> Self {
        match insertion {
            Insertion::At(_) => Self::Independent,
            Insertion::Redundant => Self::Redundant,
            Insertion::Inconsistent => Self::Inconsistent,
        }
    }
}

impl<R: RightSide> Dense<R> {
    fn new(slots: usize) -> Self {
        Self { rows: (0..slots).map(|_| None).collect() }
    }

    fn insert(&mut self, (mut row, mut right_side): (Vec<bool>, R)) -> Outcome {
        for last in (0..self.rows.len()).rev() {
            match &self.rows[last] {
                _ if !row[last] => {}
                Some((other, other_side)) => {
                    row.iter_mut().zip(other).for_each(|(bit, other)| *bit ^= other);
                    right_side = right_side.xor(*other_side);
                }
                None => {
                    self.rows[last] = Some((row, right_side));
                    return Outcome::Independent;
                }
            }
        }
        match right_side == R::ZERO {
            true => Outcome::Redundant,
            false => Outcome::Inconsistent,
        }
    }

    /// The first slots of a basis in echelon form, found column by column: where a
    /// column prefix gains rank.
    fn pivots(&self) -> Vec<usize> {
        let mut rows: Vec<Vec<bool>> =
            self.rows.iter().flatten().map(|row| row.0.clone()).collect();
        let mut pivots = Vec::new();
        for column in 0..self.rows.len() {
            let Some(found) = rows.iter().position(|row| row[column]) else {
                continue;
            };
            let pivot = rows.swap_remove(found);
            for row in rows.iter_mut().filter(|row| row[column]) {
                row.iter_mut().zip(&pivot).for_each(|(bit, other)| *bit ^= other);
            }
            pivots.push(column);
        }
        pivots
    }
}

/// The equation of a row, if there is one.
fn row_of<B: Band, R: RightSide>(banding: &Banding<B, R>, row: usize) -> Option<(B, R)> {
    let (coefficients, right_sides) = banding.rows(row..row + 1);
    (coefficients[0] != B::ZERO).then_some((coefficients[0], right_sides[0]))
}

fn filled<B: Band, R: RightSide>(banding: &Banding<B, R>) -> Vec<usize> {
    let rows = 0..banding.slots();
    rows.filter(|&row| row_of(banding, row).is_some()).collect()
}

fn all_rows<B: Band, R: RightSide>(banding: &Banding<B, R>) -> Vec<Option<(B, R)>> {
    (0..banding.slots()).map(|row| row_of(banding, row)).collect()
}

fn banding<B: Band, R: RightSide>(slots: usize) -> Banding<B, R> {
    Banding::new(slots).expect("memory")
}

fn insert<B: Band, R: Drawn>(banding: &mut Banding<B, R>, equation: &Equation<B, R>) -> Insertion {
    banding.insert(equation.start, equation.coefficients, equation.right_side)
}

/// Smaller than the narrowest width, around each, and larger than the widest.
const SLOTS: [usize; 11] = [1, 2, 5, 16, 17, 40, 64, 100, 128, 200, 333];

/// Calls `check::<B, R>(slots, equations, random)` for all widths, sizes and loads, from
/// a tenth of the capacity to half as much again as it.
macro_rules! for_all_systems {
    ($check:ident) => {
        for_all_systems!($check, u16, u32, u64, u128)
    };
    ($check:ident, $($band:ty),*) => {$(
        for slots in SLOTS {
            for load in [0.1, 0.5, 0.9, 1.0, 1.5] {
                let mut random = Random((slots as u64) << 32 | (load * 10.0) as u64);
                let count = libm::ceil(slots as f64 * load) as usize;
                $check::<$band, u32>(slots, count, &mut random);
                $check::<$band, ()>(slots, count, &mut random);
            }
        }
    )*};
}

fn draw<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) -> Vec<Equation<B, R>> {
    (0..count).map(|_| Equation::draw(slots, random)).collect()
}

/// The equations that a system takes in their order, duplicates included: they are
/// consistent with one another.
fn consistent<B: Band, R: Drawn>(
    slots: usize,
    count: usize,
    random: &mut Random,
) -> Vec<Equation<B, R>> {
    let mut banding = banding(slots);
    let mut equations = draw(slots, count, random);
    equations.retain(|equation| insert(&mut banding, equation) != Insertion::Inconsistent);
    equations
}

fn agree_with_dense<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let (mut banding, mut dense) = (banding::<B, R>(slots), Dense::new(slots));
    let mut rank = 0;
    for equation in draw(slots, count, random) {
        let insertion = insert(&mut banding, &equation);
        let outcome = dense.insert(equation.dense(slots));
        assert_eq!(Outcome::from(insertion), outcome, "{equation:?}");
        rank += usize::from(outcome == Outcome::Independent);
    }
    assert_eq!(filled(&banding), dense.pivots());
    assert_eq!(filled(&banding).len(), rank);
}

#[test]
fn insertions_agree_with_dense_elimination() {
    for_all_systems!(agree_with_dense);
}

/// The comparison above would be worth little if one of the outcomes never came up.
#[test]
fn overloaded_systems_see_every_outcome() {
    let mut random = Random(1);
    let mut banding = banding::<u16, u32>(200);
    let equations = draw(200, 300, &mut random);
    let outcomes: Vec<Outcome> =
        equations.iter().map(|equation| insert(&mut banding, equation).into()).collect();
    for outcome in [Outcome::Independent, Outcome::Redundant, Outcome::Inconsistent] {
        assert!(outcomes.contains(&outcome), "{outcome:?}");
    }
}

fn keep_the_invariants<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let mut banding = banding::<B, R>(slots);
    for equation in draw(slots, count, random) {
        let before = all_rows(&banding);
        let insertion = insert(&mut banding, &equation);
        let mut expected = before.clone();
        if let Insertion::At(row) = insertion {
            assert!(row >= equation.start && before[row].is_none());
            expected[row] = row_of(&banding, row);
        }
        assert_eq!(all_rows(&banding), expected, "only the named row changes");
    }
    for row in filled(&banding) {
        let (coefficients, _) = row_of(&banding, row).expect("a filled row");
        assert_eq!(coefficients.leading_gap(), 0);
        assert_eq!(coefficients & B::first_bits((slots - row) as u64), coefficients);
    }
    banding.clear();
    assert!(filled(&banding).is_empty());
}

#[test]
fn rows_begin_with_a_one_and_stay_inside() {
    for_all_systems!(keep_the_invariants);
}

fn take_back<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let equations = draw(slots, count, random);
    for kept in [0, count / 3, count - 1] {
        let mut banding = banding::<B, R>(slots);
        let (first, latest) = equations.split_at(kept);
        first.iter().for_each(|equation| {
            insert(&mut banding, equation);
        });
        let before = all_rows(&banding);
        let rows = latest.iter().filter_map(|equation| match insert(&mut banding, equation) {
            Insertion::At(row) => Some(row),
            Insertion::Redundant | Insertion::Inconsistent => None,
        });
        let rows: Vec<usize> = rows.collect();
        assert_eq!(filled(&banding).len(), before.iter().flatten().count() + rows.len());
        banding.undo(rows);
        assert_eq!(all_rows(&banding), before, "after {kept} of {count}");
    }
}

#[test]
fn undo_restores_the_earlier_system() {
    for_all_systems!(take_back);
}

/// Where a segment lies and how many columns its blocks have.
#[derive(Clone, Copy, Debug)]
struct Place {
    layout: Layout,
    first_slot: u64,
}

/// The segment alone and behind another, with whole and with fractional columns.
fn places<B: Band>(slots: usize) -> Vec<Place> {
    let mut places = Vec::new();
    for first_slot in [0, 128] {
        let all = first_slot + slots as u64;
        let blocks = all.div_ceil(B::WIDTH.block_slots().into());
        for (columns, boundary) in [(1, 0), (3, blocks / 2), (8, blocks - 1), (32, 0)] {
            let layout = Layout::new(B::WIDTH, all, columns, boundary);
            places.push(Place { layout, first_slot });
        }
    }
    places
}

/// What the bytes hold before: anything, and it must neither matter nor be lost elsewhere.
const STALE: u8 = 0xa5;

fn solution<B: Band, R: RightSide>(
    banding: &Banding<B, R>,
    free: fn(u64) -> u32,
    place: &Place,
) -> Vec<u8> {
    let layout = &place.layout;
    let size = layout.size_in_bytes() as usize;
    let mut bytes = vec![STALE; size + READ_AHEAD];
    let part = layout.part(place.first_slot, banding.slots() as u64);
    let own = &mut bytes[layout.offset(layout.block_of(place.first_slot))..];
    let free = |slot| free(place.first_slot + slot);
    Kernel::best().run(Solve { banding, free, layout: &part, bytes: own });
    let before = layout.offset(layout.block_of(place.first_slot));
    let outside = [&bytes[..before], &bytes[size..]].concat();
    assert!(outside.iter().all(|&byte| byte == STALE));
    bytes
}

/// Every equation holds in the columns of the block in which it starts.
fn assert_solves<B: Band, R: Drawn>(equations: &[Equation<B, R>], bytes: &[u8], place: &Place) {
    let Place { layout, first_slot } = place;
    for equation in equations {
        let start = first_slot + equation.start as u64;
        let columns = layout.columns_of(layout.block_of(start));
        let row = |slot| layout.row(bytes, first_slot + slot as u64, columns);
        let sum = equation.touched().fold(0, |sum, slot| sum ^ row(slot));
        for column in 0..columns {
            let expected = equation.right_side.bits() >> column & 1 == 1;
            assert_eq!(sum >> column & 1 == 1, expected, "{equation:?}");
        }
    }
}

/// Free variables have the values that they were given.
fn assert_free<B: Band, R: RightSide>(
    banding: &Banding<B, R>,
    free: fn(u64) -> u32,
    bytes: &[u8],
    place: &Place,
) {
    for row in (0..banding.slots()).filter(|&row| row_of(banding, row).is_none()) {
        let slot = place.first_slot + row as u64;
        let columns = place.layout.columns_of(place.layout.block_of(slot));
        let expected = u64::from(free(slot)) & ((1 << columns) - 1);
        assert_eq!(place.layout.row(bytes, slot, columns), expected);
    }
}

const FREE: [fn(u64) -> u32; 2] = [|_| 0, free_row];

/// Theorem 3.2: neither the filled rows nor the solution know the order of insertion.
fn forget_the_order<B: Band, R: Drawn>(slots: usize, count: usize, random: &mut Random) {
    let mut equations = consistent::<B, R>(slots, count, random);
    let places = places::<B>(slots);
    let mut first: Option<(Vec<usize>, Vec<Vec<u8>>)> = None;
    for _ in 0..4 {
        let mut banding = banding(slots);
        for equation in &equations {
            assert_ne!(insert(&mut banding, equation), Insertion::Inconsistent);
        }
        let mut solutions = Vec::new();
        for place in &places {
            for free in FREE {
                let bytes = solution(&banding, free, place);
                assert_solves(&equations, &bytes, place);
                assert_free(&banding, free, &bytes, place);
                solutions.push(bytes);
            }
        }
        let found = (filled(&banding), solutions);
        match &first {
            None => first = Some(found),
            Some(first) => assert!(*first == found, "w = {}, {slots} slots", B::WIDTH),
        }
        random.shuffle(&mut equations);
    }
}

#[test]
fn rows_and_solution_do_not_depend_on_the_order() {
    for_all_systems!(forget_the_order);
}
