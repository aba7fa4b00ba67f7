//! The overheads that ribbons reach at each rate, by their plans: sizes are exact, and the rate of a
//! Homogeneous filter is at most the planned one in nearly all builds.

use crate::peers::Ribbon;
use crate::race::Family;
use crate::svg::{Axis, Chart, Point, Shape, keys_text, number_text};
use ribbonfilter::{Variant, Width};

/// Overhead against rate for every variant and width.
pub fn chart(keys: u64) -> Chart {
    let ticks = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
    let ticks = ticks.map(|tick| (tick, number_text(tick))).to_vec();
    let overhead = Axis::logarithmic("space overhead, %", 0.05, 100.0, ticks);
    let bits = (1..=16).map(|bits| (f64::from(bits), bits.to_string())).collect();
    let bits = Axis::linear("columns r (the rate is about 2⁻ʳ)", 0.5, 16.5, bits);
    let mut chart =
        Chart::new(format!("Overheads of ribbons, {} keys", keys_text(keys)), bits, overhead);
    for &variant in Variant::ALL {
        for (width, shape) in Width::ALL.into_iter().zip(Shape::POINTS) {
            let points: Vec<Point> = (1..=16)
                .filter_map(|r| point(&Ribbon::new(variant, width, r.into()), keys))
                .collect();
            if !points.is_empty() {
                let class = Family::from(variant).class();
                chart.line(&format!("{variant} {width}"), &class, shape, &points);
            }
        }
    }
    chart
}

fn point(ribbon: &Ribbon, keys: u64) -> Option<Point> {
    let plan = ribbon.builder().plan_for(keys).ok()?;
    let overhead = 100.0 * (plan.bits_per_key() / -plan.expected_rate().log2() - 1.0);
    let title =
        format!("{}: {overhead:.2} %, {:.3} bits per key", ribbon.name(), plan.bits_per_key());
    Some(Point { x: ribbon.columns, y: overhead, title })
}
