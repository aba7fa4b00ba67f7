//! Times against the number of keys and against the number of threads.

use crate::race::{Family, Row};
use crate::svg::{Axis, Chart, Point, Shape, keys_text, power_of_ten};

/// Selects a time of a row, if the row has it.
pub type Time = fn(&Row) -> Option<f64>;

/// A time of each filter against the number of keys.
pub fn against_keys(name: &str, rows: &[Row], time: Time) -> Chart {
    let max = rows.iter().map(|row| row.keys).max().unwrap_or(1000).ilog10().max(4);
    let ticks = (3..=max).map(power_of_ten).collect();
    let keys = Axis::logarithmic("keys", 700.0, 10_f64.powi(max as i32) * 1.4, ticks);
    let times = Axis::around(format!("{name}, ns"), rows.iter().filter_map(time));
    let mut chart = Chart::new(format!("{name} against the number of keys"), keys, times);
    lines(&mut chart, rows, |row| row.keys as f64, time);
    chart
}

/// The build time against the number of threads.
pub fn against_threads(rows: &[Row]) -> Chart {
    let max = rows.iter().map(|row| row.threads).max().unwrap_or(1);
    let mut counts: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let ticks = counts.iter().map(|&count| (count as f64, count.to_string())).collect();
    let threads = Axis::logarithmic("threads", 0.9, max as f64 * 1.1, ticks);
    let time = |row: &Row| Some(row.build.min);
    let times = Axis::from_zero("build, ns per key", rows.iter().filter_map(time));
    let keys = keys_text(rows.first().map_or(0, |row| row.keys));
    let mut chart = Chart::new(format!("Build against threads, {keys} keys"), threads, times);
    lines(&mut chart, rows, |row| row.threads as f64, time);
    chart
}

fn lines(chart: &mut Chart, rows: &[Row], x: fn(&Row) -> f64, time: Time) {
    let mut names: Vec<(&str, Family)> = Vec::new();
    for row in rows {
        if !names.contains(&(row.name.as_str(), row.family)) {
            names.push((&row.name, row.family));
        }
    }
    for (index, (name, family)) in names.iter().enumerate() {
        let mine = rows.iter().filter(|row| row.name == *name);
        let point = |row: &Row| {
            let y = time(row)?;
            let title = format!(
                "{name}, {} keys, {} thread(s): {y:.1} ns",
                keys_text(row.keys),
                row.threads
            );
            Some(Point { x: x(row), y, title })
        };
        let mut points: Vec<Point> = mine.filter_map(point).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        if !points.is_empty() {
            chart.line(name, &family.class(), Shape::POINTS[index % 4], &points);
        }
    }
}
