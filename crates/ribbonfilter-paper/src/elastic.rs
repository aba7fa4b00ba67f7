//! Elasticity (paper, section 5.1): a finished filter becomes smaller, or several filters, without
//! the keys.
//!
//! The columns of a solution are independent of each other. So a filter can drop the last ones,
//! and a part of the last column: that of the first blocks, in steps of one word. A fingerprint has
//! 32 bits whatever the columns, and which keys are bumped does not depend on them either. What
//! was shrunk is therefore byte for byte what a build with fewer columns and the same slots gives.

use crate::{Error, Filter, Layout, Solution};

impl Filter {
    /// The filter with fewer columns, which may be a fraction.
    pub fn shrink(&self, columns: f64) -> Result<Self, Error> {
        self.select(0, columns)
    }

    /// Two filters, with the first `columns` columns and with the others. The product of their
    /// rates is the rate of this filter. (Not if it is Homogeneous: a key that depends on others
    /// is a false positive of both.)
    pub fn split(&self, columns: u32) -> Result<[Self; 2], Error> {
        let mut others = self.select(columns, self.ribbon.columns() - f64::from(columns))?;
        others.header.first_column += columns;
        Ok([self.shrink(columns.into())?, others])
    }

    /// The filter with as many columns as fit into a number of bytes.
    pub fn shrink_to_size(&self, bytes: usize) -> Result<Self, Error> {
        let slots = self.ribbon.slots() as f64;
        let excess = 8.0 * (self.size() as f64 - bytes as f64);
        let mut columns = self.ribbon.columns() - (excess / slots.max(1.0)).max(0.0);
        loop {
            let smaller = self.shrink(columns)?;
            if smaller.size() <= bytes {
                return Ok(smaller);
            }
            // The columns of each solution were rounded to the nearest number of words.
            let words = smaller.ribbon.solutions().len() as f64;
            let word = 8.0 * smaller.ribbon.solutions()[0].layout().width().bytes() as f64;
            columns -= words * word / slots;
        }
    }

    fn select(&self, first: u32, columns: f64) -> Result<Self, Error> {
        let max = self.ribbon.columns() - f64::from(first);
        let layout = |solution: &Solution| {
            Layout::new(solution.layout().width(), solution.layout().slots(), columns)
        };
        let fits = |solution: &&Solution| {
            let available = solution.layout().columns() - f64::from(first);
            let available = Layout::new(
                solution.layout().width(),
                solution.layout().slots(),
                available.max(0.0),
            );
            available.contains(&layout(solution))
        };
        if !(columns >= 1.0 && columns <= max + 1e-9 && self.ribbon.solutions().iter().all(fits)) {
            return Err(Error::Columns { columns, max });
        }
        let select =
            |solution: &Solution| solution.select_columns(first as usize, layout(solution));
        Ok(Self { ribbon: self.ribbon.with_solutions(select), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::hashes;
    use crate::{Settings, Variant, Width};

    const KEYS: usize = 9000;

    fn settings(variant: Variant, width: Width, columns: f64) -> Settings {
        // Equation (7) makes the slots of Homogeneous depend on the columns.
        let epsilon = (variant == Variant::Homogeneous).then_some(0.3);
        Settings { epsilon, ..Settings::new(variant, width, columns) }
    }

    fn build(variant: Variant, width: Width, columns: f64) -> Filter {
        let hashes = hashes(KEYS, 1);
        Filter::from_hashes(&settings(variant, width, columns), &hashes).expect("a filter")
    }

    #[test]
    fn shrunk_is_what_a_build_with_fewer_columns_gives() {
        for variant in Variant::ALL {
            for width in Width::ALL {
                let mut filter = build(variant, width, 12.0);
                for columns in [11.3, 9.0, 7.7, 7.0, 1.5, 1.0] {
                    let shrunk = filter.shrink(columns).expect("fewer columns");
                    assert!(shrunk == build(variant, width, columns), "{variant}, w = {width}");
                    assert!(shrunk.size() < filter.size());
                    filter = shrunk;
                }
            }
        }
    }

    #[test]
    fn parts_answer_together_as_the_whole() {
        for variant in Variant::ALL {
            let filter = build(variant, Width::W64, 9.5);
            let [first, second] = filter.split(4).expect("columns of both");
            assert!((second.ribbon().columns() - 5.5).abs() < 0.01);
            let rates = first.rate() * second.rate();
            if variant != Variant::Homogeneous {
                assert!((rates / filter.rate() - 1.0).abs() < 0.01, "{variant}: {rates}");
            }
            for hash in hashes(KEYS, 1).into_iter().chain(hashes(50_000, 2)) {
                let both = first.contains_hash(hash) && second.contains_hash(hash);
                assert_eq!(both, filter.contains_hash(hash));
            }
        }
    }

    #[test]
    fn any_size_is_used_up_to_the_last_words() {
        for variant in Variant::ALL {
            let filter = build(variant, Width::W32, 16.0);
            for bytes in [5000, 9001, 12_345] {
                let shrunk = filter.shrink_to_size(bytes).expect("at least one column");
                let words = 4 * shrunk.ribbon().solutions().len() * 2 + 4;
                assert!(shrunk.size() <= bytes && shrunk.size() + words > bytes, "{variant}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let filter = build(Variant::Standard, Width::W64, 7.5);
        for columns in [8.0, 7.9, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(filter.shrink(columns), Err(Error::Columns { .. })), "{columns}");
        }
        assert!(filter.split(7).is_err() && filter.split(40).is_err());
        assert!(filter.shrink_to_size(100).is_err());
    }
}
