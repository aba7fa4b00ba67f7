//! Draws charts as SVG. Plotting crates do not meet the requirements: the figures must follow the
//! reader's light or dark theme, have tooltips, and keep readable labels on a phone. For the
//! themes, shapes need classes that a style sheet refers to, which such crates do not support.

mod axis;
mod color;

pub use axis::{Axis, keys_text, number_text, power_of_ten};
pub use color::style;

use crate::html::escape;
use color::{FAINT, INK, PAPER, light};
use std::fmt::Write;

const WIDTH: f64 = 520.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const PLOT_HEIGHT: f64 = 290.0;
const PLOT_WIDTH: f64 = WIDTH - LEFT - RIGHT;
/// The height below the plot, for ticks and the label of the axis.
const BELOW: f64 = 52.0;
const LEGEND_LINE: f64 = 21.0;
/// The distance between two diagonals of a hatched field.
const HATCH: f64 = 7.0;
/// An upper bound for the average width of a letter, since the reader's font is unknown.
const LETTER: f64 = 8.7;

/// A chart.
pub struct Chart {
    /// A description for screen readers.
    pub title: String,
    x: Axis,
    y: Axis,
    marks: String,
    legend: Vec<Entry>,
}

struct Entry {
    class: String,
    shape: Shape,
    label: String,
}

/// The shape of the points of a line, so that lines do not differ only by color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    /// A field of a map.
    Field,
    /// A hatched field.
    Hatched,
}

impl Shape {
    pub const POINTS: [Self; 4] = [Self::Circle, Self::Square, Self::Triangle, Self::Diamond];

    fn svg(self, x: f64, y: f64, class: &str, title: &str) -> String {
        let inside = match title {
            "" => String::new(),
            title => format!("<title>{}</title>", escape(title)),
        };
        let fill = light(class);
        let mark = format!("class=\"mark {class}\" fill=\"{fill}\" stroke=\"{PAPER}\"");
        match self {
            Self::Circle => {
                format!("<circle {mark} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\">{inside}</circle>")
            }
            Self::Field => {
                let (x, y) = (x - 8.0, y - 6.0);
                format!(
                    "<rect class=\"cell {class}\" fill=\"{fill}\" x=\"{x:.1}\" y=\"{y:.1}\" \
                     width=\"16\" height=\"12\">{inside}</rect>"
                )
            }
            Self::Hatched => {
                let field = Self::Field.svg(x, y, "f-bloom", title);
                field + &diagonals([x - 8.0, x + 8.0], [y - 6.0, y + 6.0])
            }
            Self::Square | Self::Triangle | Self::Diamond => {
                let points: &[(f64, f64)] = match self {
                    Self::Square => &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
                    Self::Triangle => &[(0.0, -5.5), (5.0, 4.0), (-5.0, 4.0)],
                    _ => &[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)],
                };
                let point = |&(dx, dy): &(f64, f64)| format!("{:.1},{:.1}", x + dx, y + dy);
                let points: Vec<String> = points.iter().map(point).collect();
                format!("<polygon {mark} points=\"{}\">{inside}</polygon>", points.join(" "))
            }
        }
    }
}

/// Diagonals within a rectangle. Those of adjacent rectangles continue each other.
fn diagonals([left, right]: [f64; 2], [top, bottom]: [f64; 2]) -> String {
    // On a diagonal, the sum of x and y is a multiple of `HATCH`.
    let first = ((left + top) / HATCH).ceil() as i64;
    let last = ((right + bottom) / HATCH).floor() as i64;
    let mut path = String::new();
    for number in first..=last {
        let sum = number as f64 * HATCH;
        let (from, to) = (left.max(sum - bottom), right.min(sum - top));
        let _ = write!(path, "M{from:.1} {:.1}L{to:.1} {:.1}", sum - from, sum - to);
    }
    // Dark and light, so that they show on every color.
    [(INK, 2.0), (PAPER, 0.8)]
        .map(|(color, width)| {
            format!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>"
            )
        })
        .concat()
}

/// A point of a line and its tooltip.
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub title: String,
}

impl Chart {
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, marks: String::new(), legend: Vec::new() }
    }

    fn left_of(&self, x: f64) -> f64 {
        LEFT + self.x.position(x) * PLOT_WIDTH
    }

    fn top_of(&self, y: f64) -> f64 {
        TOP + (1.0 - self.y.position(y)) * PLOT_HEIGHT
    }

    /// Adds points joined by a line, and an entry to the legend.
    pub fn line(&mut self, label: &str, class: &str, shape: Shape, points: &[Point]) {
        let positions: Vec<(f64, f64)> =
            points.iter().map(|point| (self.left_of(point.x), self.top_of(point.y))).collect();
        let path: Vec<String> = positions.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            self.marks,
            "<polyline class=\"line {class}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" \
             points=\"{}\"/>",
            light(class),
            path.join(" ")
        );
        for (point, (x, y)) in points.iter().zip(positions) {
            self.marks += &shape.svg(x, y, class, &point.title);
        }
        self.marks += "\n";
        self.entry(class, shape, label);
    }

    /// Adds a field of a map, given by two values of each axis.
    pub fn field(&mut self, class: &str, x: [f64; 2], y: [f64; 2], title: &str) {
        let [left, right] = x.map(|x| self.left_of(x));
        let [bottom, top] = y.map(|y| self.top_of(y));
        // Fields overlap slightly, so that the background does not show between them.
        let _ = writeln!(
            self.marks,
            "<rect class=\"cell {class}\" fill=\"{}\" shape-rendering=\"crispEdges\" x=\"{left:.2}\" \
             y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\"><title>{}</title></rect>",
            light(class),
            right - left + 0.3,
            bottom - top + 0.3,
            escape(title)
        );
    }

    /// Hatches an area of a map, given by two values of each axis.
    pub fn hatch(&mut self, x: [f64; 2], y: [f64; 2]) {
        let [left, right] = x.map(|x| self.left_of(x));
        let [bottom, top] = y.map(|y| self.top_of(y));
        self.marks += &diagonals([left, right], [top, bottom]);
        self.marks += "\n";
    }

    /// Whether a word fits between two values of each axis.
    pub fn fits(&self, text: &str, x: [f64; 2], y: [f64; 2]) -> bool {
        let [left, right] = x.map(|x| self.left_of(x));
        let [bottom, top] = y.map(|y| self.top_of(y));
        // Bold letters as wide as those of "Homogeneous", and their outline.
        let width = text.chars().count() as f64 * 10.3 + 3.0;
        right - left > width && bottom - top > 18.0
    }

    /// Adds a word to the map, between two values of each axis.
    pub fn word(&mut self, text: &str, x: [f64; 2], y: [f64; 2]) {
        let [left, right] = x.map(|x| self.left_of(x));
        let [bottom, top] = y.map(|y| self.top_of(y));
        let _ = writeln!(
            self.marks,
            "<text class=\"on\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{PAPER}\" \
             font-weight=\"600\" paint-order=\"stroke\" stroke=\"{INK}\" stroke-width=\"3\">{}</text>",
            (left + right) / 2.0,
            (top + bottom) / 2.0 + 4.5,
            escape(text)
        );
    }

    pub fn entry(&mut self, class: &str, shape: Shape, label: &str) {
        self.legend.push(Entry { class: class.into(), shape, label: label.into() });
    }

    /// The drawing without the style, for a page that includes the style.
    pub fn inline(&self) -> String {
        self.draw("")
    }

    /// The drawing as a standalone file.
    pub fn file(&self) -> String {
        self.draw(&format!("<style>{}</style>", style()))
    }

    fn draw(&self, style: &str) -> String {
        let (legend, lines) = self.legend();
        let height = TOP + PLOT_HEIGHT + BELOW + f64::from(lines) * LEGEND_LINE + 6.0;
        let title = escape(&self.title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {WIDTH} \
             {height}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"14\" \
             role=\"img\" aria-label=\"{title}\">{style}<rect class=\"back\" fill=\"{PAPER}\" \
             width=\"{WIDTH}\" height=\"{height}\"/>\n{}{}<rect class=\"frame\" fill=\"none\" \
             stroke=\"{INK}\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{PLOT_WIDTH}\" \
             height=\"{PLOT_HEIGHT}\"/>\n<g fill=\"{INK}\">{}{legend}</g></svg>\n",
            self.grid(),
            self.marks,
            self.axes(),
        )
    }

    fn grid(&self) -> String {
        let (right, bottom) = (LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT);
        let mut text = String::new();
        for (value, _) in &self.x.ticks {
            let x = self.left_of(*value);
            let _ = writeln!(
                text,
                "<line class=\"grid\" stroke=\"{FAINT}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>"
            );
        }
        for (value, _) in &self.y.ticks {
            let y = self.top_of(*value);
            let _ = writeln!(
                text,
                "<line class=\"grid\" stroke=\"{FAINT}\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
        }
        text
    }

    fn axes(&self) -> String {
        let mut text = String::new();
        let bottom = TOP + PLOT_HEIGHT;
        for (value, label) in &self.x.ticks {
            let (x, y, label) = (self.left_of(*value), bottom + 18.0, escape(label));
            let _ = writeln!(
                text,
                "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"
            );
        }
        for (value, label) in &self.y.ticks {
            let (x, y, label) = (LEFT - 7.0, self.top_of(*value) + 4.5, escape(label));
            let _ =
                writeln!(text, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>");
        }
        let (x, y) = (LEFT + PLOT_WIDTH / 2.0, bottom + 40.0);
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>",
            escape(&self.x.label)
        );
        let middle = TOP + PLOT_HEIGHT / 2.0;
        let _ = writeln!(
            text,
            "<text transform=\"translate(15 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&self.y.label)
        );
        text
    }

    /// Draws the entries of the legend and returns the number of lines.
    fn legend(&self) -> (String, u32) {
        let (mut text, mut x, mut line) = (String::new(), 14.0, 0);
        for entry in &self.legend {
            let width = entry.label.chars().count() as f64 * LETTER + 34.0;
            if x > 14.0 && x + width > WIDTH {
                (x, line) = (14.0, line + 1);
            }
            let y = TOP + PLOT_HEIGHT + BELOW + f64::from(line) * LEGEND_LINE + 8.0;
            let mark = entry.shape.svg(x + 8.0, y, &entry.class, "");
            let label = escape(&entry.label);
            let _ = writeln!(
                text,
                "{mark}<text x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                x + 21.0,
                y + 4.5
            );
            x += width;
        }
        (text, if self.legend.is_empty() { 0 } else { line + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_axes_tooltips_and_a_legend() {
        let ticks = vec![(1.0, "1".into()), (10.0, "10".into())];
        let x = Axis::logarithmic("keys", 1.0, 10.0, ticks);
        let mut chart = Chart::new("a < b", x, Axis::from_zero("ns per key", [9.0].into_iter()));
        let points = [Point { x: 1.0, y: 9.0, title: "nine & more".into() }];
        chart.line("ours", "f-bumped", Shape::Circle, &points);
        let svg = chart.file();
        for part in [
            "aria-label=\"a &lt; b\"",
            ">keys<",
            ">ns per key<",
            ">ours<",
            "nine &amp; more",
            "<style>",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(!chart.inline().contains("<style>"));
    }

    /// Programs that know no style sheets, or no variables in them, must draw every shape.
    #[test]
    fn every_shape_has_a_plain_color() {
        let axis = || Axis::from_zero("", [9.0].into_iter());
        let mut chart = Chart::new("", axis(), axis());
        let shapes = Shape::POINTS.into_iter().chain([Shape::Field, Shape::Hatched]);
        for shape in shapes {
            chart.line("", "f-xor", shape, &[Point { x: 1.0, y: 2.0, title: "".into() }]);
        }
        chart.field("none", [1.0, 2.0], [3.0, 4.0], "");
        chart.hatch([1.0, 5.0], [3.0, 9.0]);
        let svg = chart.file();
        assert!(!svg.contains("var("));
        for name in ["rect", "circle", "polygon", "polyline", "path", "line"] {
            let start = format!("<{name} ");
            assert!(svg.contains(&start), "{name}");
            for shape in svg.split(&start).skip(1).filter_map(|rest| rest.split('>').next()) {
                assert!(
                    shape.contains("fill=\"") || shape.contains("stroke=\"#"),
                    "{name} {shape}"
                );
            }
        }
    }

    #[test]
    fn diagonals_stay_inside() {
        let path = diagonals([10.0, 30.0], [5.0, 9.0]);
        assert!(path.contains("M12.0 9.0L16.0 5.0"), "{path}");
        let numbers = path.split(['M', 'L', ' ']).filter_map(|text| text.parse::<f64>().ok());
        for number in numbers {
            assert!((5.0..=30.0).contains(&number), "{number} in {path}");
        }
    }
}
