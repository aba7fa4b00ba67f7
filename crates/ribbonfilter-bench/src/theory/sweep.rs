//! Where is the overhead of a Homogeneous ribbon least? The paper simulates it for every width and
//! r = 1 … 16 and gives the rule eps = (4 + r/4) / w, its equation (7).
//!
//! How many columns a system has does not change which equations depend on each other. By the
//! paper's Lemma 4.2 the rate is `p + (1 - p) 2^-r` on average, where `p` is the probability that
//! the equation of an absent key depends on those of the keys. So `p` is measured for each width
//! over a range of `eps`, and a smooth curve through its logarithm gives the overhead for all `r`.

use super::mean_and_error;
use crate::progress::Progress;
use crate::random::trials;
use crate::results::{Folder, Rows};
use crate::table::{Cell, Table};
use ribbonfilter::simulate::homogeneous_rates;
use ribbonfilter::{Filter, Variant, Width};
use serde::{Deserialize, Serialize};

pub const TEXT: &str = "The paper's equation (7) recommends eps = (4 + r/4) / w. Here the \
    probability p that the equation of an absent key depends on those of the keys is measured for \
    each width over a range of eps: systems of 2^18 slots without smash, one seed each, no seed \
    rejected. It is computed from the exact rates of the solutions by the paper's Lemma 4.2, which \
    a test of the library checks against counted dependent keys. The lemma gives the rate for every \
    r, and so the overhead r (1 + eps) / log2(1/rate) - 1. Between the measured points, ln p is a \
    parabola in theta, where (exp(theta) - 1) / theta = 1 + eps, fitted to them by weighted least \
    squares.";

/// One measured probability.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    width: u32,
    epsilon: f64,
    systems: u64,
    /// The probability that another equation depends on the system, and its standard error.
    dependent: [f64; 2],
}

/// Slots of a system: as many as a segment of a large filter has.
const SLOTS: u64 = 1 << 18;
/// Keys for which the planner's slots are shown: far beyond the sets whose seeds are screened.
const MANY_KEYS: u64 = 1_000_000_000;

/// A width, the columns from whose rate `p` is computed, systems per point, and eps times w.
type Grid = (Width, u32, f64, &'static [f64]);

const GRIDS: [Grid; 4] = [
    (Width::W16, 6, 200.0, &[2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]),
    (Width::W32, 12, 800.0, &[2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]),
    (Width::W64, 16, 1600.0, &[2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0]),
    (Width::W128, 16, 2300.0, &[2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5]),
];

pub fn run(folder: &Folder, scale: f64) -> Result<(), String> {
    let mut rows = Rows::<Point>::open(folder, "sweep")?;
    let mut progress = Progress::new(GRIDS.iter().map(|grid| grid.3.len()).sum());
    for (width, columns, systems, products) in GRIDS {
        for product in products {
            let epsilon = product / f64::from(width.bits());
            progress.group(&format!("w = {width}, eps = {:.2} %", epsilon * 100.0));
            let is_same = |p: &Point| (p.width, p.epsilon) == (width.bits(), epsilon);
            if !rows.all.iter().any(is_same) {
                // The larger eps, the rarer are dependent keys.
                let systems = systems * scale * (product - 6.0).exp().clamp(0.1, 2.0);
                rows.add(vec![measure(width, columns, epsilon, systems as u64)])?;
            }
        }
    }
    Ok(())
}

fn measure(width: Width, columns: u32, epsilon: f64, systems: u64) -> Point {
    let systems = systems.max(8);
    let keys = (SLOTS as f64 / (1.0 + epsilon)).round() as usize;
    let nominal = f64::from(columns).exp2().recip();
    let dependent = trials(systems, |random| {
        let rates = homogeneous_rates(width, SLOTS, &[columns], random.take(keys));
        (rates[0] - nominal) / (1.0 - nominal)
    });
    Point { width: width.bits(), epsilon, systems, dependent: mean_and_error(&dependent) }
}

/// The curve of ln p over eps for one width.
struct Curve {
    coefficients: [f64; 3],
    covariance: [[f64; 3]; 3],
    /// The largest eps that was measured.
    measured: f64,
}

impl Curve {
    fn new(points: &[&Point]) -> Option<Self> {
        // The rarest events are too few for a normal error.
        let usable = |p: &&&Point| p.dependent[0] > 0.0 && p.dependent[1] < 0.4 * p.dependent[0];
        let points: Vec<&&Point> = points.iter().filter(usable).collect();
        let measured = points.iter().map(|point| point.epsilon).fold(0.0, f64::max);
        let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for point in &points {
            let [p, error] = point.dependent;
            let (powers, weight) = (powers(point.epsilon), (p / error).powi(2));
            for row in 0..3 {
                right[row] += weight * powers[row] * p.ln();
                for column in 0..3 {
                    matrix[row][column] += weight * powers[row] * powers[column];
                }
            }
        }
        let covariance = (points.len() > 3).then(|| inverse(matrix))?;
        let coefficients = covariance.map(|row| dot(row, right));
        Some(Self { coefficients, covariance, measured })
    }

    /// The logarithm of p and its standard error.
    fn ln_p(&self, epsilon: f64) -> (f64, f64) {
        let powers = powers(epsilon);
        let variance = dot(powers, self.covariance.map(|row| dot(row, powers)));
        (dot(self.coefficients, powers).min(0.0), variance.max(0.0).sqrt())
    }

    /// The overhead for a number of columns, and its standard error.
    fn overhead(&self, r: u32, epsilon: f64) -> (f64, f64) {
        let (ln_p, error) = self.ln_p(epsilon);
        let (p, nominal) = (ln_p.exp(), f64::from(r).exp2().recip());
        let rate = p + (1.0 - p) * nominal;
        let overhead = f64::from(r) * (1.0 + epsilon) / -rate.log2() - 1.0;
        (overhead, (1.0 + overhead) * p * (1.0 - nominal) / rate * error / -rate.ln())
    }

    /// The eps of the least overhead, by golden-section search.
    fn best(&self, r: u32, width: u32) -> f64 {
        let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (2.0 / f64::from(width), 14.0 / f64::from(width));
        while high - low > 1e-6 {
            let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
            match self.overhead(r, left).0 < self.overhead(r, right).0 {
                true => high = right,
                false => low = left,
            }
        }
        low.midpoint(high)
    }
}

/// The powers of theta up to the second.
fn powers(epsilon: f64) -> [f64; 3] {
    // Newton's method from the first terms of the series.
    let mut theta: f64 = 2.0 * epsilon;
    for _ in 0..20 {
        let value = theta.exp_m1() / theta - 1.0 - epsilon;
        let slope = (theta * theta.exp() - theta.exp_m1()) / (theta * theta);
        theta -= value / slope;
    }
    [1.0, theta, theta * theta]
}

fn dot(one: [f64; 3], other: [f64; 3]) -> f64 {
    one.iter().zip(other).map(|(x, y)| x * y).sum()
}

/// The inverse of a symmetric, positive matrix, by cofactors.
fn inverse(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let cofactor = |row: usize, column: usize| {
        let at = |i: usize, j: usize| m[(row + i) % 3][(column + j) % 3];
        at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
    };
    let determinant: f64 = (0..3).map(|column| m[0][column] * cofactor(0, column)).sum();
    std::array::from_fn(|row| std::array::from_fn(|column| cofactor(column, row) / determinant))
}

pub fn tables(points: &[Point]) -> Vec<Table> {
    let of_width = |width: Width| {
        let mine: Vec<_> = points.iter().filter(|point| point.width == width.bits()).collect();
        Some([table(width, &Curve::new(&mine)?), measured(width, &mine)])
    };
    Width::ALL.into_iter().filter_map(of_width).flatten().collect()
}

fn table(width: Width, curve: &Curve) -> Table {
    let line = |r: u32| {
        let best = curve.best(r, width.bits());
        let (least, error) = curve.overhead(r, best);
        let mut cells = vec![
            Cell::number(r.into(), 0),
            Cell::percent(best, 2).and(if best > curve.measured { "*" } else { "" }),
            Cell::percent(least, 2).and(&format!(" ± {:.2}", 196.0 * error)),
        ];
        let paper = (4.0 + f64::from(r) / 4.0) / f64::from(width.bits());
        for epsilon in [Some(paper), planned(width, r)] {
            cells.push(Cell::or_none(epsilon.map(|epsilon| Cell::percent(epsilon, 2))));
            let more = |epsilon| Cell::percent(curve.overhead(r, epsilon).0 - least, 2);
            cells.push(Cell::or_none(epsilon.map(more)));
        }
        cells
    };
    Table {
        title: format!("Least overhead, w = {width}"),
        note: format!(
            "All in percent. Least overhead with its 95 % interval; the paper's eps and the \
             planner's for {MANY_KEYS} keys, each with the overhead above the least, in points. A \
             star marks an eps beyond the measured ones, where the curve is extrapolated. The \
             library allows at most w/2 columns."
        ),
        columns: vec![
            "r",
            "least at eps",
            "overhead",
            "paper's eps",
            "above",
            "planner's eps",
            "above",
        ],
        rows: (1..=16.min(width.bits() / 2)).map(line).collect(),
    }
}

/// The extra slots that the planner chooses for many keys.
fn planned(width: Width, r: u32) -> Option<f64> {
    let builder = Filter::builder().variant(Variant::Homogeneous).width(width).columns(r.into());
    let plan = builder.plan_for(MANY_KEYS).ok()?;
    Some(plan.slots() as f64 / MANY_KEYS as f64 - 1.0)
}

fn measured(width: Width, points: &[&Point]) -> Table {
    let line = |point: &&Point| {
        let [p, error] = point.dependent;
        vec![
            Cell::percent(point.epsilon, 3),
            Cell::number(point.systems as f64, 0),
            Cell::text(format!("{p:.3e} ± {:.1e}", 1.96 * error)),
        ]
    };
    Table {
        title: format!("Measured probability of a dependent equation, w = {width}"),
        note: "With 95 % intervals.".into(),
        columns: vec!["eps %", "systems", "p"],
        rows: points.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve through exact points finds the coefficients again, and the least overhead lies
    /// between its neighbours.
    #[test]
    fn the_curve_is_fitted_and_its_minimum_found() {
        let point = |epsilon: f64| {
            let p = dot([2.0, -50.0, -3.0], powers(epsilon)).exp();
            Point { width: 64, epsilon, systems: 1, dependent: [p, 0.01 * p] }
        };
        let points: Vec<Point> = (4..10).map(|x| point(f64::from(x) / 64.0)).collect();
        let curve = Curve::new(&points.iter().collect::<Vec<_>>()).unwrap();
        for (found, expected) in curve.coefficients.into_iter().zip([2.0, -50.0, -3.0]) {
            assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
        }
        let best = curve.best(8, 64);
        let least = curve.overhead(8, best).0;
        assert!(
            least < curve.overhead(8, best * 0.99).0 && least < curve.overhead(8, best * 1.01).0
        );
        assert!((0.07..0.13).contains(&best), "{best}");
    }
}
