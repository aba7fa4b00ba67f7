//! The report of the committed rows is the one in `docs/`, and a browser shows it without overlaps
//! at the width of a screen and of a phone.

use std::path::{Path, PathBuf};
use std::process::Command;

const BROWSERS: [&str; 4] =
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes the report to a separate directory.
fn report(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_ribbon-bench"))
        .args(["report", "--results"])
        .arg(repository().join("docs/results"))
        .arg("--html")
        .arg(folder.join("report.html"))
        .arg("--docs")
        .arg(&folder)
        .status();
    assert!(status.unwrap().success());
    folder
}

#[test]
fn the_documents_show_the_committed_rows() {
    let made = report("documents");
    let docs = repository().join("docs");
    let same = |file: &Path| {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(
            read(&made) == read(&docs),
            "docs/{} does not match its rows: run `ribbon-bench report --results docs/results \
             --docs docs`",
            file.display()
        );
    };
    same(Path::new("results.md"));
    let mut pictures = 0;
    for entry in std::fs::read_dir(made.join("results")).unwrap() {
        same(&Path::new("results").join(entry.unwrap().file_name()));
        pictures += 1;
    }
    assert!(pictures >= 9, "{pictures} pictures");
}

#[test]
fn the_page_needs_no_network() {
    let page = std::fs::read_to_string(report("network").join("report.html")).unwrap();
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_browser_shows_it_without_overlaps() {
    let runs = |browser: &&&str| Command::new(browser).arg("--version").output().is_ok();
    let Some(browser) = BROWSERS.iter().find(runs) else {
        eprintln!("SKIPPED: no browser; scripts/test-full installs chromium-headless-shell");
        return;
    };
    let folder = report("browser");
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    let probe = include_str!("probe.js");
    let probed = folder.join("probed.html");
    let end = page.rfind("</body>").unwrap();
    let (page, end) = page.split_at(end);
    std::fs::write(&probed, format!("{page}<script>{probe}</script>{end}")).unwrap();
    for (width, dark) in [(1400, false), (400, false), (1400, true)] {
        let output = Command::new(browser)
            .args(["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--dump-dom"])
            .arg(format!("--window-size={width},2000"))
            .args(dark.then_some("--blink-settings=preferredColorScheme=0"))
            .arg(format!("file://{}", probed.canonicalize().unwrap().display()))
            .output()
            .unwrap();
        let page = String::from_utf8_lossy(&output.stdout);
        let verdict = page.split("<pre id=\"verdict\">").nth(1).expect("the probe ran");
        let verdict = verdict.split("</pre>").next().unwrap();
        assert_eq!(verdict, format!("width {width}, dark {dark}: no faults"));
    }
}
