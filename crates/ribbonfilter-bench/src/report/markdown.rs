//! The report as Markdown, with its pictures in separate files.

use super::Section;
use std::fmt::Write;

const HEAD: &str = "# Results

Measurements of the paper's tables and figures and of other crates. `scripts/results` measures them
on your machine and writes this page. It has 10^8 keys only with `--full`, and not the build of
4 * 10^9 keys, which `ribbon-bench spill` measures. The commands of this page are under [Runs](#runs):
the simulations of `theory smash`, `theory sweep` and `table1` had another `--scale` or number of
`--keys` than in the script, and the rows of `--results t1` were moved to `docs/results`.
`ribbon-bench report --results docs/results --docs docs` writes it again from the rows of JSON in
`docs/results`. `ribbon-bench report --results docs/results --html results.html` writes an HTML page
with sortable tables and tooltips.
";

pub fn document(sections: &[Section]) -> String {
    let mut text = HEAD.to_string();
    for section in sections {
        let _ = writeln!(text, "\n## {}", section.title);
        for paragraph in &section.text {
            let _ = writeln!(text, "\n{paragraph}");
        }
        for figure in &section.figures {
            let _ = writeln!(
                text,
                "\n![{}](results/{}.svg)\n\n{}",
                figure.chart.title, figure.name, figure.caption
            );
        }
        for table in &section.tables {
            let _ = write!(text, "\n### {}\n\n{}", table.title, table.markdown());
        }
    }
    text
}
