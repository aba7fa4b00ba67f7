//! Keys in groups: counted, then scattered. Keys that are inserted together become neighbours in
//! memory, and so are the rows that they meet.

use super::Item;
use std::ops::Range;

/// Keys, group by group.
pub(super) struct Grouped<R> {
    items: Vec<Item<R>>,
    /// Group `g` is `bounds[g] .. bounds[g + 1]`.
    bounds: Vec<usize>,
}

impl<R: Copy> Grouped<R> {
    /// Groups keys by a number below `groups`.
    pub(super) fn new(items: &[Item<R>], groups: usize, group: impl Fn(u64) -> usize) -> Self {
        let mut bounds = vec![0; groups + 1];
        items.iter().for_each(|item| bounds[group(item.hash) + 1] += 1);
        for index in 0..groups {
            bounds[index + 1] += bounds[index];
        }
        let mut next = bounds.clone();
        let mut sorted = items.to_vec();
        for &item in items {
            let place = &mut next[group(item.hash)];
            sorted[*place] = item;
            *place += 1;
        }
        Self { items: sorted, bounds }
    }

    fn range(&self, group: usize) -> Range<usize> {
        self.bounds[group]..self.bounds[group + 1]
    }

    /// The keys of a group.
    pub(super) fn of(&self, group: usize) -> &[Item<R>] {
        &self.items[self.range(group)]
    }

    /// The keys of a group, to be ordered within it.
    pub(super) fn of_mut(&mut self, group: usize) -> &mut [Item<R>] {
        let range = self.range(group);
        &mut self.items[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_their_groups() {
        let items: Vec<Item<u32>> = (0..1000).map(|i| Item { hash: i * 7, value: 0 }).collect();
        let mut grouped = Grouped::new(&items, 11, |hash| hash as usize % 10);
        for group in 0..10 {
            assert_eq!(grouped.of(group).len(), 100);
            assert!(grouped.of(group).iter().all(|item| item.hash % 10 == group as u64));
        }
        assert!(grouped.of_mut(10).is_empty());
    }
}
