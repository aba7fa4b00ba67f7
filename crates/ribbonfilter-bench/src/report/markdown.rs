//! The report as Markdown, its pictures in files beside it.

use super::Section;
use std::fmt::Write;

const HEAD: &str = "# Results

The paper's tables and figures and the peers, measured. `scripts/results` measures all of it on
your machine and writes this page; `ribbon-bench report --results docs/results --docs docs` writes
it anew from the rows of JSON in `docs/results`. The same as a page with tables that can be sorted
and tooltips: `ribbon-bench report --results docs/results --html results.html`.
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
