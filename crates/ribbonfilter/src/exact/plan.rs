//! How many columns the filter of a group has, and how large an exact set becomes.
//!
//! Of a group with `s` keys on the side that is stored and `t` on the other, `r` columns cost
//! `s * r` bits, and the function has a bit for each of `s + t / 2^r` keys. One more column costs
//! `s` bits and saves `t / 2^(r + 1)`, so the best `r` is the largest with `t > s * 2^r`. A
//! fraction of a column never wins: between two whole numbers both terms are linear in it.
//!
//! All groups of the same `r` share a filter. A filter takes some bytes in addition to its
//! columns, so one with few keys may be dropped: its groups then use the next best filter.

use super::bound::log2_binomial;
use crate::error::BuildError;
use crate::format::MAX_KEYS;
use crate::format::exact::{self, MAX_GROUPS};
use crate::ribbon::equation::FINGERPRINT_BITS;
use crate::{Effort, Filter, FilterBuilder, Function, FunctionBuilder};
use alloc::vec::Vec;

/// Bits of a fraction of a key in the expected number of keys of the function.
const FRACTION: u32 = 32;
/// The bound on the size holds for all but one set in 10^9: the number of others that pass a
/// filter stays within this many standard deviations.
const DEVIATIONS: f64 = 6.0;

/// The distinct keys of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) members: u64,
    pub(super) others: u64,
}

impl Counts {
    /// The keys of the side that is stored, the smaller one, and those of the other side.
    fn sides(self) -> (u64, u64) {
        (self.members.min(self.others), self.members.max(self.others))
    }
}

/// How a group is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Not at all, since all keys are members, or none is.
    All(bool),
    /// Its members or, if `inverted`, its others are in the filter with this number of columns,
    /// unless that is 0, and in the function.
    Columns { columns: u32, inverted: bool },
}

/// The bits that a group takes in units of `2^-FRACTION`, without what its stages take in addition.
fn cost(counts: Counts, columns: u32) -> u128 {
    let (stored, other) = counts.sides();
    ((u128::from(stored) * u128::from(columns + 1)) << FRACTION) + passing(other, columns)
}

/// The expected number of keys that pass a filter, in units of `2^-FRACTION`.
fn passing(keys: u64, columns: u32) -> u128 {
    u128::from(keys) << FRACTION >> columns
}

/// The columns of the filter of a group that has keys on both sides.
fn best_columns(counts: Counts) -> u32 {
    let (stored, other) = counts.sides();
    let worthwhile = |columns: &u32| u128::from(other) > u128::from(stored) << columns;
    (0..=FINGERPRINT_BITS).rev().find(worthwhile).unwrap_or(0)
}

/// The number of keys in the filter of each number of columns and, at 0, in the function: there it
/// is an expectation, in units of `2^-FRACTION`.
#[derive(Clone)]
struct Load {
    filters: [u64; FINGERPRINT_BITS as usize + 1],
    function: u128,
}

impl Load {
    fn add(&mut self, counts: Counts, columns: u32) {
        let (stored, other) = counts.sides();
        self.filters[columns as usize] += stored;
        self.function += (u128::from(stored) << FRACTION) + passing(other, columns);
    }

    /// Adds a group with the best choice for it alone.
    fn add_best(&mut self, counts: Counts) -> Choice {
        match counts {
            Counts { members: 0, .. } => Choice::All(false),
            Counts { others: 0, .. } => Choice::All(true),
            Counts { members, others } => {
                let columns = best_columns(counts);
                self.add(counts, columns);
                Choice::Columns { columns, inverted: others < members }
            }
        }
    }

    fn remove(&mut self, counts: Counts, columns: u32) {
        let (stored, other) = counts.sides();
        self.filters[columns as usize] -= stored;
        self.function -= (u128::from(stored) << FRACTION) + passing(other, columns);
    }

    /// The numbers of columns of all filters, ascending, with the keys of each.
    fn used(&self) -> impl Iterator<Item = (u32, u64)> {
        let all = (0..).zip(self.filters);
        all.skip(1).filter(|&(_, keys)| keys > 0)
    }

    fn expected_function_keys(&self) -> u64 {
        ((self.function + (1 << FRACTION) - 1) >> FRACTION) as u64
    }
}

/// The plan of all groups.
pub(super) struct Plan {
    /// By group.
    pub(super) choices: Vec<Choice>,
    effort: Effort,
    load: Load,
    /// Variance of the number of keys in the function.
    variance: f64,
}

impl Plan {
    pub(super) fn new(groups: &[Counts], effort: Effort) -> Result<Self, BuildError> {
        let load = Load { filters: [0; FINGERPRINT_BITS as usize + 1], function: 0 };
        let mut plan = Self { choices: Vec::new(), effort, load, variance: 0.0 };
        plan.choices.extend(groups.iter().map(|&counts| plan.load.add_best(counts)));
        plan.drop_small_filters(groups)?;
        plan.variance = plan.variance(groups);
        Ok(plan)
    }

    /// Drops each filter, from the smallest to the largest, if the set becomes smaller.
    fn drop_small_filters(&mut self, groups: &[Counts]) -> Result<(), BuildError> {
        let mut filters: Vec<_> = self.filters().map(|(columns, keys)| (keys, columns)).collect();
        filters.sort_unstable();
        for (_, columns) in filters {
            let without = self.without(columns, groups);
            if without.size(0.0)? < self.size(0.0)? {
                *self = without;
            }
        }
        Ok(())
    }

    /// The plan without the filter of this number of columns: each of its groups takes the best of
    /// the other filters, or none.
    fn without(&self, dropped: u32, groups: &[Counts]) -> Self {
        let left: Vec<u32> = self
            .filters()
            .map(|(columns, _)| columns)
            .filter(|&columns| columns != dropped)
            .collect();
        let (mut choices, mut load) = (self.choices.clone(), self.load.clone());
        for (choice, &counts) in choices.iter_mut().zip(groups) {
            if let Choice::Columns { columns, .. } = choice
                && *columns == dropped
            {
                load.remove(counts, dropped);
                let all = core::iter::once(0).chain(left.iter().copied());
                *columns = all.min_by_key(|&columns| cost(counts, columns)).unwrap_or(0);
                load.add(counts, *columns);
            }
        }
        Self { choices, effort: self.effort, load, variance: 0.0 }
    }

    /// Corrects the plan of groups that turned out to have other numbers of keys than planned. All
    /// other groups keep their side, and their filter unless it is dropped.
    pub(super) fn correct(
        &mut self,
        planned: &[Counts],
        exact: &[Counts],
    ) -> Result<(), BuildError> {
        if planned == exact {
            return Ok(());
        }
        for (group, (planned, &exact)) in planned.iter().zip(exact).enumerate() {
            if *planned != exact {
                if let Choice::Columns { columns, .. } = self.choices[group] {
                    self.load.remove(*planned, columns);
                }
                self.choices[group] = self.load.add_best(exact);
            }
        }
        self.drop_small_filters(exact)?;
        self.variance = self.variance(exact);
        Ok(())
    }

    /// The numbers of columns of all filters, ascending, with the keys of each.
    pub(super) fn filters(&self) -> impl Iterator<Item = (u32, u64)> {
        self.load.used()
    }

    /// The expected number of keys in the function, and the given number of standard deviations more.
    pub(super) fn function_keys(&self, deviations: f64) -> u64 {
        let more = libm::ceil(deviations * libm::sqrt(self.variance)) as u64;
        self.load.expected_function_keys() + more
    }

    /// The variance of the number of others that pass.
    fn variance(&self, groups: &[Counts]) -> f64 {
        let variances = self.choices.iter().zip(groups).map(|(choice, counts)| match *choice {
            Choice::Columns { columns, .. } if columns > 0 => {
                let rate = libm::exp2(-f64::from(columns));
                counts.sides().1 as f64 * rate * (1.0 - rate)
            }
            _ => 0.0,
        });
        variances.sum()
    }

    /// The expected size in bytes without the table of groups, if the number of keys in the
    /// function is this number of standard deviations above its expectation.
    fn size(&self, deviations: f64) -> Result<u64, BuildError> {
        self.size_with(deviations, 0)
    }

    fn size_with(&self, deviations: f64, groups: u64) -> Result<u64, BuildError> {
        let mut stages = Vec::new();
        for (columns, keys) in self.filters() {
            stages.extend(filter_sizes(columns, keys, self.effort)?);
        }
        let keys = self.function_keys(deviations);
        if keys > 0 {
            stages.push(function_of(self.effort).plan_for(keys)?.size_in_bytes());
        }
        Ok(exact::size_in_bytes(stages.into_iter(), groups))
    }
}

/// A builder of the filter of this number of columns.
pub(super) fn filter_of(columns: u32, effort: Effort) -> FilterBuilder<'static> {
    Filter::builder().columns(columns.into()).effort(effort)
}

/// The bytes of a filter, or of each of the two into which it is split.
fn filter_sizes(
    columns: u32,
    keys: u64,
    effort: Effort,
) -> Result<impl Iterator<Item = u64>, BuildError> {
    let plan = filter_of(columns, effort).plan_for(keys)?;
    let (first, rest) = match exact::split(columns) {
        None => (plan, None),
        Some([first, rest]) => {
            // The slots depend on variant and width, but not on the columns.
            let part = |columns| {
                let builder = filter_of(columns, effort).variant(plan.variant());
                builder.width(plan.width()).plan_for(keys)
            };
            (part(first)?, Some(part(rest)?))
        }
    };
    Ok(core::iter::once(first).chain(rest).map(|plan| plan.size_in_bytes()))
}

/// A builder of the function.
pub(super) fn function_of(effort: Effort) -> FunctionBuilder<'static> {
    Function::builder().value_bits(1).effort(effort)
}

/// Refuses more keys or groups than the format allows.
pub(super) fn check_keys(groups: &[Counts]) -> Result<(), BuildError> {
    let add = |sum: u64, counts: &Counts| {
        sum.saturating_add(counts.members).saturating_add(counts.others)
    };
    let keys = groups.iter().fold(0, add);
    if keys > MAX_KEYS {
        return Err(BuildError::TooManyKeys { keys, max: MAX_KEYS });
    }
    // The unnamed group, and others that only expect keys, may have none.
    let groups = groups.iter().filter(|counts| **counts != Counts::default()).count() as u64;
    match groups <= MAX_GROUPS {
        true => Ok(()),
        false => Err(BuildError::TooManyGroups { groups, max: MAX_GROUPS }),
    }
}

/// The lower bound of the size in bits of an exact set of these groups.
pub(super) fn lower_bound(groups: impl Iterator<Item = Counts>) -> f64 {
    let bits = groups.map(|counts| log2_binomial(counts.members + counts.others, counts.members));
    bits.fold(0.0, |sum, bits| sum + bits)
}

/// What an exact set will be, before any work is done.
///
/// The size is random, since the number of other keys that pass the first stage is. So the plan has
/// an [expectation](Self::expected_size) and a [bound](Self::max_size).
///
/// ```
/// use ribbonfilter::ExactSet;
///
/// let plan = ExactSet::builder().plan_for(11_700_000, 804_300_000)?;
/// assert_eq!(plan.columns(), 6);
/// assert!(plan.expected_size() < 13_000_000); // 8.7 bits per member
/// assert!(plan.max_size() - plan.expected_size() < 10_000);
/// # Ok::<(), ribbonfilter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactPlan {
    members: u64,
    others: u64,
    groups: u64,
    columns: u32,
    inverted: bool,
    expected_size: u64,
    max_size: u64,
    bound: f64,
    peak_memory: u64,
}

impl ExactPlan {
    pub(super) fn of(
        groups: &[Counts],
        effort: Effort,
        threads: usize,
    ) -> Result<Self, BuildError> {
        check_keys(groups)?;
        let plan = Plan::new(groups, effort)?;
        let table = if groups.len() > 1 { groups.len() as u64 } else { 0 };
        let (columns, inverted) = match plan.choices.first() {
            Some(&Choice::Columns { columns, inverted }) => (columns, inverted),
            _ => (0, false),
        };
        let members: u64 = groups.iter().map(|counts| counts.members).sum();
        let others: u64 = groups.iter().map(|counts| counts.others).sum();
        let pushed = (members + others) * if table > 0 { 16 } else { 8 };
        Ok(Self {
            members,
            others,
            groups: groups.len() as u64,
            columns,
            inverted,
            expected_size: plan.size_with(0.0, table)?,
            max_size: plan.size_with(DEVIATIONS, table)?,
            bound: lower_bound(groups.iter().copied()),
            peak_memory: plan.peak_memory(pushed, DEVIATIONS, threads)?,
        })
    }

    /// The number of members planned for.
    ///
    /// ```
    /// assert_eq!(ribbonfilter::ExactSet::builder().plan_for(10, 1000)?.members(), 10);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn members(&self) -> u64 {
        self.members
    }

    /// The number of other keys planned for.
    ///
    /// ```
    /// assert_eq!(ribbonfilter::ExactSet::builder().plan_for(10, 1000)?.others(), 1000);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The columns of the first stage; of the first group, if there are several. 0 if there is no
    /// first stage.
    ///
    /// ```
    /// let builder = ribbonfilter::ExactSet::builder();
    /// assert_eq!(builder.plan_for(100_000, 9_900_000)?.columns(), 6);
    /// assert_eq!(builder.plan_for(5_000_000, 5_000_000)?.columns(), 0);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Whether the others are stored instead of the members, because they are fewer; in the first
    /// group, if there are several.
    ///
    /// ```
    /// assert!(ribbonfilter::ExactSet::builder().plan_for(9000, 1000)?.stores_others());
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn stores_others(&self) -> bool {
        self.inverted
    }

    /// The expected size in bytes, all included.
    ///
    /// ```
    /// let plan = ribbonfilter::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!((106_000..108_000).contains(&plan.expected_size()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn expected_size(&self) -> u64 {
        self.expected_size
    }

    /// A size in bytes that is exceeded with a probability of less than 10^-8: six standard
    /// deviations above the expected size.
    ///
    /// ```
    /// let plan = ribbonfilter::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!(plan.max_size() < plan.expected_size() + 500);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn max_size(&self) -> u64 {
        self.max_size
    }

    /// The expected size in bits over the number of members; infinite without members.
    ///
    /// ```
    /// let plan = ribbonfilter::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!((8.5..8.7).contains(&plan.bits_per_member()));
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn bits_per_member(&self) -> f64 {
        self.expected_size as f64 * 8.0 / self.members as f64
    }

    /// The least bits that any exact set of these sizes takes on average: see
    /// [`ExactSet::lower_bound_bits`](crate::ExactSet::lower_bound_bits).
    ///
    /// ```
    /// let plan = ribbonfilter::ExactSet::builder().plan_for(1, 3)?;
    /// assert_eq!(plan.lower_bound_bits(), 2.0);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn lower_bound_bits(&self) -> f64 {
        self.bound
    }

    /// The peak memory of the build in bytes if all keys are pushed and none is spilled.
    ///
    /// ```
    /// let plan = ribbonfilter::ExactSet::builder().plan_for(100_000, 9_900_000)?;
    /// assert!(plan.peak_memory() < 95_000_000); // 8 bytes per key, and some for the members
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn peak_memory(&self) -> u64 {
        self.peak_memory
    }

    /// The number of groups.
    ///
    /// ```
    /// let builder = ribbonfilter::ExactSet::builder();
    /// assert_eq!(builder.plan_for_groups([(10, 1000), (0, 20)])?.groups(), 2);
    /// # Ok::<(), ribbonfilter::BuildError>(())
    /// ```
    pub fn groups(&self) -> u64 {
        self.groups
    }
}

impl Plan {
    /// The peak memory in bytes of a build that keeps `held` bytes of keys in memory.
    pub(super) fn peak_memory(
        &self,
        held: u64,
        deviations: f64,
        threads: usize,
    ) -> Result<u64, BuildError> {
        let (mut pushed, mut solving, mut filters) = (0, 0, 0);
        for (columns, keys) in self.filters() {
            let plan = filter_of(columns, self.effort).threads(threads).plan_for(keys)?;
            pushed += 8 * keys;
            solving = plan.peak_memory().saturating_sub(8 * keys).max(solving);
            filters += plan.size_in_bytes();
        }
        let keys = self.function_keys(deviations);
        let plan = function_of(self.effort).threads(threads).plan_for(keys)?;
        let first_stage = held + pushed + solving + filters;
        let passing = held + filters + 16 * keys;
        // The pushed keys are dropped before the function is built.
        let function = filters + plan.peak_memory();
        let assembling = 2 * (filters + plan.size_in_bytes());
        Ok(first_stage.max(passing).max(function).max(assembling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(members: u64, others: u64) -> u32 {
        best_columns(Counts { members, others })
    }

    #[test]
    fn the_best_number_of_columns_is_the_cheapest() {
        for (members, others) in [(1, 1), (1, 2), (1, 3), (7, 100), (1000, 9000), (3, 1 << 40)] {
            let counts = Counts { members, others };
            let cheapest = (0..=FINGERPRINT_BITS).min_by_key(|&columns| cost(counts, columns));
            assert_eq!(cheapest, Some(best_columns(counts)), "{counts:?}");
            assert_eq!(best(members, others), best(others, members));
        }
        assert_eq!((best(1, 99), best(1, 999), best(1, 9), best(1, 1)), (6, 9, 3, 0));
        assert_eq!(best(1, u64::MAX), FINGERPRINT_BITS);
    }

    /// Small filters are merged with others, and the planned size never grows by that.
    #[test]
    fn filters_that_do_not_pay_are_dropped() {
        let large = Counts { members: 1_000_000, others: 99_000_000 };
        let small = Counts { members: 3, others: 1000 };
        let plan = Plan::new(&[large, small], Effort::Normal).expect("a plan");
        assert_eq!(plan.filters().collect::<Vec<_>>(), [(6, 1_000_003)]);
        let large_too = Counts { members: 1_000_000, others: 1_000_000_000 };
        let plan = Plan::new(&[large, large_too], Effort::Normal).expect("a plan");
        assert_eq!(plan.filters().map(|(columns, _)| columns).collect::<Vec<_>>(), [6, 9]);
        let few = Counts { members: 5, others: 100 };
        let plan = Plan::new(&[few], Effort::Normal).expect("a plan");
        assert_eq!(plan.choices, [Choice::Columns { columns: 0, inverted: false }]);
    }

    #[test]
    fn groups_of_one_side_take_nothing() {
        let groups = [(0, 0), (5, 0), (0, 5)].map(|(members, others)| Counts { members, others });
        let plan = Plan::new(&groups, Effort::Normal).expect("a plan");
        assert_eq!(plan.choices, [false, true, false].map(Choice::All));
        assert_eq!(plan.size(0.0).expect("a size"), 40);
    }
}
